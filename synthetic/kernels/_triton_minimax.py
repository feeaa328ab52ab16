r"""FedAvg's local steps on quadratic minimax problems, in one launch (Triton).

One program a (client, tile of replicates). A_i streams through shared memory in chunks in each
local step, from the second-level cache: beside its transpose it would not fit there. x and y lie in
one of two buffers, of which a step reads one and fills the other. A program reads nothing that
another one writes, so a barrier within it ends a step.

The products are the tensor cores' in double precision. The numbers are the plain steps' to the
kernel's tolerance: a product is summed in the order of the tensor cores, in the run's own precision
("ieee": no TF32, whose 10 bits would break it).
"""

from typing import Any

import torch
import triton
import triton.language as tl

from driftproof.synthetic.kernels import _triton_philox as philox
from driftproof.toolkit.kernels import device

ROWS, REPLICATES = 64, 32
"""Of a tile at most: two programs of it, in double precision, fill a multiprocessor's registers."""
LEAST = 16
"""Rows, columns and depth of the smallest product of matrices."""


def advance(ctx: Any, oracles: Any, algorithm: Any, state: Any, steps: int) -> tuple[Any, float]:
    """Equal to ``steps`` repetitions of ``FedAvg.step``; nobody asks for the largest norm."""
    first, w, law = ctx.t, state.w, oracles.field_law(algorithm.batch)
    cohort = ctx.cohort(algorithm.cohort_size(ctx.clients), since=first)
    numbers = (algorithm.step_size, oracles.regulariser, oracles.noise)
    clients, dim, replicates = len(w), w.shape[1] // 2, w.shape[2]
    batch, mask = device.signs_of(law), ctx.mask
    buffers = torch.empty((2, *w.shape), dtype=w.dtype, device=w.device)
    with device.current(ctx.device):
        _local_steps[clients, triton.cdiv(replicates, REPLICATES)](
            w, buffers, w if mask is None else mask.contiguous(), oracles.matrices.contiguous(),
            oracles.offsets.contiguous(), device.constants(numbers, w.dtype, ctx.device),
            device.stream_of(ctx, law, "xi"), device.cumulative(max(batch, 1), ctx.device),
            first, steps, clients, dim, replicates, *w.stride(),
            ROWS=min(ROWS, max(LEAST, triton.next_power_of_2(dim))),
            CHUNK=LEAST, R=REPLICATES, BATCH=batch, SAMPLED=mask is not None, num_warps=4,
        )  # fmt: skip
    ctx.t = first + steps - 1
    weights = oracles.client_weights if algorithm.weighting == "samples" else None
    return type(state)(*cohort.average(buffers[steps % 2], weights=weights)), 0.0


@triton.jit(do_not_specialize=["first", "steps", "clients"])
def _local_steps(
    w: tl.tensor, buffers: tl.tensor, members: tl.tensor, matrices: tl.tensor, offsets: tl.tensor,
    numbers: tl.tensor, stream: tl.tensor, cumulative: tl.tensor, first: tl.tensor,
    steps: tl.tensor, clients: tl.tensor, dim: tl.tensor, replicates: tl.tensor,
    by_client: tl.tensor, by_row: tl.tensor, by_replicate: tl.tensor, ROWS: tl.constexpr,
    CHUNK: tl.constexpr, R: tl.constexpr, BATCH: tl.constexpr, SAMPLED: tl.constexpr,
) -> None:  # fmt: skip
    """Move (x, y) from w into the buffer of the parity of ``steps``.

    Args:
        w: pointer to [clients, 2·dim, replicates], of any strides.
        buffers: pointer to [2, clients, 2·dim, replicates].
        members: pointer to [clients, replicates], 1 in the cohort and 0 elsewhere (if SAMPLED).
    """
    k, tile = tl.program_id(0).to(tl.int64), tl.program_id(1) * R
    r = tile + tl.arange(0, R)[None, :]
    size = clients.to(tl.int64) * 2 * dim * replicates
    own, a = buffers + k * 2 * dim * replicates + r, matrices + k * dim * dim
    eta, lam, noise = tl.load(numbers), tl.load(numbers + 1), tl.load(numbers + 2)
    begin = own
    if SAMPLED:
        chosen = tl.load(members + k * replicates + r, mask=r < replicates, other=0.0)
        moves = (tl.max(tl.max(chosen, 1), 0) > 0).to(tl.int32)
        begin += (1 - moves) * (steps % 2) * size  # one in no cohort of the tile ends where it is
        steps = steps * moves
    for start in range(0, 2 * dim, ROWS):
        i = start + tl.arange(0, ROWS)[:, None]
        present = (i < 2 * dim) & (r < replicates)
        value = tl.load(w + k * by_client + i * by_row + r * by_replicate, mask=present)
        tl.store(begin + i * replicates, value, mask=present)
    tl.debug_barrier()
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
                row, client = noise * (i == 0).to(u.dtype), k + tl.arange(0, 1)
                u += row * philox.sign_mean(
                    stream, first + t, client, tile, cumulative, 0, 2, BATCH, R
                ).to(u.dtype)
                v += row * philox.sign_mean(
                    stream, first + t, client, tile, cumulative, 1, 2, BATCH, R
                ).to(u.dtype)
            tl.store(there + at, x - eta * u, mask=present)
            tl.store(there + dim * replicates + at, y - eta * v, mask=present)
        tl.debug_barrier()
