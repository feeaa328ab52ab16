"""What the statements on signSGD share: assumptions, and the rate."""

import sympy

from driftproof.toolkit.cases import Assumption
from driftproof.toolkit.constants import Expression, Letters
from driftproof.verifiers.papers.literature.claims._instances import ONE_COORDINATE

ASSUMED = [
    ONE_COORDINATE,
    Assumption(
        "step size",
        r"\delta=1/\sqrt{\|L\|_1K}",
        relation=lambda c: sympy.Eq(c.delta**2 * c.L * c.K, 1),
    ),
]


def rate(c: Letters) -> Expression:
    """Return the bound on the mean of E‖∇f(x_k)‖₁."""
    return (sympy.sqrt(c.L) * (c.F_gap + sympy.Rational(1, 2)) + 2 * c.sigma) / sympy.sqrt(c.K)
