r"""The optimum of a smooth convex function on a ball, by scipy, certified by the Frank–Wolfe gap.

A route that needs nothing from a conic solver: min F(w) + (μ/2)(‖w‖² − B²) by L-BFGS, with μ ≥ 0
such that ‖w‖ = B found by Brent's method (or μ = 0 if the free minimiser lies inside). Whatever the
solvers return, F(w) − gap ≤ min over the ball of F ≤ F(w), gap = ⟨∇F(w), w⟩ + B‖∇F(w)‖.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from driftproof.synthetic.certificates.cone import frank_wolfe_gap

Function = Callable[[np.ndarray], tuple[float, np.ndarray]]
SMALLEST, LARGEST = 1e-8, 1e2
"""Between which multipliers the one with ‖w‖ = B is sought."""


def minimise_smooth(function: Function, start: np.ndarray) -> np.ndarray:
    """Return L-BFGS's minimiser of a smooth function on all of R^d; certify it yourself."""
    from scipy.optimize import minimize

    return np.asarray(
        minimize(
            function, start, jac=True, method="L-BFGS-B",
            options={"maxiter": 20_000, "maxfun": 40_000, "maxcor": 30, "ftol": 0, "gtol": 1e-8},
        ).x
    )  # fmt: skip


def minimise_smooth_on_ball(
    function: Function, start: np.ndarray, radius: float
) -> tuple[np.ndarray, dict[str, Any]]:
    """Return the minimiser on the ball and its certificate.

    Args:
        function: w → (F(w), ∇F(w)), convex.
        start: where to begin.
        radius: B.
    """
    from scipy.optimize import brentq

    latest = {"point": start}

    def excess(log_multiplier: float) -> float:
        multiplier = float(np.exp(log_multiplier))

        def lagrangian(w: np.ndarray) -> tuple[float, np.ndarray]:
            value, gradient = function(w)
            return value + 0.5 * multiplier * float(w @ w), gradient + multiplier * w

        latest["point"] = minimise_smooth(lagrangian, latest["point"])
        return float(np.linalg.norm(latest["point"]) - radius)

    if excess(np.log(SMALLEST)) > 0:
        brentq(excess, np.log(LARGEST), np.log(SMALLEST), xtol=1e-6)
    length = max(float(np.linalg.norm(latest["point"])), 1e-300)  # the minimiser may be 0
    point = latest["point"] * min(1.0, radius / length)
    value, gradient = function(point)
    return point, {
        "method": "scipy, L-BFGS on the Lagrangian",
        "solver": "L-BFGS-B",
        "status": "certified by the gap",
        "primal": value,
        "frank_wolfe_gap": frank_wolfe_gap(point, gradient, radius),
    }
