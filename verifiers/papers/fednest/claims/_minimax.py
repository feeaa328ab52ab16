"""Where FedNest and its light forms end on the quadratic minimax family, exactly."""

from math import inf, isfinite

import numpy as np

from driftproof.synthetic.problems.quadratic_minimax import QuadraticMinimax
from driftproof.toolkit.algorithm import Algorithm
from driftproof.toolkit.algorithms._nested import Nested
from driftproof.toolkit.cases import Case
from driftproof.verifiers.minimax_rounds import moments

DUST = 1e-25
"""A mean square below this is what rounding left of 0."""


def converges(case: Case[QuadraticMinimax, Nested]) -> bool:
    """Say whether the method's second moments have a limit."""
    return isfinite(limit(case.problem, case.algorithm))


def saddle(problem: QuadraticMinimax) -> np.ndarray:
    """Return (x*, y*)."""
    return np.concatenate(problem.saddle)


def error_after(problem: QuadraticMinimax, method: Algorithm, rounds: int) -> float:
    """Return E‖z_K − z*‖² of z = (x, y) after K rounds, exactly."""
    return float(moments(problem, method).squares(rounds)[-1].sum())


def limit(problem: QuadraticMinimax, method: Algorithm) -> float:
    """Return E‖z − z*‖² in the stationary law: the floor (infinite where it diverges)."""
    of_round = moments(problem, method)
    if np.abs(np.linalg.eigvals(of_round.second[:-1, :-1].numpy())).max() >= 1:
        return inf
    floor = float(of_round.limit().sum())
    return floor if floor > DUST else 0.0
