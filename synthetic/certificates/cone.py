r"""Certified optima of KL-regularised objectives, by cvxpy's exponential cone.

The certificate does not rest on the solver. For a convex F on the ball ‖w‖ ≤ B and any w in it,

    F(w) − (⟨∇F(w), w⟩ + B‖∇F(w)‖)  ≤  min over the ball of F  ≤  F(w)

(the Frank–Wolfe gap), evaluated at the solver's point by driftproof's own oracles.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from driftproof.toolkit.errors import DriftproofError

TIGHT = {"tol_gap_abs": 1e-12, "tol_gap_rel": 1e-12, "tol_feas": 1e-12}
SMALL = 2_000
"""Rows of the conic problem up to which tight tolerances come first (they double the time)."""


def solve(objective: Any, constraints: Sequence[Any]) -> dict[str, Any]:
    """Solve a cvxpy problem and return its certificate as data; a bad status raises.

    Tries tight tolerances first, then the solver's own.

    Returns:
        status, solver, primal and dual objective, gap, primal and dual residual, iterations.

    Raises:
        DriftproofError: if the solver ends without an optimum.
    """
    import cvxpy as cp

    problem = cp.Problem(objective, list(constraints))
    # the documented three steps of problem.solve: only the raw result has the residuals
    data, chain, inverse = problem.get_problem_data(cp.CLARABEL, solver_opts={})
    tries = (TIGHT, {}) if data["A"].shape[0] < SMALL else ({},)
    status = ""
    for options in tries:
        raw = chain.solve_via_data(problem, data, solver_opts=options)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # an inaccurate status is handled below
            try:
                problem.unpack_results(raw, chain, inverse)
            except cp.SolverError:  # it gave up, on numbers of very different sizes say
                status = str(raw.status)
                continue
        status = problem.status
        if status == cp.OPTIMAL:
            break
    else:
        raise DriftproofError(
            f"the solver ended with status {status!r}",
            "an optimal solution",
            "scale the data, or make the ball smaller",
        )
    gap = float(raw.obj_val - raw.obj_val_dual)
    return {
        "method": "cvxpy, exponential cone",
        "solver": "CLARABEL",
        "status": problem.status,
        "primal": float(problem.value),
        "dual": float(problem.value) - gap,
        "gap": abs(gap),
        "primal_residual": float(raw.r_prim),
        "dual_residual": float(raw.r_dual),
        "iterations": int(raw.iterations),
    }


def minimise_on_ball(
    features: Sequence[np.ndarray],
    labels: Sequence[np.ndarray],
    *,
    radius: float,
    temperature: float | None,
    weights: np.ndarray | None = None,
) -> tuple[np.ndarray, dict[str, Any]]:
    """Minimise a KL-robust or a weighted mean of the clients' mean logistic losses on a ball.

    Args:
        features, labels: one array a client.
        radius: B.
        temperature: γ of γ log((1/n) Σ exp(f^i/γ)); None for the weighted mean Σ weights_i f^i.
        weights: the weights of the mean (uniform by default).

    Returns:
        The minimiser [features] and the solver's certificate.
    """
    import cvxpy as cp

    variable = cp.Variable((features[0].shape[1], 1))
    losses = cp.hstack(
        [
            cp.sum(cp.logistic(cp.multiply(-label, (part @ variable)[:, 0]))) / len(part)
            for part, label in zip(features, labels, strict=True)
        ]
    )
    n = len(features)
    if temperature is None:
        shares = np.full(n, 1.0 / n) if weights is None else weights
        objective = shares @ losses
    else:
        objective = temperature * (cp.log_sum_exp(losses / temperature) - np.log(n))
    certificate = solve(cp.Minimize(objective), [cp.norm(variable, "fro") <= radius])
    point = np.asarray(variable.value).T.ravel()
    return point * min(1.0, radius / np.linalg.norm(point)), certificate


def frank_wolfe_gap(point: np.ndarray, gradient: np.ndarray, radius: float) -> float:
    """Return ⟨∇F(w), w⟩ + B‖∇F(w)‖ ≥ F(w) − min over the ball of F, for a convex F."""
    return float(gradient @ point + radius * np.linalg.norm(gradient))
