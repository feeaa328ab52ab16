r"""The limit points of FedAvg for compositions on ``bias-amplification``, in closed form.

Where f'(y) = y (or a constant) along the run, a round is an affine map of x̄ with a slope in (0, 1),
so x̄ converges to its fixed point from any start. With q_k = 1 − ηa_k² and each client's own
minimiser x_k* = −c_k/a_k:

* Case I: x_k after I steps is x_k* + q_k^I(x̄ − x_k*);
* Case II: the first step uses ȳ = āx̄ + c̄, the others y_k: x_k* + q_k^{I−1}(x̄ − ηa_kȳ − x_k*);
* embeddings shared every step: ȳ shrinks by 1 − ηS, S = (1/K) Σ a_k², and x̄ moves by −ηāȳ.

"slopes": a = (2, −1), c = (0, 1). "offsets": a = 1, c = (2, −1, −1), and the first client's f' is 1
as long as its y stays above 1 (Iη ≤ 1 is enough).
"""

from collections.abc import Callable

import sympy

from driftproof.toolkit.constants import Expression

OfSchedule = Callable[[int, float], float]
"""A number as a function of I and η."""

period, eta, x = sympy.symbols("I eta x", positive=True)
HALF, THIRD = sympy.Rational(1, 2), sympy.Rational(1, 3)
STATIONARY = {"slopes": -1, "offsets": 0}


def after_a_round(heterogeneity: str, sharing: str) -> Expression:
    """Return x̄ after one round, as an expression in x, I and η."""
    if sharing == "every-step":
        # ȳ contracts to 0 by its own recursion: x̄ moves along it until Φ' = 0
        mean, square = (HALF, sympy.Rational(5, 2)) if heterogeneity == "slopes" else (1, 1)
        value = mean * x + (HALF if heterogeneity == "slopes" else 0)
        left = (1 - eta * square) ** period
        return x - mean * value * (1 - left) / square
    steps, shared = (period, 0) if sharing == "case-1" else (period - 1, 1)
    if heterogeneity == "slopes":
        value = shared * (x + 1) / 2
        one = (1 - 4 * eta) ** steps * (x - 2 * eta * value)
        two = 1 + (1 - eta) ** steps * (x + eta * value - 1)
        return HALF * (one + two)
    moved = x - eta * shared * x
    others = 1 + (1 - eta) ** steps * (moved - 1)
    return THIRD * (moved - steps * eta + 2 * others)


def limit_point(heterogeneity: str, sharing: str) -> Expression:
    """Return the fixed point of a round, as an expression in I and η."""
    moved = sympy.expand(after_a_round(heterogeneity, sharing))  # affine in x
    return sympy.simplify(moved.subs(x, 0) / (1 - sympy.diff(moved, x)))


def slope(heterogeneity: str, sharing: str) -> OfSchedule:
    """Return by how much a round shrinks the distance to the limit point."""
    return of_schedule(sympy.diff(after_a_round(heterogeneity, sharing), x))


def of_schedule(expression: Expression) -> OfSchedule:
    """Return an expression in I and η as a function of them."""
    function = sympy.lambdify((period, eta), expression)
    return lambda steps, size: float(function(steps, size))


SMALL_STEP_BIAS = {
    ("slopes", "case-1"): sympy.Rational(6, 5),
    ("slopes", "case-2"): 12 * (period - 1) / (10 * period - 9),
    ("slopes", "every-step"): sympy.Integer(0),
    ("offsets", "case-1"): HALF,
    ("offsets", "case-2"): (period - 1) / (2 * period + 1),
    ("offsets", "every-step"): sympy.Integer(0),
}
"""lim_{η→0} of the limit point minus the stationary point of Φ."""
