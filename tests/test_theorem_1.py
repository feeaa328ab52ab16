"""The counterexample to Theorem 1 as printed, a second time in exact rational arithmetic."""

from fractions import Fraction as Q

import numpy as np
import sympy

from driftproof.synthetic.problems import BoundedComposition
from driftproof.toolkit.algorithms import ComFedL
from driftproof.toolkit.cases import Case
from driftproof.toolkit.constants import Letters, substituted
from driftproof.verifiers.judges.assumptions import unmet
from driftproof.verifiers.papers.comfedl.claims._theorem_bounds import plus, sharpened
from driftproof.verifiers.papers.comfedl.claims.theorem_1 import convergence

ETA, TAU, SLOPE, OPPOSED, KAPPA = Q(1, 2), 2, Q(1, 2), Q(1), Q(3)


def clip(x, most):
    return max(-most, min(most, x))


def both_sides(curvature: Q, rounds: int) -> tuple[Q, Q]:
    """Return left and right of the printed bound (σ → 0), from the paper's text alone."""
    start = SLOPE / curvature + Q(3, 4)
    centre = start - Q(3, 8)

    def average_slope(w):
        return clip(curvature * w, SLOPE)

    def opposition(w):
        return clip(KAPPA * (w - centre), OPPOSED)

    w, total = start, Q(0)
    for _ in range(rounds):
        total += average_slope(w) ** 2
        ends = []
        for sign in (1, -1):
            x = w
            for _ in range(TAU):
                x -= ETA * (average_slope(x) + sign * opposition(x))
            ends.append(x)
        w = sum(ends) / 2
    return total / rounds, printed_right(curvature, rounds)


def printed_right(curvature: Q, rounds: int) -> Q:
    g = SLOPE + OPPOSED  # G_f = 1
    gap = SLOPE * (SLOPE / curvature + Q(3, 4)) - SLOPE**2 / (2 * curvature)
    smooth = curvature * TAU * ETA * g**2 + curvature * ETA / 2 * g**2
    return gap / (TAU * rounds * ETA) + smooth


def test_no_fewer_rounds_refute_within_the_family():
    """Over all curvatures L: T > 2·gap/(¼ − 45L/16), and the gap is 1/(8L) + 3/8."""
    curvature = sympy.Symbol("L", positive=True)
    gap = sympy.Rational(1, 8) / curvature + sympy.Rational(3, 8)
    steps = 2 * gap / (sympy.Rational(1, 4) - sympy.Rational(45, 16) * curvature)
    stationary = sympy.solve(sympy.diff(steps, curvature), curvature)
    least = min(float(steps.subs(curvature, at)) for at in stationary if 0 < at < 4 / 45)
    assert 50 < least < 52  # T is even
    assert not any(
        left > right for left, right in [both_sides(Q(n, 1000), 25) for n in range(10, 88, 2)]
    )


def test_the_printed_bound_fails_by_any_factor():
    """The iterates are where they were after each round: the left side is ¼ for every S."""
    curvature = Q(1, 10**6)
    assert both_sides(curvature, 3)[0] == Q(1, 4)
    assert Q(1, 4) > 10_000 * printed_right(curvature, 10**12)


def test_the_sharpened_form_is_never_above_the_one_with_the_plus():
    """Its drift has (G_gL_f + G_f²L_g)(τ − 1)/2, at most √2 H(τ − 1)/2, against √5 Hτ."""
    letters = Letters(convergence.notation(convergence.cases[0]))
    x, y, tau = sympy.symbols("x y tau", positive=True)
    assert sympy.factor(2 * (x**2 + y**2) - (x + y) ** 2) == (x - y) ** 2
    rest = substituted(plus(letters) - sharpened(letters), {})
    # without drift: with L_f = L_g = 0 only noise and smoothness are left, linear in τ
    flat = sympy.expand(rest.subs({sympy.Symbol(n, positive=True): 0 for n in ("L_f", "L_g")}))
    for coefficient in sympy.Poly(flat, tau).all_coeffs():
        assert coefficient.is_nonnegative
    random = np.random.default_rng(1)
    names = sorted(rest.free_symbols, key=str)
    value = sympy.lambdify(names, rest, "numpy")
    for _ in range(300):
        held = np.exp(random.uniform(-3, 3, size=len(names)))
        held[names.index(tau)] = random.integers(1, 9)
        assert value(*held) >= 0


def test_theorem_1_is_for_equal_minibatches():
    broken = Case(BoundedComposition(), ComFedL(batch=2, outer_batch=3), 2)
    assert "b" in unmet(convergence, broken)
    equal = Case(BoundedComposition(), ComFedL(batch=3, outer_batch=3), 2)
    assert unmet(convergence, equal) is None
