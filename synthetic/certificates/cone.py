r"""Points from cvxpy's conic solver, and the gap that encloses an optimum whatever they are worth.

For a convex F on the ball ‖w‖ ≤ B and any w in it,

    F(w) − (⟨∇F(w), w⟩ + B‖∇F(w)‖)  ≤  min over the ball of F  ≤  F(w)

(the Frank–Wolfe gap), by driftproof's own oracles. So the solver's status decides nothing.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from driftproof.toolkit.errors import UndecidableError

TIGHT = {"tol_gap_abs": 1e-12, "tol_gap_rel": 1e-12, "tol_feas": 1e-12}
SMALL = 2_000
"""Rows of the conic problem up to which tight tolerances come first (they double the time)."""


def solve(objective: Any, constraints: Sequence[Any]) -> dict[str, Any]:
    """Solve a cvxpy problem: its variables then have values, to be certified by the caller.

    Tight tolerances are tried first; the first point counts, whatever its status.

    Returns:
        What the solver says, as data: status, solver, primal and dual objective, gap, primal and
        dual residual, iterations.

    Raises:
        UndecidableError: the solver returned no point.
    """
    import cvxpy as cp

    problem, status = cp.Problem(objective, list(constraints)), ""
    # the documented three steps of problem.solve: only the raw result has the residuals
    data, chain, inverse = problem.get_problem_data(cp.CLARABEL, solver_opts={})
    for options in (TIGHT, {}) if data["A"].shape[0] < SMALL else ({},):
        raw = chain.solve_via_data(problem, data, solver_opts=options)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # of an inaccurate status
            try:
                problem.unpack_results(raw, chain, inverse)
                status = problem.status
            except cp.SolverError:  # it gave up, on numbers of very different sizes say
                status = str(raw.status)
                continue
        if problem.variables()[0].value is not None:
            gap = float(raw.obj_val - raw.obj_val_dual)
            return {
                "method": "cvxpy, exponential cone",
                "solver": "CLARABEL",
                "status": status,
                "primal": float(problem.value),
                "dual": float(problem.value) - gap,
                "gap": abs(gap),
                "primal_residual": float(raw.r_prim),
                "dual_residual": float(raw.r_dual),
                "iterations": int(raw.iterations),
            }
    raise UndecidableError(
        f"the solver ended with status {status!r} and without a point",
        "an optimal solution",
        "scale the data, or make the ball smaller",
    )


def frank_wolfe_gap(point: np.ndarray, gradient: np.ndarray, radius: float) -> float:
    """Return ⟨∇F(w), w⟩ + B‖∇F(w)‖ ≥ F(w) − min over the ball of F, for a convex F."""
    return float(gradient @ point + radius * np.linalg.norm(gradient))
