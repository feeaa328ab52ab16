r"""Where FedNest and its light forms end on the quadratic minimax families, exactly.

**One law.** At fixed data, client i's local steps of one call are an affine map of v = (x − x*,
y − y*, 1), a power of a step's, and the server's are the mean of its cohort's. A round is T calls
of τ steps of FedInn in y, x held, and one of FedOut without series in x, y held; of FedAvg-S it is
one call of steps in both.

Variance reduction puts the cohort's mean gradient in place of a client's, and all Hessians are
equal (I in y, λI in x), so the mean is the same with it and without: FedNest, FedNest_SGD and
LFedNest (with ``terms=0``) have the same server iterates. A cohort is drawn again for each call.
"""

from math import inf, isfinite

import numpy as np
import torch
from numpy.linalg import matrix_power

from driftproof.synthetic.oracles.quadratic_minimax import QuadraticMinimaxProblem
from driftproof.synthetic.problems.quadratic_minimax import QuadraticMinimax
from driftproof.toolkit.algorithm import Algorithm
from driftproof.toolkit.algorithms._nested import Nested
from driftproof.toolkit.algorithms.fedavg_s import FedAvgS
from driftproof.toolkit.cases import Case
from driftproof.toolkit.engines.second_moments import Recursion, of_cohort

DUST = 1e-25
"""A mean square below this is what rounding left of 0."""


def converges(case: Case[QuadraticMinimax, Nested]) -> bool:
    """Say whether the method's second moments have a limit."""
    return isfinite(limit(case.problem, case.algorithm))


def saddle(problem: QuadraticMinimaxProblem) -> np.ndarray:
    """Return (x*, y*)."""
    return np.concatenate(problem.saddle)


def calls(problem: QuadraticMinimaxProblem, method: Algorithm) -> list[tuple[np.ndarray, int]]:
    """Return a round's calls in order: the clients' maps [clients, n, n], and how many times.

    Of (x − x*, y − y*, 1), n = 2d + 1.
    """
    assert isinstance(method, Nested | FedAvgS)
    d, unit = problem.dim, np.eye(2 * problem.dim + 1)
    x, y = slice(d), slice(d, 2 * d)
    field = np.zeros((problem.clients, *unit.shape))  # v ↦ (∇_x f_i, −∇_y f_i, 0)
    field[:, x, x], field[:, x, y] = problem.regulariser * np.eye(d), -problem.matrices.mT
    field[:, y, x], field[:, y, y] = problem.matrices, np.eye(d)
    field[..., :-1, -1] = field[..., :-1, :-1] @ saddle(problem)
    field[:, y, -1] -= problem.offsets
    of_x, of_y = (np.tile(unit, (problem.clients, 1, 1)) for _ in range(2))
    of_x[:, x] -= method.outer_step_size * field[:, x]
    of_y[:, y] -= method.inner_step_size * field[:, y]
    if isinstance(method, Nested):
        inner, outer = (
            matrix_power(of_y, method.inner_steps),
            matrix_power(of_x, method.outer_steps),
        )
        return [(inner, method.inner_calls), (outer, 1)]
    step = of_x @ of_y if method.order == "alternating" else of_x + of_y - unit
    return [(matrix_power(step, method.local_steps), 1)]


def moments(problem: QuadraticMinimaxProblem, method: Algorithm) -> Recursion:
    """Return the second moments of (x − x*, y − y*, 1), round by round."""
    size, n = method.cohort_size(problem.clients), 2 * problem.dim + 1
    step = torch.eye(n * n, dtype=torch.float64)
    for maps, times in calls(problem, method):
        of_call = torch.from_numpy(of_cohort(maps, size).on_moments)
        step = torch.linalg.matrix_power(of_call, times) @ step
    start = np.append(problem.start() - saddle(problem), 1.0)
    begun, of_round = np.outer(start, start).reshape(-1), step.numpy()
    return Recursion(begun, of_round @ begun, of_round)


def error_after(problem: QuadraticMinimax, method: Algorithm, rounds: int) -> float:
    """Return E‖z_K − z*‖² of z = (x, y) after K rounds, exactly."""
    return float(moments(problem, method).squares(rounds)[-1].sum())


def limit(problem: QuadraticMinimax, method: Algorithm) -> float:
    """Return E‖z − z*‖² in the stationary law: the floor (infinite where it diverges)."""
    of_round = moments(problem, method)
    if np.abs(np.linalg.eigvals(of_round.step[:-1, :-1])).max() >= 1:
        return inf
    floor = float(of_round.limit().sum())
    return floor if floor > DUST else 0.0
