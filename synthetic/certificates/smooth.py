r"""The optimum of a smooth convex function on a ball, by Newton's method, certified by its gap.

It needs nothing but gradients, and no conic solver. H is made of differences of gradients; a step
goes towards the least point of ⟨g, z − w⟩ + ½⟨z − w, H(z − w)⟩ on the ball ‖z‖ ≤ B, which is
z = (H + θ)^{-1}(Hw − g) with the least θ ≥ 0 that keeps it there, and is halved until F falls.
Whatever the steps do, F(w) − gap ≤ min over the ball of F ≤ F(w) if F is convex, with the
Frank–Wolfe gap ⟨∇F(w), w⟩ + B‖∇F(w)‖.
"""

from collections.abc import Callable

import numpy as np

Function = Callable[[np.ndarray], tuple[float, np.ndarray]]
STEPS, PATIENCE = 60, 6
"""The most steps, and how many in a row may leave the gap as it is."""
APART = 1e-6
"""How far apart gradients are taken, in units of the point and of the last step."""


def minimise_smooth_on_ball(function: Function, start: np.ndarray, radius: float) -> np.ndarray:
    """Return the point with the smallest gap that was found on the ball.

    Args:
        function: w → (F(w), ∇F(w)), convex.
        start: where to begin.
        radius: B.
    """
    point, length, waited = into_ball(start, radius), radius, 0
    value, gradient = function(point)
    best = frank_wolfe_gap(point, gradient, radius), point
    for _ in range(STEPS):
        step = _towards(_hessian(function, point, gradient, length), gradient, point, radius)
        slope, share = float(gradient @ step), 2.0
        if not slope < 0 or waited == PATIENCE:
            break
        while share > 1e-9:
            share /= 2
            moved = into_ball(point + share * step, radius)
            found, turned = function(moved)
            # what is left of a fall near the optimum is less than rounding
            if found <= value + 1e-4 * share * slope + 1e-15 * abs(value):
                break
        point, value, gradient, length = moved, found, turned, share * float(np.linalg.norm(step))
        gap = frank_wolfe_gap(point, gradient, radius)
        waited = 0 if gap < best[0] else waited + 1
        best = min(best, (gap, point), key=lambda known: known[0])
    return best[1]


def frank_wolfe_gap(point: np.ndarray, gradient: np.ndarray, radius: float) -> float:
    """Return ⟨∇F(w), w⟩ + B‖∇F(w)‖ ≥ F(w) − min over the ball of F, for a convex F."""
    return float(gradient @ point + radius * np.linalg.norm(gradient))


def into_ball(point: np.ndarray, radius: float) -> np.ndarray:
    """Return the nearest point of the ball."""
    return point * min(1.0, radius / max(float(np.linalg.norm(point)), 1e-300))


def _hessian(
    function: Function, point: np.ndarray, gradient: np.ndarray, length: float
) -> np.ndarray:
    """Return the Hessian by differences, each towards the centre, so that no point leaves it."""
    apart = APART * max(float(np.linalg.norm(point)), length)
    moves = np.diag(np.where(point > 0, -apart, apart))
    columns = [(function(point + move)[1] - gradient) / move.sum() for move in moves]
    return np.asarray(np.add(columns, np.transpose(columns)) / 2)


def _towards(
    hessian: np.ndarray, gradient: np.ndarray, point: np.ndarray, radius: float
) -> np.ndarray:
    """Return the step to the least point of the model on the ball; curvature ≤ 0 is made small."""
    bends, basis = np.linalg.eigh(hessian)
    bends = np.maximum(bends, 1e-9 * max(float(bends[-1]), 1e-300))
    at = basis.T @ point
    pulled = bends * at - basis.T @ gradient

    def outside(shift: float) -> bool:
        with np.errstate(over="ignore"):  # the model may be flat
            return bool(np.linalg.norm(pulled / (bends + shift)) > radius)

    low, high = 0.0, float(np.linalg.norm(pulled)) / radius
    if not outside(0.0):
        high = 0.0
    for _ in range(100 if high else 0):  # the length falls in the shift
        middle = (low + high) / 2
        low, high = (middle, high) if outside(middle) else (low, middle)
    return np.asarray(basis @ (pulled / (bends + high) - at))
