"""Elementary steps that the proofs of ComFedL's lemmas and theorems take, decided by algebra."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import product

import sympy

from driftproof.verifiers.algebra.symbolic import Step, computed, nonnegative, vanishes

Norm = Callable[[Sequence[int]], int]
"""From the entries of a diagonal matrix to the square of its norm."""


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
