r"""FedAvg's local steps on wide quadratic minimax problems, in one launch (Triton).

One program a (client, tile of replicates). A_i does not fit in shared memory beside its transpose,
so it streams through it in chunks, from the second-level cache, in each local step; x and y lie in
one of two buffers, of which a step reads one and fills the other. A program reads nothing that
another one writes, so a barrier within it ends a step.
"""

from __future__ import annotations

import triton
import triton.language as tl

from toolkit.kernels import triton_philox as philox

ROWS, REPLICATES = 64, 32
"""Of a tile: two programs of it, in double precision, fill the registers of a multiprocessor."""


@triton.jit
def steps_taken(
    members: tl.tensor, r: tl.tensor, replicates: tl.tensor, steps: tl.tensor
) -> tl.tensor:
    """Return the steps of a client in a tile of replicates: none, if it is in no cohort there."""
    there = tl.load(members + r, mask=r < replicates, other=0.0)
    return steps * (tl.max(tl.max(there, 1), 0) > 0).to(tl.int32)


@triton.jit(do_not_specialize=["first_client", "block", "since", "steps", "clients"])
def local_steps(
    buffers: tl.tensor, members: tl.tensor, matrices: tl.tensor, offsets: tl.tensor,
    numbers: tl.tensor,
    key: tl.tensor, cumulative: tl.tensor, first_client: tl.tensor, block: tl.tensor,
    clock: tl.tensor, since: tl.tensor, steps: tl.tensor, clients: tl.tensor, dim: tl.tensor,
    replicates: tl.tensor, ROWS: tl.constexpr, CHUNK: tl.constexpr, R: tl.constexpr,
    BATCH: tl.constexpr, SAMPLED: tl.constexpr,
) -> None:  # fmt: skip
    """Move (x, y) from the first buffer into the one of the parity of ``steps``.

    Args:
        buffers: pointer to [2, clients, 2·dim, replicates].
        members: pointer to [clients, replicates], 1 in the cohort and 0 elsewhere (if SAMPLED).
    """
    k, tile = tl.program_id(0).to(tl.int64), tl.program_id(1) * R
    r = tile + tl.arange(0, R)[None, :]
    size = clients.to(tl.int64) * 2 * dim * replicates
    own, a = buffers + k * 2 * dim * replicates + r, matrices + k * dim * dim
    eta, lam, noise = tl.load(numbers), tl.load(numbers + 1), tl.load(numbers + 2)
    first = tl.load(clock) + since
    if SAMPLED:
        steps = steps_taken(members + k * replicates, r, replicates, steps)
    for t in range(steps):
        here, there = own + (t % 2) * size, own + ((t + 1) % 2) * size
        for start in range(0, dim, ROWS):
            i = start + tl.arange(0, ROWS)[:, None]
            u = tl.zeros([ROWS, R], dtype=noise.dtype)
            v = tl.zeros([ROWS, R], dtype=noise.dtype)
            for middle in range(0, dim, CHUNK):
                j = middle + tl.arange(0, CHUNK)
                inside = (i < dim) & (j < dim)[None, :]
                present = (j < dim)[:, None] & (r < replicates)
                at = j[:, None] * replicates
                x = tl.load(here + at, mask=present, other=0.0)
                y = tl.load(here + dim * replicates + at, mask=present, other=0.0)
                right = tl.load(a + i * dim + j[None, :], mask=inside, other=0.0)
                down = tl.load(a + j[None, :] * dim + i, mask=inside, other=0.0)
                u = tl.dot(down, y, u, input_precision="ieee", out_dtype=noise.dtype)
                v = tl.dot(right, x, v, input_precision="ieee", out_dtype=noise.dtype)
            present = (i < dim) & (r < replicates)
            at = i * replicates
            x = tl.load(here + at, mask=present, other=0.0)
            y = tl.load(here + dim * replicates + at, mask=present, other=0.0)
            u = lam * x - u
            v = y - tl.load(offsets + k * dim + i, mask=i < dim, other=0.0) + v
            if BATCH > 0:
                row, client = noise * (i == 0).to(u.dtype), first_client + k + tl.arange(0, 1)
                u += row * philox.sign_mean(
                    key, block, first + t, client, tile, cumulative, 0, 2, BATCH, R
                ).to(u.dtype)  # fmt: skip
                v += row * philox.sign_mean(
                    key, block, first + t, client, tile, cumulative, 1, 2, BATCH, R
                ).to(u.dtype)  # fmt: skip
            tl.store(there + at, x - eta * u, mask=present)
            tl.store(there + dim * replicates + at, y - eta * v, mask=present)
        tl.debug_barrier()
