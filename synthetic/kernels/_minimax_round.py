r"""A round of local gradient descent-ascent on the quadratic minimax families, in numba.

The replicates of a client that are in the cohort are taken together, at most ``WIDTH_BYTES`` of a
row at a time, and stay in a cache for all steps of the round (``_minimax_steps``). Clients are
added up in fixed groups of neighbours, so the bits do not depend on the number of threads.
"""

import numba
import numpy as np

from driftproof.synthetic.kernels._minimax_steps import (
    STEP,
    steps_by_tiles,
    steps_diagonal,
    steps_of_one,
)
from driftproof.toolkit.kernels.matrix_tile import WIDTH_BYTES, aligned
from driftproof.toolkit.stream_values import draw
from driftproof.toolkit.streams import Stream

GROUPS = 16
"""Groups of clients at most: threads that can take part, and partial sums to be added."""
FEW = 4
"""From so many replicates on, tiles that they do not fill are faster than one pass for each."""


@numba.njit(cache=True, parallel=True, error_model="numpy")
def local_steps(
    w: np.ndarray,
    matrices: np.ndarray,
    offsets: np.ndarray,
    shares: np.ndarray,
    xi: Stream,
    numbers: np.ndarray,
    first: int,
    steps: int,
    diagonal: bool,
    ends: np.ndarray,
    sums: np.ndarray,
) -> None:
    """Take local steps of all clients; add Σ_i share_i·z_i of each group to ``sums``.

    Args:
        w: where the clients start, [clients, 2d, replicates], or [1, …] where they agree.
        matrices: A_i, [clients, d, d].
        offsets: b_i, [clients, d].
        shares: each client's share in the average, [clients, replicates]; 0: not in the cohort.
        xi: the draws (ξ_x, ξ_y), or none.
        numbers: 1 − ηλ, 1 − η, η, ησ.
        first, steps: the number of the first step, which draws are keyed by, and how many.
        diagonal: whether every A_i is diagonal.
        ends: room for where the clients end, [clients, 2d, replicates], or none, [0, …].
        sums: [groups, 2d, replicates].
    """
    clients, dim = offsets.shape
    wide, groups = WIDTH_BYTES // w.itemsize, len(sums)
    for g in numba.prange(groups):
        z = aligned(4 * dim * wide, w).reshape(2, 2 * dim, wide)
        line = np.empty((2, 2 * dim), w.dtype)
        chosen, total = np.empty(w.shape[2], np.int64), sums[g]
        fixed = np.zeros(2 * dim, w.dtype)
        drawn = np.empty((steps, 1, xi.elements, w.shape[2]), w.dtype)
        draws = drawn.reshape(steps, xi.elements, w.shape[2])
        for k in range(g * clients // groups, (g + 1) * clients // groups):
            start, count = k if len(w) > 1 else 0, 0
            for r in range(len(chosen)):
                if shares[k, r] != 0:
                    chosen[count] = r
                    count += 1
            for i in range(dim):
                fixed[dim + i] = numbers[STEP] * offsets[k, i]
            if count > 0 and xi.elements > 0:
                draw(xi, first, k, 0, drawn)
            place = 0
            while place < count:
                if count - place < FEW and not diagonal:
                    own = chosen[place : place + 1]
                    for i in range(2 * dim):
                        line[0, i] = w[start, i, own[0]]
                    steps_of_one(line, matrices[k], fixed, numbers, steps, draws, own)
                    for i in range(2 * dim):
                        total[i, own[0]] += shares[k, own[0]] * line[steps % 2, i]
                        if len(ends) > 0:
                            ends[k, i, own[0]] = line[steps % 2, i]
                else:
                    own = chosen[place : min(place + wide, count)]
                    _copied(z[0], w[start], own)
                    if diagonal:
                        steps_diagonal(z, matrices, fixed, numbers, steps, draws, k, own)
                    else:
                        steps_by_tiles(z, matrices, fixed, numbers, steps, draws, k, own)
                    _added(z[steps % 2], own, shares[k], total)
                    if len(ends) > 0:
                        for i in range(2 * dim):
                            for j in range(len(own)):
                                ends[k, i, own[j]] = z[steps % 2, i, j]
                place += len(own)


@numba.njit(error_model="numpy")
def _copied(to: np.ndarray, start: np.ndarray, own: np.ndarray) -> None:
    """Copy the replicates in ``own`` to the first columns; fill up with zeros."""
    taken = len(own)
    if taken == own[-1] - own[0] + 1:  # neighbours, which vectorise
        these = start[:, own[0] :]
        for i in range(len(to)):
            for j in range(taken):
                to[i, j] = these[i, j]
    else:
        for i in range(len(to)):
            for j in range(taken):
                to[i, j] = start[i, own[j]]
    if taken < to.shape[1]:
        for i in range(len(to)):
            for j in range(taken, to.shape[1]):
                to[i, j] = 0


@numba.njit(error_model="numpy")
def _added(ends: np.ndarray, own: np.ndarray, shares: np.ndarray, total: np.ndarray) -> None:
    """Add to each replicate of the total its share of where the local steps ended."""
    taken = len(own)
    if taken == own[-1] - own[0] + 1:
        these, mine = total[:, own[0] :], shares[own[0] :]
        for i in range(len(ends)):
            for j in range(taken):
                these[i, j] += mine[j] * ends[i, j]
    else:
        for i in range(len(ends)):
            for j in range(taken):
                total[i, own[j]] += shares[own[j]] * ends[i, j]
