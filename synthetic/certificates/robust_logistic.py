"""Certified optima of robust logistic regression: cvxpy's point, polished and enclosed."""

import warnings
from contextlib import suppress
from dataclasses import replace
from typing import Literal

import numpy as np

from driftproof.synthetic.certificates.logistic import shares as sigmoids
from driftproof.synthetic.certificates.robust import robust_optimum
from driftproof.toolkit.problem import Solution


def logistic_optimum(
    rows: np.ndarray,
    shares: np.ndarray,
    *,
    ball: float,
    penalty: float,
    divergence: Literal["kl", "chi2"] = "kl",
) -> Solution:
    """Enclose min over a ball of a robust mean of losses Σ_j shares_ij log(1 + e^{−⟨a_j, x⟩}).

    ``robust_optimum`` begins at the point of cvxpy's exponential cone. Of the certificate
    ``solver``, ``status`` and ``primal``, the least value, are what that says.

    Args:
        rows: a_j, labels multiplied in, [rows, dim].
        shares: ≥ 0, [losses, rows].
        ball, penalty: B and λ.
    """
    import cvxpy as cp

    x, shift = cp.Variable(rows.shape[1]), cp.Variable()
    losses = shares @ cp.logistic(-rows @ x)
    over = cp.pos(1.0 + (losses - shift) / penalty)
    objective = shift + penalty / 2 * (cp.sum_squares(over) / len(shares) - 1.0)
    if divergence == "kl":
        objective = penalty * (cp.log_sum_exp(losses / penalty) - np.log(len(shares)))
    problem = cp.Problem(cp.Minimize(objective), [cp.norm(x) <= ball])
    with warnings.catch_warnings(), suppress(cp.SolverError):  # its point counts, not its status
        warnings.simplefilter("ignore", UserWarning)
        problem.solve(solver=cp.CLARABEL)
    told = {"solver": "cvxpy, CLARABEL", "status": problem.status, "primal": problem.value}
    found = robust_optimum(
        lambda at: shares @ np.logaddexp(0.0, -rows @ at),
        lambda at: -(shares * sigmoids(rows, at)) @ rows,
        divergence=divergence,
        penalty=penalty,
        dim=rows.shape[1],
        ball=ball,
        start=x.value,
    )
    return replace(found, certificate={**told, **found.certificate})
