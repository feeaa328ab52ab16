r"""A round of FedNest, FedNest_SGD or LFedNest on the quadratic minimax families, fused.

With ``terms=0`` and without noise, a call of FedInn holds x and one of FedOut holds y, so A_i x and
A_iᵀy are the same in all their local steps: each is computed once a call, and a local step costs
O(d) instead of two passes over A_i. Only the clients of a call's cohort are computed: the others'
local steps end in the average that all receive.

The three algorithms are one round with other flags: whether FedInn corrects its gradients by the
cohort's mean (``reduces_inner``), and whether FedOut does (not where ``local_hypergradient``).

**Blocked** in two places. A_i is read a row at a time for each (client, replicate) of the cohort,
once a call. The local steps then move every entry by itself, so ``WIDE`` of them, of whatever
client, stay in registers for all steps of a call.

**Numbers** are the plain steps' to a tolerance, not to the bit: A_i x is summed from left to right,
as torch's products need not be, and joins the gradient as one term.
"""

from typing import Any

import numba
import numpy as np

from driftproof.synthetic.kernels._nested_minimax import (
    WIDE,
    accepts,
    data_of,
    everywhere,
    members,
    rows,
    shared,
)
from driftproof.toolkit.kernels.registry import Cost, fused


def _cost(algorithm: Any, problem: Any, replicates: int, size: int) -> Cost:
    """A local step is six operations an entry; A_i meets what a call holds once a call."""
    entries, pairs = problem.dim, problem.clients * replicates
    steps = algorithm.inner_calls * algorithm.inner_steps + algorithm.outer_steps
    products = (algorithm.inner_calls + 1) * 2 * entries**2
    return Cost(
        flops=pairs * (6 * entries * steps + products),
        bytes=size * (problem.clients * entries * (entries + 1) + 4 * entries * replicates),
    )


@fused(
    name="nested-fednest",
    algorithm=("fednest", "fednest-sgd", "lfednest"),
    problem=("quadratic-minimax", "random-minimax"),
    rows=rows,
    accepts=accepts,
    cost=_cost,
)
def advance(ctx: Any, oracles: Any, algorithm: Any, state: Any, steps: int) -> tuple[Any, float]:
    """Equal to ``steps`` repetitions of ``step`` from the start of a round, where clients agree."""
    first, tau = ctx.t, algorithm.inner_steps
    of = data_of(oracles)
    x, y = (shared(v) for v in (state.x, state.y))
    y_start, q = y, shared(state.y_direction)
    for call in range(algorithm.inner_calls):
        y_start = y
        chosen = members(ctx, algorithm, first + call * tau)
        fixed = _hoisted(of.matrices, x, of.offsets, chosen)
        beta, reduced = algorithm.inner_step_size, algorithm.reduces_inner
        y, mean = _local_steps(y, fixed, 1.0, beta, tau, reduced)
        q = mean if reduced else q
    since = first + algorithm.inner_calls * tau
    chosen = members(ctx, algorithm, since)
    none = np.zeros((len(of.matrices), x.shape[0]), x.dtype)
    fixed = -_hoisted(of.matrices.transpose(0, 2, 1), y, none, chosen)
    reduced, start = not algorithm.local_hypergradient, x
    alpha, lam = algorithm.outer_step_size, of.regulariser
    x, h = _local_steps(x, fixed, lam, alpha, algorithm.outer_steps, reduced)
    averages = algorithm.inner_calls * (1 + algorithm.reduces_inner)
    ctx.rounds += averages + 1 + reduced
    ctx.reals += averages * y.shape[0] + (1 + reduced) * x.shape[0]
    ctx.t = since + algorithm.outer_steps - 1
    ends = {"x": x, "y": y, "y_start": y_start, "y_direction": q}
    if reduced:
        ends |= {"x_start": start, "x_direction": h}
    return state._replace(**{name: everywhere(v, oracles) for name, v in ends.items()}), 0.0


@numba.njit(cache=True)
def _hoisted(
    matrices: np.ndarray, x: np.ndarray, offsets: np.ndarray, chosen: np.ndarray
) -> np.ndarray:
    """Return A_i x − b_i of the chosen clients, [size, replicates, rows]."""
    size, replicates = chosen.shape
    rows, columns = matrices.shape[1:]
    products = np.empty((size, replicates, rows), x.dtype)
    for j in range(size):
        for r in range(replicates):
            k = chosen[j, r]
            for i in range(rows):
                total = matrices[k, i, 0] * x[0, r]
                for l in range(1, columns):  # noqa: E741
                    total += matrices[k, i, l] * x[l, r]
                products[j, r, i] = total - offsets[k, i]
    return products


@numba.njit(cache=True)
def _local_steps(
    v: np.ndarray, fixed: np.ndarray, curvature: float, step_size: float, steps: int, reduced: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Step along curvature·v + fixed_i at every chosen client; return means of end and gradient.

    The entries of all clients' iterates move independently of each other, so the steps are taken
    by ``WIDE`` entries at a time, whatever client they are of.

    Args:
        v: where all start, [rows, replicates].
        fixed: the part of the gradient that does not move, [size, replicates, rows].
        reduced: whether the gradients are corrected by the chosen clients' mean at the start.
    """
    size = len(fixed)
    c, step = v.dtype.type(curvature), v.dtype.type(step_size)
    start = np.ascontiguousarray(v.T).ravel()
    owns = fixed.reshape(size, len(start))
    mean, mean_end = np.zeros_like(start), np.zeros_like(start)
    begun = np.zeros_like(owns)
    if reduced:
        for j in range(size):
            begun[j] = c * start + owns[j]
            mean += begun[j]
        mean /= size
    ends = np.empty_like(owns)
    for j in range(size):
        ends[j] = start
    every, own, begun = ends.ravel(), owns.ravel(), begun.ravel()
    at, fix, drop, to = np.zeros((4, WIDE), v.dtype)
    for first in range(0, every.size, WIDE):
        wide = min(WIDE, every.size - first)
        for e in range(wide):
            at[e], fix[e] = every[first + e], own[first + e]
            drop[e], to[e] = begun[first + e], mean[(first + e) % len(mean)]
        for _ in range(steps):
            for e in range(WIDE):
                at[e] -= step * (c * at[e] + fix[e] - drop[e] + to[e])
        for e in range(wide):
            every[first + e] = at[e]
    for j in range(size):
        mean_end += ends[j]
    mean_end /= size
    shape = (v.shape[1], v.shape[0])
    return mean_end.reshape(shape).T.copy(), mean.reshape(shape).T.copy()
