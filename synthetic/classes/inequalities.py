r"""What a class says of its triples, by which a proof is searched.

For an L-smooth function with f − (μ/2)‖·‖² convex, μ < L, triples (x_j, g_j, f_j) can be
interpolated if and only if for all j, k

    f_j ≥ f_k + ⟨g_k, d⟩ + (‖g_j − g_k‖²/L + μ‖d‖² − 2(μ/L)⟨g_j − g_k, d⟩) / (2(1 − μ/L)),

d = x_j − x_k (Taylor, Hendrickx & Glineur 2017, Theorem 4; μ = 0: convex; μ = −L: Theorem 3.10 of
the same authors' "Exact worst-case performance of first-order methods for composite convex
optimization", smooth and perhaps not convex).

The checker has the same inequalities by another hand (``verifiers.worst_case.statement``).
"""

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

from driftproof.synthetic.classes.conditions import Condition, Place

HALF, ONE = Fraction(1, 2), Fraction(1)
Pair = tuple[Place, Place]
SQUARE: Pair = "difference", "difference"
CHANGE: Mapping[Pair, Fraction] = {
    ("one", "one"): ONE,
    ("one", "other"): -2 * ONE,
    ("other", "other"): ONE,
}
"""‖g_j − g_k‖²."""
ALONG: Mapping[Pair, Fraction] = {("difference", "one"): ONE, ("difference", "other"): -ONE}
"""⟨g_j − g_k, d⟩."""
LOWER = {"products": {("difference", "other"): ONE}}
"""⟨g_k, d⟩."""
FALL = -ONE, ONE
"""f_k − f_j."""


def condition(name: str, **constants: Any) -> Condition:
    """Return the inequality of a class, by the name that files have for it."""
    return Condition(name, constants, **INEQUALITIES[name](**constants))


def _interpolation(L: Fraction, mu: Fraction) -> dict[str, Any]:
    """Return f_k − f_j + ⟨g_k, d⟩ + … ≤ 0, multiplied out."""
    share = HALF / (1 - mu / L)
    products = {pair: share / L * factor for pair, factor in CHANGE.items()}
    products |= {
        SQUARE: share * mu,
        ("difference", "one"): -2 * share * mu / L,
        ("difference", "other"): 1 + 2 * share * mu / L,
    }
    return {"products": products, "values": FALL}


def _unordered(*parts: tuple[Any, Mapping[Pair, Fraction]], **more: Any) -> dict[str, Any]:
    """Return an inequality that is the same for (j, k) and (k, j): a sum of multiples."""
    products = {pair: times * factor for times, of in parts for pair, factor in of.items()}
    return {"products": products, "of": "unordered pairs", **more}


INEQUALITIES: dict[str, Callable[..., dict[str, Any]]] = {
    "smooth": lambda L: _interpolation(L, -L),
    "smooth-convex": lambda L: _interpolation(L, Fraction(0)),
    "smooth-strongly-convex": _interpolation,
    "convex": lambda: {**LOWER, "values": FALL},
    "strongly-convex": lambda mu: {
        "products": {**LOWER["products"], SQUARE: HALF * mu},
        "values": FALL,
    },
    "normal-cone": lambda: LOWER,
    "diameter": lambda D: _unordered((ONE, {SQUARE: ONE}), bound=D**2),
    "bounded-gradients": lambda G: {
        "products": {("one", "one"): ONE},
        "bound": G**2,
        "of": "triples",
    },
    "strongly-monotone": lambda mu: _unordered((mu, {SQUARE: ONE}), (-ONE, ALONG)),
    "lipschitz": lambda L: _unordered((ONE, CHANGE), (-(L**2), {SQUARE: ONE})),
    "cocoercive": lambda L, mu: _unordered(
        (ONE, CHANGE), (L * mu, {SQUARE: ONE}), (-(L + mu), ALONG)
    ),
}
