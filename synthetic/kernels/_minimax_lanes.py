r"""A round of local gradient descent-ascent of few replicates, with small matrices, in numba.

With the replicates in the lanes of vector registers (``_minimax_round``), one replicate fills one
lane. Here neighbouring clients are in the lanes, each with its matrix, so that lanes are full
whatever the number of replicates (``tile_of_lanes``). A lane's matrices have to stay in a cache
for all steps of a round, which bounds their size.
"""

from typing import Any

import numba
import numpy as np

from driftproof.synthetic.kernels._minimax_round import FEW
from driftproof.synthetic.kernels._minimax_steps import KEEP_X, KEEP_Y, NOISE, STEP
from driftproof.synthetic.kernels._nested_minimax import Data
from driftproof.toolkit.kernels.device import kept
from driftproof.toolkit.kernels.matrix_tile import BYTES, ROWS, aligned, tile_of_lanes
from driftproof.toolkit.kernels.replicates import spread
from driftproof.toolkit.stream_values import draw
from driftproof.toolkit.streams import Stream

CACHE = 2**14
"""Bytes of the matrices that go together: half of a first-level cache."""
LEAST = 2**20
"""Entries of matrices, times steps, from which on it is worth while to wake other threads."""


def serves(of: Data, replicates: int) -> bool:
    """Say whether a round of all clients is faster so."""
    return replicates < FEW and not of.diagonal and of.matrices.shape[1] ** 2 * BYTES <= CACHE


def local_steps(
    oracles: Any,
    of: Data,
    w: np.ndarray,
    shares: np.ndarray,
    xi: Stream,
    numbers: np.ndarray,
    first: int,
    steps: int,
    ends: np.ndarray,
) -> np.ndarray:
    """Take local steps of all clients; return their weighted mean, [2d, replicates].

    The other arguments are those of ``_minimax_round.local_steps``.
    """
    matrices: np.ndarray = kept(oracles, "minimax lanes", lambda: _in_lanes(of.matrices))
    groups, dim = matrices.shape[:2]
    sums = np.empty((groups, 2 * dim, w.shape[2]), w.dtype)
    given = w, matrices, of.offsets, shares, xi, numbers, first, steps, ends, sums
    if steps * matrices.size < LEAST:
        _groups(0, groups, *given)
    else:
        spread(lambda begin, end: _groups(begin, end, *given), groups)
    return _mean(sums, shares)


def _in_lanes(matrices: np.ndarray) -> np.ndarray:
    """Return A_i of neighbouring clients side by side, [groups, d, d, lanes], zeros at the end."""
    clients, dim, _ = matrices.shape
    lanes = BYTES // matrices.itemsize
    groups = -(-clients // lanes)
    padded = np.zeros((groups * lanes, dim, dim), matrices.dtype)
    padded[:clients] = matrices
    return np.ascontiguousarray(padded.reshape(groups, lanes, dim, dim).transpose(0, 2, 3, 1))


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _groups(
    begin: int,
    end: int,
    w: np.ndarray,
    matrices: np.ndarray,
    offsets: np.ndarray,
    shares: np.ndarray,
    xi: Stream,
    numbers: np.ndarray,
    first: int,
    steps: int,
    ends: np.ndarray,
    sums: np.ndarray,
) -> None:
    """Take the steps of the clients of some groups."""
    _, dim, _, lanes = matrices.shape
    rows, replicates = 2 * dim, w.shape[2]
    z = aligned(2 * rows * lanes, w).reshape(2, rows, lanes)
    fixed = np.zeros((rows, lanes), w.dtype)
    drawn = np.empty((steps, lanes, xi.elements, replicates), w.dtype)
    for g in range(begin, end):
        client = g * lanes
        taken = min(lanes, len(offsets) - client)
        for i in range(dim):
            for c in range(taken):
                fixed[dim + i, c] = numbers[STEP] * offsets[client + c, i]
        if xi.elements > 0:
            draw(xi, first, client, 0, drawn[:, :taken])
        for r in range(replicates):
            for i in range(rows):
                for c in range(lanes):
                    z[0, i, c] = 0 if c >= taken else w[client + c if len(w) > 1 else 0, i, r]
            for t in range(steps):
                _step(z, t % 2, matrices, g, fixed, numbers)
                if xi.elements > 0:
                    for c in range(taken):
                        z[1 - t % 2, 0, c] -= numbers[NOISE] * drawn[t, c, 0, r]
                        z[1 - t % 2, dim, c] -= numbers[NOISE] * drawn[t, c, 1, r]
            last = z[steps % 2]
            for i in range(rows):
                total = w.dtype.type(0)
                for c in range(taken):
                    total += shares[client + c, r] * last[i, c]
                sums[g, i, r] = total
            if len(ends) > 0:
                for c in range(taken):
                    for i in range(rows):
                        ends[client + c, i, r] = last[i, c]


@numba.njit(cache=True, error_model="numpy")
def _mean(sums: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """Return the groups' sums over the sum of shares, [rows, replicates]."""
    mean = np.zeros(sums.shape[1:], sums.dtype)
    for r in range(mean.shape[1]):
        whole = sums.dtype.type(0)
        for k in range(len(shares)):
            whole += shares[k, r]
        for i in range(len(mean)):
            for g in range(len(sums)):
                mean[i, r] += sums[g, i, r]
            mean[i, r] /= whole
    return mean


@numba.njit(error_model="numpy")
def _step(
    z: np.ndarray, old: int, matrices: np.ndarray, g: int, fixed: np.ndarray, numbers: np.ndarray
) -> None:
    """Step z [2, 2d, lanes], old and new: x' by A_iᵀ and y, y' by A_i and x."""
    _, rows, lanes = z.shape
    dim = rows // 2
    before = old * rows * lanes
    after = rows * lanes - before
    for half in range(2):
        if half == 0:
            keep, gain, down, along = numbers[KEEP_X], numbers[STEP], lanes, dim * lanes
        else:
            keep, gain, down, along = numbers[KEEP_Y], -numbers[STEP], dim * lanes, lanes
        others = before + (1 - half) * dim * lanes
        for i in range(0, dim, ROWS):
            row = half * dim + i
            places = after + row * lanes, before + row * lanes, others
            entries = g * dim * dim * lanes + i * down, down, along
            tile_of_lanes(
                z,
                places,
                lanes,
                matrices,
                entries,
                dim,
                fixed,
                row,
                keep,
                gain,
                (min(ROWS, dim - i), 1),
            )
