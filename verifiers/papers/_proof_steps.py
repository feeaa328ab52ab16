"""Elementary steps that proofs of lemmas and theorems take, decided by algebra."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import product

import sympy

from driftproof.toolkit.constants import Letters, Notation
from driftproof.verifiers.algebra.symbolic import Step, computed, nonnegative, vanishes

Norm = Callable[[Sequence[int]], int]
"""From the entries of a diagonal matrix to the square of its norm."""


class _AnyLetter(Notation):
    """Has every letter."""

    def __contains__(self, letter: object) -> bool:
        return True

    def sign(self, letter: str) -> str:
        """Return that it is positive."""
        return "positive"


POSITIVE = Letters(_AnyLetter({}))
"""The letters of right sides in a proof: whichever it names, each positive."""


def jensen_for_a_mean() -> Step:
    x, y = sympy.symbols("x y", real=True)
    return nonnegative(
        sympy.factor((x**2 + y**2) / 2 - ((x + y) / 2) ** 2),
        r"\big\|\tfrac1m\sum_i x_i\big\|^2 \le \tfrac1m\sum_i\|x_i\|^2 \;(m = 2)",
    )


def squares_of_a_sum(count: int, factor: int) -> Step:
    """‖Σ x_k‖² ≤ factor·Σ‖x_k‖² for ``count`` terms, by Lagrange's identity."""
    x = sympy.symbols(f"x_1:{count + 1}", real=True)
    apart = sum((a - b) ** 2 for k, a in enumerate(x) for b in x[k + 1 :])
    gap = factor * sum(a**2 for a in x) - sum(x) ** 2 - apart
    return vanishes(
        sympy.expand(gap),
        rf"{factor}\sum_{{k\le {count}}}\|x_k\|^2 - \big\|\sum_k x_k\big\|^2 = "
        r"\sum_{j<k}\|x_j-x_k\|^2 \ge 0",
    )


def cauchy_schwarz() -> Step:
    a, b, c, d = sympy.symbols("a b c d", real=True)
    gap = (a**2 + b**2) * (c**2 + d**2) - (a * c + b * d) ** 2
    return nonnegative(sympy.factor(gap), r"\langle x,y\rangle^2 \le \|x\|^2\|y\|^2")


def root_of_a_mean() -> Step:
    p, q = sympy.symbols("p q", positive=True)
    x, y = sympy.symbols("x y", real=True)
    gap = (p * x**2 + q * y**2) / (p + q) - ((p * x + q * y) / (p + q)) ** 2
    return nonnegative(sympy.factor(gap), r"\mathbb{E}X \le \sqrt{\mathbb{E}X^2}")


def descent() -> Step:
    length, bend, t = sympy.symbols("d L t", positive=True)
    slack = sympy.integrate(bend * t * length**2, (t, 0, 1)) - bend * length**2 / 2
    return vanishes(
        slack,
        r"F(w+d)-F(w)-\langle\nabla F(w),d\rangle \le \int_0^1 Lt\|d\|^2\,dt = "
        r"\tfrac L2\|d\|^2",
    )


def descent_along() -> Step:
    """What a step along v, in place of the gradient g, adds to an L-smooth F."""
    g, v, eta, bend = sympy.symbols("g v eta L", real=True)
    stated = (v - g) ** 2 - g**2 - (1 - eta * bend) * v**2
    return vanishes(
        -eta * g * v + bend * eta**2 * v**2 / 2 - eta / 2 * stated,
        r"-\eta\langle g,v\rangle+\tfrac L2\eta^2\|v\|^2 = "
        r"\tfrac\eta2\big(\|v-g\|^2-\|g\|^2-(1-\eta L)\|v\|^2\big)",
    )


def moving_average() -> Step:
    """What an average of weight a makes of an error E that moves by D, and of a bias B."""
    error, move, bias = sympy.symbols("E D B", real=True)
    a, s = sympy.symbols("a s", positive=True)
    bound = (1 - a) * error**2 + (1 + 1 / s) * (1 - a) ** 2 / a * move**2 + (1 + s) * a * bias**2
    moved = (1 - a) * move / a
    squares = a * (1 - a) * (error - moved - bias) ** 2 + a / s * (moved - s * bias) ** 2
    return vanishes(
        bound - ((1 - a) * (error + move) + a * bias) ** 2 - squares,
        r"(1-a)\|E\|^2+(1+\tfrac1s)\tfrac{(1-a)^2}a\|D\|^2+(1+s)a\|B\|^2 - "
        r"\|(1-a)(E+D)+aB\|^2 = a(1-a)\|E-\tfrac{1-a}aD-B\|^2+\tfrac as"
        r"\|\tfrac{1-a}aD-sB\|^2",
    )


def mean_over_cohorts() -> Step:
    g = sympy.symbols("g_1:4", positive=True)
    whole = sum(g) / 3
    cohorts = [(g[0] + g[1]) / 2, (g[0] + g[2]) / 2, (g[1] + g[2]) / 2]
    gap = sum(whole * cohort for cohort in cohorts) / 3 - whole**2
    return vanishes(
        sympy.expand(gap),
        r"\mathbb{E}\langle\nabla F(\bar w_s),U_{s,0}\rangle = \|\nabla F(\bar w_s)\|^2 "
        r"\;(n=3,\,m=2)",
    )


def variance_of_a_mean(norm: Norm, says: str) -> Step:
    """Decide E‖mean of b noises‖² ≤ σ²/b for b = 1, 2, 3, over every outcome, exactly.

    The noise is the diagonal matrix of two independent signs.
    """
    signs = list(product((-1, 1), repeat=2))
    size = Fraction(max(norm(sign) for sign in signs))
    for batch in (1, 2, 3):
        outcomes = list(product(signs, repeat=batch))
        total = sum(norm(tuple(map(sum, zip(*outcome, strict=True)))) for outcome in outcomes)
        mean = Fraction(total, len(outcomes) * batch**2)
        if mean > size / batch:
            told = f"the diagonal matrix of two independent signs, b = {batch}: {mean} > "
            return computed(says, False, told + f"{size / batch}")
    return computed(says, True, "every outcome of b = 1, 2, 3")
