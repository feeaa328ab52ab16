r"""A round of FedAvg-S on the quadratic minimax families, fused.

Both variables move, so a local step is a product with A_i and one with its transpose, 4·d² flops;
where every A_i is diagonal, 4·d.

**Blocked**: one (client, replicate) at a time takes all its steps, in one pass over A_i each: a row
gives its entry of A_i x and at once its part of A_iᵀy, while it is in a register. Where every A_i
is diagonal no entry moves another client's, so ``WIDE`` of them step together.

**Numbers** are the plain steps' to a tolerance: both products are summed from left to right, the
mean over the cohort in the order of its members.
"""

from typing import Any

import numba
import numpy as np

from driftproof.synthetic.kernels._minimax_cost import descent_ascent
from driftproof.synthetic.kernels._nested_minimax import (
    WIDE,
    accepts,
    data_of,
    everywhere,
    members,
    rows,
    shared,
)
from driftproof.toolkit.kernels.registry import fused


@fused(
    name="nested-fedavg-s",
    algorithm="fedavg-s",
    problem=("quadratic-minimax", "random-minimax"),
    rows=rows,
    accepts=accepts,
    cost=descent_ascent,
)
def advance(ctx: Any, oracles: Any, algorithm: Any, state: Any, steps: int) -> tuple[Any, float]:
    """Equal to ``steps`` repetitions of ``FedAvgS.step`` from the start of a round."""
    first = ctx.t
    of = data_of(oracles)
    x, y = shared(state.x), shared(state.y)
    chosen = members(ctx, algorithm, first)
    moves = np.array(
        [of.regulariser, algorithm.outer_step_size, algorithm.inner_step_size], x.dtype
    )
    alternating = algorithm.order == "alternating"
    rest = of.offsets, chosen, moves, steps, alternating
    if of.diagonal:
        lines = np.ascontiguousarray(np.diagonal(of.matrices, axis1=1, axis2=2))
        x, y = _diagonal_steps(x, y, lines, *rest)
    else:
        x, y = _local_steps(x, y, of.matrices, *rest)
    ctx.rounds += 1
    ctx.reals += x.shape[0] + y.shape[0]
    ctx.t = first + steps - 1
    return type(state)(everywhere(x, oracles), everywhere(y, oracles)), 0.0


@numba.njit(cache=True)
def _local_steps(
    x: np.ndarray,
    y: np.ndarray,
    matrices: np.ndarray,
    offsets: np.ndarray,
    chosen: np.ndarray,
    moves: np.ndarray,
    steps: int,
    alternating: bool,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the chosen clients' mean x and y after their local steps, [rows, replicates] each."""
    size, replicates = chosen.shape
    rows, columns = matrices.shape[1:]
    lam, alpha, beta = moves
    xs, ys = np.zeros_like(x), np.zeros_like(y)
    w, down = np.empty(rows, x.dtype), np.empty(columns, x.dtype)
    for j in range(size):
        for r in range(replicates):
            a, b = matrices[chosen[j, r]], offsets[chosen[j, r]]
            u, v = x[:, r].copy(), y[:, r].copy()
            for _ in range(steps):
                for l in range(columns):  # noqa: E741
                    down[l] = lam * u[l]
                for i in range(rows):
                    up = b[i] - v[i]
                    for l in range(columns):  # noqa: E741
                        up -= a[i, l] * u[l]
                    w[i] = v[i] + beta * up
                    at = w[i] if alternating else v[i]
                    for l in range(columns):  # noqa: E741
                        down[l] -= a[i, l] * at
                for l in range(columns):  # noqa: E741
                    u[l] -= alpha * down[l]
                v[:] = w
            xs[:, r] += u
            ys[:, r] += v
    return xs / size, ys / size


@numba.njit(cache=True)
def _diagonal_steps(
    x: np.ndarray,
    y: np.ndarray,
    lines: np.ndarray,
    offsets: np.ndarray,
    chosen: np.ndarray,
    moves: np.ndarray,
    steps: int,
    alternating: bool,
) -> tuple[np.ndarray, np.ndarray]:
    """The same for diagonal A_i, lines [clients, rows]: no entry moves another one's."""
    size, replicates = chosen.shape
    rows = len(x)
    lam, alpha, beta = moves
    u, v, line, b = np.zeros((4, WIDE), x.dtype)
    total = size * rows
    xs, ys = np.zeros_like(x), np.zeros_like(y)
    for r in range(replicates):
        for first in range(0, total, WIDE):
            wide = min(WIDE, total - first)
            for e in range(wide):
                j, i = (first + e) // rows, (first + e) % rows
                u[e], v[e] = x[i, r], y[i, r]
                line[e], b[e] = lines[chosen[j, r], i], offsets[chosen[j, r], i]
            for _ in range(steps):
                for e in range(WIDE):
                    up = v[e] + beta * (b[e] - v[e] - line[e] * u[e])
                    at = up if alternating else v[e]
                    u[e] -= alpha * (lam * u[e] - line[e] * at)
                    v[e] = up
            for e in range(wide):
                xs[(first + e) % rows, r] += u[e]
                ys[(first + e) % rows, r] += v[e]
    return xs / size, ys / size
