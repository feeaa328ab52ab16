r"""One round on the quadratic minimax family as an affine map, and its second moments.

All ∇²_y g_i are I and all ∇²_x f_i are λI, so a call of FedInn on the cohort S is y ← y − r(y − b_S
+ A_S x), r = 1 − (1 − β)^τ, and one of FedOut without series x ← x − s(λx − A_Sᵀy), s = (1 − (1 −
αλ)^τ)/λ: **whether the local steps are variance reduced or not**, since all clients' steps contract
alike. FedNest, FedNest_SGD and LFedNest (with ``terms=0``) are one method here.

With v = (x, y, 1) a round is v ← F_S v; cohorts of different calls are independent, so E v vᵀ obeys
the linear recursion of the means of F_S ⊗ F_S.
"""

from collections.abc import Sequence
from itertools import combinations
from math import inf, isfinite
from typing import TypeAlias

import numpy as np

from synthetic.problems.quadratic_minimax import QuadraticMinimax
from toolkit.algorithm import Algorithm
from toolkit.algorithms._nested import Nested
from toolkit.algorithms.fedavg_s import FedAvgS
from toolkit.cases import Case
from verifiers.claims.fednest._derivatives import minimiser

Round: TypeAlias = Sequence[Sequence[np.ndarray]]
"""For each call of a round in turn the maps F_S of every cohort, [2d + 1, 2d + 1] each."""

DUST = 1e-25
"""A mean square below this is what rounding left of 0."""


def calls(problem: QuadraticMinimax, method: Nested) -> Round:
    """Return what one round of FedNest or its light forms applies."""
    d, lam = problem.dim, problem.regulariser
    r = 1 - (1 - method.inner_step_size) ** method.inner_steps
    steps, alpha = method.outer_steps, method.outer_step_size
    s = (1 - (1 - alpha * lam) ** steps) / lam if lam else steps * alpha
    inner, outer = [], []
    for a, b in cohort_means(problem, method):
        of_y, of_x = np.eye(2 * d + 1), np.eye(2 * d + 1)
        of_y[d : 2 * d] += r * np.hstack([-a, -np.eye(d), b[:, None]])
        of_x[:d] -= s * np.hstack([lam * np.eye(d), -a.T, np.zeros((d, 1))])
        inner.append(of_y)
        outer.append(of_x)
    return [inner] * method.inner_calls + [outer]


def joint(problem: QuadraticMinimax, method: FedAvgS) -> Round:
    """Return FedAvg-S's one call: the mean over each cohort of its clients' τ joint steps."""
    d, lam = problem.dim, problem.regulariser
    alpha, beta, own = method.outer_step_size, method.inner_step_size, []
    for a, b in zip(problem.matrices, problem.offsets, strict=True):
        of_y, of_x = np.eye(2 * d + 1), np.eye(2 * d + 1)
        of_y[d : 2 * d] += beta * np.hstack([-a, -np.eye(d), b[:, None]])
        of_x[:d] -= alpha * np.hstack([lam * np.eye(d), -a.T, np.zeros((d, 1))])
        both = of_x @ of_y if method.order == "alternating" else of_x + of_y - np.eye(2 * d + 1)
        own.append(np.linalg.matrix_power(both, method.local_steps))
    return [[np.mean([own[i] for i in chosen], 0) for chosen in cohorts(problem, method)]]


def converges(case: Case[QuadraticMinimax, Nested]) -> bool:
    """Say whether the method's second moments have a limit."""
    return isfinite(limit(case.problem, calls(case.problem, case.algorithm)))


def cohorts(problem: QuadraticMinimax, method: Algorithm) -> list[tuple[int, ...]]:
    """Return every cohort, as tuples of clients."""
    return list(combinations(range(problem.clients), method.cohort_size(problem.clients)))


def cohort_means(
    problem: QuadraticMinimax, method: Algorithm
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return (A_S, b_S) of every cohort S."""
    return [
        (problem.matrices[list(chosen)].mean(0), problem.offsets[list(chosen)].mean(0))
        for chosen in cohorts(problem, method)
    ]


def mean_map(called: Round) -> np.ndarray:
    """Return the mean of F_S over a round's cohorts, [2d + 1, 2d + 1]."""
    whole = np.eye(len(called[0][0]))
    for maps in called:
        whole = np.mean(maps, 0) @ whole
    return whole


def second_moments(called: Round) -> np.ndarray:
    """Return the mean of F_S ⊗ F_S over a round's cohorts."""
    whole = np.eye(len(called[0][0]) ** 2)
    for maps in called:
        whole = np.mean([np.kron(one, one) for one in maps], 0) @ whole
    return whole


def saddle(problem: QuadraticMinimax) -> np.ndarray:
    """Return (x*, y*)."""
    x = minimiser(problem)
    a, b = problem.matrices.mean(0), problem.offsets.mean(0)
    return np.concatenate([x, b - a @ x])


def error_after(problem: QuadraticMinimax, called: Round, rounds: int) -> float:
    """Return E‖z_K − z*‖² of z = (x, y) after K rounds, exactly."""
    v, target = np.append(problem.start(), 1.0), saddle(problem)
    moments = np.linalg.matrix_power(second_moments(called), rounds) @ np.kron(v, v)
    of_pairs = moments.reshape(len(v), len(v))
    return float(np.trace(of_pairs[:-1, :-1]) - 2 * target @ of_pairs[:-1, -1] + target @ target)


def limit(problem: QuadraticMinimax, called: Round) -> float:
    """Return E‖z − z*‖² in the stationary law: the floor (infinite where it diverges)."""
    # around z*, so that maps which fix it leave exactly nothing
    moved = np.eye(2 * problem.dim + 1)
    moved[:-1, -1] = saddle(problem)
    back = np.linalg.inv(moved)
    moments = second_moments([[back @ one @ moved for one in maps] for maps in called])
    whole, constant = moments[:-1, :-1], moments[:-1, -1]
    if np.abs(np.linalg.eigvals(whole)).max() >= 1:
        return inf
    stationary = np.append(np.linalg.solve(np.eye(len(whole)) - whole, constant), 1.0)
    floor = float(np.trace(stationary.reshape(moved.shape)[:-1, :-1]))
    return floor if floor > DUST else 0.0


def spectral_radius(called: Round) -> float:
    """Return the linear rate of E(z_K − z*): the largest modulus but the constant's 1."""
    values = np.abs(np.linalg.eigvals(mean_map(called)[:-1, :-1]))
    return float(values.max())
