r"""What the methods of fednest/minimax come to, exactly: rates, mean curves and floors.

**One law.** At fixed data, a client's local steps of one call are an affine map v ↦ L_i v of
v = (x − x*, y − y*, 1), and the server's are the mean of its cohort's, L_C = (1/n) Σ_{i∈C} L_i:

* a call of FedInn, r = (1 − β)^τ: y ↦ r y + (1 − r)(b_i − A_i x), x held;
* FedOut, q = (1 − αλ)^τ: x ↦ q x + ((1 − q)/λ)A_iᵀy, y held;
* a round of FedAvg-S: τ steps of both.

Variance reduction puts the cohort's mean gradient in the place of a client's, and all Hessians are
equal (I in y, λI in x), so the mean L_C is the same with it and without: FedNest, FedNest_SGD and
LFedNest have the same server iterates.

**All clients.** The round is the product of the mean maps. With Ā = U diag(σ) Vᵀ it falls apart
into 2×2 blocks, one for each σ; its rate is the largest spectral radius of a block.

**Cohorts** are drawn uniformly without replacement, n of m, and anew for each call. Hence
E[L_C ⊗ L_C] = L̄ ⊗ L̄ + γ((1/m) Σ L_i ⊗ L_i − L̄ ⊗ L̄), γ = (m − n)/(n(m − 1)), moves the second
moment E[vvᵀ] over one call exactly, and products over calls over a round; its fixed point gives the
stationary mean squared distances.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from synthetic.problems.random_minimax import RandomMinimax
from toolkit.algorithm import Algorithm
from toolkit.algorithms._nested import Nested
from toolkit.algorithms.fedavg_s import FedAvgS


@dataclass(frozen=True)
class Predicted:
    """Expected squared distances from the saddle point.

    Attributes:
        x, y: E‖x_k − x*‖² and E‖y_k − y*‖² of each round's start and the end, [rounds + 1].
        floor_x, floor_y: their limits.
        rate: spectral radius of a round's mean map, less the constant.
    """

    x: np.ndarray
    y: np.ndarray
    floor_x: float
    floor_y: float
    rate: float


def predicted(problem: RandomMinimax, algorithm: Algorithm, rounds: int) -> Predicted:
    """Return what ``rounds`` rounds from the problem's start come to on average."""
    d, size = problem.dim, algorithm.cohort_size(problem.clients)
    n = 2 * d + 1
    moment, mean = torch.eye(n * n, dtype=torch.float64), np.eye(n)
    for maps, calls in calls_of(problem, algorithm):
        # by torch, which keeps to a worker's one thread
        moment = torch.linalg.matrix_power(torch.from_numpy(_second(maps, size)), calls) @ moment
        mean = np.linalg.matrix_power(maps.mean(0), calls) @ mean
    by_round = moment.numpy()
    start = np.append(problem.start() - np.concatenate(problem.saddle), 1.0)
    at, curve = np.outer(start, start).ravel(), []
    for _ in range(rounds + 1):
        curve.append(np.diag(at.reshape(n, n)))
        at = by_round @ at
    rest, last = torch.eye(n * n - 1, dtype=torch.float64) - moment[:-1, :-1], moment[:-1, -1]
    limit = np.diag(np.append(torch.linalg.solve(rest, last).numpy(), 1.0).reshape(n, n))
    squares = np.array(curve)
    return Predicted(
        x=squares[:, :d].sum(1), y=squares[:, d:-1].sum(1),
        floor_x=float(limit[:d].sum()), floor_y=float(limit[d:-1].sum()),
        rate=float(np.abs(np.linalg.eigvals(mean[:-1, :-1])).max()),
    )  # fmt: skip


def calls_of(problem: RandomMinimax, algorithm: Algorithm) -> list[tuple[np.ndarray, int]]:
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
        return [*calls, (in_x(outer, (1 - outer) / lam), 1)]
    assert isinstance(algorithm, FedAvgS)
    assert algorithm.order == "alternating"
    alpha, beta = algorithm.outer_step_size, algorithm.inner_step_size
    step = in_x(1 - alpha * lam, alpha) @ in_y(1 - beta, beta)
    return [(np.linalg.matrix_power(step, algorithm.local_steps), 1)]


def linear_rate(problem: RandomMinimax, algorithm: Nested) -> float:
    """Return FedNest's rate with all clients by 2×2 blocks, one for each singular value of Ā.

    With R = 1 − (1 − β)^{τT} and q = (1 − αλ)^τ, a block is
    [[q − kRσ², k(1 − R)σ], [−Rσ, 1 − R]], k = (1 − q)/λ.
    """
    lam = problem.regulariser
    big = 1 - (1 - algorithm.inner_step_size) ** (algorithm.inner_steps * algorithm.inner_calls)
    keep = (1 - algorithm.outer_step_size * lam) ** algorithm.outer_steps
    k = (1 - keep) / lam
    sigma = np.linalg.svd(problem.matrices.mean(0), compute_uv=False)
    trace = keep - k * big * sigma**2 + 1 - big
    determinant = keep * (1 - big)  # k(1 − R)Rσ² cancels
    root = np.sqrt((trace**2 / 4 - determinant).astype(complex))
    return float(np.maximum(np.abs(trace / 2 + root), np.abs(trace / 2 - root)).max())


def _about(maps: np.ndarray, problem: RandomMinimax) -> np.ndarray:
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
