r"""A round of FedNest on the quadratic minimax families, as what it does to means and moments.

**One law.** At fixed data, a client's local steps of one call are an affine map v ↦ L_i v of
v = (x − x*, y − y*, 1), and the server's are the mean of its cohort's, L_C = (1/n) Σ_{i∈C} L_i:

* a call of FedInn, r = (1 − β)^τ: y ↦ r y + (1 − r)(b_i − A_i x), x held;
* FedOut without series, q = (1 − αλ)^τ: x ↦ q x + ((1 − q)/λ)A_iᵀy, y held;
* a round of FedAvg-S: τ steps of both.

Variance reduction puts the cohort's mean gradient in place of a client's, and all Hessians are
equal (I in y, λI in x), so the mean L_C is the same with it and without: FedNest, FedNest_SGD and
LFedNest (with ``terms=0``) have the same server iterates.

**Cohorts** are drawn uniformly without replacement, n of m, and again for each call. Hence
E[L_C ⊗ L_C] = L̄ ⊗ L̄ + γ((1/m) Σ L_i ⊗ L_i − L̄ ⊗ L̄), γ = (m − n)/(n(m − 1)), moves the second
moment E[vvᵀ] over one call exactly, and products over calls over a round; its fixed point gives the
stationary mean squared distances.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from driftproof.synthetic.oracles.quadratic_minimax import QuadraticMinimaxProblem
from driftproof.toolkit.algorithm import Algorithm
from driftproof.toolkit.algorithms._nested import Nested
from driftproof.toolkit.algorithms.fedavg_s import FedAvgS


@dataclass(frozen=True)
class Moments:
    """What a round does to v = (x − x*, y − y*, 1), n = 2d + 1.

    Attributes:
        start: v before the first round, [n].
        mean: moves E v, [n, n].
        second: moves E[vvᵀ] row by row, [n², n²].
    """

    start: np.ndarray
    mean: np.ndarray
    second: torch.Tensor

    @property
    def rate(self) -> float:
        """The linear rate of E v: the spectral radius of its map, less the constant."""
        return float(np.abs(np.linalg.eigvals(self.mean[:-1, :-1])).max())

    def squares(self, rounds: int) -> np.ndarray:
        """Return the mean squares of (x − x*, y − y*) before each round and after the last.

        [rounds + 1, 2d].
        """
        at, by_round = np.outer(self.start, self.start).ravel(), self.second.numpy()
        curve = []
        for _ in range(rounds + 1):
            curve.append(at[:: len(self.start) + 1][:-1])
            at = by_round @ at
        return np.array(curve)

    def limit(self) -> np.ndarray:
        """Return what the mean squares tend to, where they converge, [2d]."""
        rest = torch.eye(len(self.second) - 1, dtype=torch.float64) - self.second[:-1, :-1]
        fixed = torch.linalg.solve(rest, self.second[:-1, -1])
        limit: np.ndarray = fixed[:: len(self.start) + 1].numpy()
        return limit


def moments(problem: QuadraticMinimaxProblem, algorithm: Algorithm) -> Moments:
    """Return what one round does."""
    size, n = algorithm.cohort_size(problem.clients), 2 * problem.dim + 1
    second, mean = torch.eye(n * n, dtype=torch.float64), np.eye(n)
    for maps, calls in calls_of(problem, algorithm):
        # by torch, which keeps to a worker's one thread
        second = torch.linalg.matrix_power(torch.from_numpy(_second(maps, size)), calls) @ second
        mean = np.linalg.matrix_power(maps.mean(0), calls) @ mean
    start = np.append(problem.start() - np.concatenate(problem.saddle), 1.0)
    return Moments(start, mean, second)


def calls_of(
    problem: QuadraticMinimaxProblem, algorithm: Algorithm
) -> list[tuple[np.ndarray, int]]:
    """Return a round's calls in order: the clients' maps L_i [clients, n, n], and how many times.

    Of (x − x*, y − y*, 1), n = 2d + 1.
    """
    d, lam = problem.dim, problem.regulariser
    a, b, unit = problem.matrices, problem.offsets, np.eye(2 * problem.dim + 1)
    x, y, one = slice(d), slice(d, 2 * d), 2 * d
    same = np.broadcast_to(unit, (problem.clients, *unit.shape))

    def in_y(keep: float, by: float) -> np.ndarray:
        """Y ↦ keep·y + by·(b_i − A_i x)."""
        maps = same.copy()
        maps[:, y, y] *= keep
        maps[:, y, x], maps[:, y, one] = -by * a, by * b
        return _about(maps, problem)

    def in_x(keep: float, by: float) -> np.ndarray:
        """X ↦ keep·x + by·A_iᵀy."""
        maps = same.copy()
        maps[:, x, x] *= keep
        maps[:, x, y] = by * a.mT
        return _about(maps, problem)

    if isinstance(algorithm, Nested):
        inner = (1 - algorithm.inner_step_size) ** algorithm.inner_steps
        outer = (1 - algorithm.outer_step_size * lam) ** algorithm.outer_steps
        calls = [(in_y(inner, 1 - inner), algorithm.inner_calls)]
        by = (1 - outer) / lam if lam else algorithm.outer_steps * algorithm.outer_step_size
        return [*calls, (in_x(outer, by), 1)]
    assert isinstance(algorithm, FedAvgS)
    alpha, beta = algorithm.outer_step_size, algorithm.inner_step_size
    of_x, of_y = in_x(1 - alpha * lam, alpha), in_y(1 - beta, beta)
    step = of_x @ of_y if algorithm.order == "alternating" else of_x + of_y - unit
    return [(np.linalg.matrix_power(step, algorithm.local_steps), 1)]


def _about(maps: np.ndarray, problem: QuadraticMinimaxProblem) -> np.ndarray:
    """Return maps of (x, y, 1) as maps of (x − x*, y − y*, 1)."""
    there, back = np.eye(maps.shape[1]), np.eye(maps.shape[1])
    saddle = np.concatenate(problem.saddle)
    there[:-1, -1], back[:-1, -1] = -saddle, saddle
    shifted: np.ndarray = there @ maps @ back
    return shifted


def _second(maps: np.ndarray, size: int) -> np.ndarray:
    """Return E[L_C ⊗ L_C], which moves E[vvᵀ] row by row, [n², n²]."""
    m, n, _ = maps.shape
    mean = maps.mean(0)
    spread = (maps - mean).reshape(m, n * n)
    gamma = (m - size) / (size * (m - 1)) if m > 1 else 0.0
    own = torch.from_numpy(spread)
    products = (own.mT @ own).numpy().reshape(n, n, n, n)
    covariance = gamma / m * products.transpose(0, 2, 1, 3)
    moments: np.ndarray = np.kron(mean, mean) + covariance.reshape(n * n, n * n)
    return moments
