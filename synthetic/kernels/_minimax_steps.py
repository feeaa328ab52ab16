r"""Local gradient descent-ascent on f_i = −[½‖y‖² − b_iᵀy + yᵀA_i x] + (λ/2)‖x‖², in numba.

A client's step takes z = (x, y) to

    x' = (1 − ηλ)x + η·A_iᵀy − ησξ_x e_1,    y' = (1 − η)y + η·b_i − η·A_i x − ησξ_y e_1.

Here are all steps of a client, [old and new, rows of z, replicates], in three ways:

* by tiles: both products in registers (``matrix_tile``), lanes along the replicates;
* of one replicate: one pass over A_i for both products, lanes along its columns;
* where A_i is diagonal: no product at all, 4·d operations and not 4·d².

They share their arguments: A_i is ``matrices[k]``; ``fixed`` [2d] is 0 and η·b_i; ``numbers`` are
1 − ηλ, 1 − η, η and ησ; ``draws`` are the client's (ξ_x, ξ_y), [steps, 2, replicates], or none,
[steps, 0, …]; ``own`` are the replicates that z has. The last step's z is ``z[steps % 2]``.
"""

import numba
import numpy as np

from driftproof.toolkit.kernels.matrix_tile import BYTES, ROWS, VECTORS, tile

KEEP_X, KEEP_Y, STEP, NOISE = range(4)
"""Places of 1 − ηλ, 1 − η, η and ησ in the array of numbers."""


@numba.njit(error_model="numpy")
def steps_by_tiles(
    z: np.ndarray,
    matrices: np.ndarray,
    fixed: np.ndarray,
    numbers: np.ndarray,
    steps: int,
    draws: np.ndarray,
    k: int,
    own: np.ndarray,
) -> None:
    """Step z [2, 2d, width], old and new in turn: x' by A_iᵀ and y, y' by A_i and x."""
    _, rows, width = z.shape
    dim, lanes = rows // 2, BYTES // z.itemsize
    vectors = -(-len(own) // lanes)
    for t in range(steps):
        old = (t % 2) * rows * width
        new = rows * width - old
        for half in range(2):
            # A_i has rows of dim entries; its transpose has them for columns
            if half == 0:
                keep, gain, down, along = numbers[KEEP_X], numbers[STEP], 1, dim
            else:
                keep, gain, down, along = numbers[KEEP_Y], -numbers[STEP], dim, 1
            for i in range(0, dim, ROWS):
                entries = (k * dim * dim + i * down, down, along)
                for v in range(0, vectors, VECTORS):
                    here = (half * dim + i) * width + v * lanes
                    others = (1 - half) * dim * width + v * lanes
                    tile(
                        z,
                        (new + here, old + here, old + others),
                        width,
                        matrices,
                        entries,
                        dim,
                        fixed,
                        half * dim + i,
                        keep,
                        gain,
                        (min(ROWS, dim - i), min(VECTORS, vectors - v)),
                    )
        if draws.shape[1] > 0:
            _shaken(z, 1 - t % 2, numbers[NOISE], draws[t], own)


@numba.njit(error_model="numpy", fastmath={"reassoc", "contract", "nsz"})
def steps_of_one(
    z: np.ndarray,
    a: np.ndarray,
    fixed: np.ndarray,
    numbers: np.ndarray,
    steps: int,
    draws: np.ndarray,
    own: np.ndarray,
) -> None:
    """Step one replicate, z [2, 2d]: four rows of A_i at a time, for A_i x and for A_iᵀy."""
    dim, step, zero = len(a), numbers[STEP], z.dtype.type(0)
    whole = dim // 4
    fours = a[: 4 * whole].reshape(whole, 4, dim)  # places that are not sums: loops vectorise
    for t in range(steps):
        old = t & 1
        new = 1 - old
        for l in range(dim):  # noqa: E741
            z[new, l] = numbers[KEEP_X] * z[old, l]
        for i in range(dim, 2 * dim):
            z[new, i] = numbers[KEEP_Y] * z[old, i] + fixed[i]
        for q in range(whole):
            i = dim + 4 * q
            s0 = s1 = s2 = s3 = zero
            y0, y1 = step * z[old, i], step * z[old, i + 1]
            y2, y3 = step * z[old, i + 2], step * z[old, i + 3]
            for l in range(dim):  # noqa: E741
                x, a0, a1 = z[old, l], fours[q, 0, l], fours[q, 1, l]
                a2, a3 = fours[q, 2, l], fours[q, 3, l]
                s0 += a0 * x
                s1 += a1 * x
                s2 += a2 * x
                s3 += a3 * x
                z[new, l] += a0 * y0 + a1 * y1 + a2 * y2 + a3 * y3
            z[new, i] -= step * s0
            z[new, i + 1] -= step * s1
            z[new, i + 2] -= step * s2
            z[new, i + 3] -= step * s3
        for i in range(4 * whole, dim):
            s0, y0 = zero, step * z[old, dim + i]
            for l in range(dim):  # noqa: E741
                s0 += a[i, l] * z[old, l]
                z[new, l] += a[i, l] * y0
            z[new, dim + i] -= step * s0
        if draws.shape[1] > 0:
            _shaken(z.reshape(2, 2 * dim, 1), new, numbers[NOISE], draws[t], own)


@numba.njit(error_model="numpy")
def steps_diagonal(
    z: np.ndarray,
    matrices: np.ndarray,
    fixed: np.ndarray,
    numbers: np.ndarray,
    steps: int,
    draws: np.ndarray,
    k: int,
    own: np.ndarray,
) -> None:
    """Step z [2, 2d, width] where A_i is diagonal: x_j and y_j move each other alone."""
    dim = len(fixed) // 2
    for t in range(steps):
        old = t & 1
        new = 1 - old
        for i in range(dim):
            gain, add = numbers[STEP] * matrices[k, i, i], fixed[dim + i]
            for j in range(len(own)):
                x, y = z[old, i, j], z[old, dim + i, j]
                z[new, i, j] = numbers[KEEP_X] * x + gain * y
                z[new, dim + i, j] = numbers[KEEP_Y] * y + add - gain * x
        if draws.shape[1] > 0:
            _shaken(z, new, numbers[NOISE], draws[t], own)


@numba.njit(error_model="numpy")
def _shaken(z: np.ndarray, new: int, size: float, draws: np.ndarray, own: np.ndarray) -> None:
    """Take size·ξ off the first entries of x and y."""
    half = z.shape[1] // 2
    for i in range(2):
        row, xi, first = z[new, i * half], draws[i], own[0]
        if own[-1] - first + 1 == len(own):  # neighbours, which vectorise
            these = xi[first:]
            for j in range(len(own)):
                row[j] -= size * these[j]
        else:
            for j in range(len(own)):
                row[j] -= size * xi[own[j]]
