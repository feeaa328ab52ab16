r"""FedAvg's local steps on quadratic minimax problems, in one launch (Triton).

One program a (client, tile of replicates): x and y stay in registers for all τ steps, A_i and A_iᵀ
in shared memory, their products with x and y are the tensor cores' in double precision. Sizes are
padded to powers of two, at least 16. Up to 64 both copies of A_i fit beside each other; with 128
they would take 278 KB, more than a Hopper's 227 KB a program: see ``_triton_minimax_wide``.

The numbers are the plain steps' to the kernel's tolerance: a product is summed in the order of the
tensor cores, in the run's own precision ("ieee": no TF32, whose 10 bits would break it).
"""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor

from synthetic.kernels import _triton_minimax_wide as wide
from toolkit.kernels import device
from toolkit.kernels import triton_philox as philox

NARROW = {torch.float64: 64, torch.float32: 32}
"""The most rows of x whose products stay on the chip; single precision has no tensor cores that
round as it does, and its plain products take more registers."""
REPLICATES = 16
"""Of a tile: with more, sm_90 spills at 64 rows, and fewer programs share the work."""


def advance(ctx: Any, oracles: Any, algorithm: Any, state: Any, steps: int) -> tuple[Any, Tensor]:
    """Return the state after a round's steps of FedAvg, and 0: nobody asks for norms."""
    first, w, law = ctx.t, state.w, oracles.field_law(algorithm.batch)
    cohort = ctx.cohort(algorithm.cohort_size(ctx.clients), since=first)
    numbers = (algorithm.step_size, oracles.regulariser, oracles.noise)
    signs, batch = device.signs_of(law)
    clients, dim, replicates = len(w), w.shape[1] // 2, w.shape[2]
    mask = ctx.mask  # who is in no replicate's cohort of a tile takes no step
    members = w if mask is None else mask.contiguous()
    shared = (
        members, oracles.matrices.contiguous(), oracles.offsets.contiguous(),
        device.constants(numbers, w.dtype, ctx.device),
        device.key_of(ctx, law, "xi"), device.cumulative(batch, ctx.device), ctx.local.start,
        ctx.block, *device.start_of(ctx), steps,
    )  # fmt: skip
    batch, double = batch if signs else 0, w.dtype == torch.float64
    with device.current(ctx.device):
        if dim > NARROW[w.dtype]:
            buffers = torch.empty((2, *w.shape), dtype=w.dtype, device=w.device)
            buffers[:] = w  # both: who takes no step has moved from neither
            wide.local_steps[clients, triton.cdiv(replicates, wide.REPLICATES)](
                buffers, *shared, clients, dim, replicates, ROWS=wide.ROWS,
                CHUNK=16 if double else 32, R=wide.REPLICATES, BATCH=batch,
                SAMPLED=mask is not None, num_warps=4 if double else 8,
            )  # fmt: skip
            after = buffers[steps % 2]
        else:
            after = torch.empty(w.shape, dtype=w.dtype, device=w.device)
            width = max(16, triton.next_power_of_2(dim))
            _local_steps[clients, triton.cdiv(replicates, REPLICATES)](
                w, after, *shared, dim, replicates, *w.stride(), D=width, R=REPLICATES,
                BATCH=batch, SAMPLED=mask is not None, num_warps=4,
            )  # fmt: skip
    ctx.t = first + steps - 1
    weights = oracles.client_weights if algorithm.weighting == "samples" else None
    return type(state)(*cohort.average(after, weights=weights)), w.new_zeros(())


@triton.jit(do_not_specialize=["first_client", "block", "since", "steps", "dim", "replicates"])
def _local_steps(
    w: tl.tensor, out: tl.tensor, members: tl.tensor, matrices: tl.tensor, offsets: tl.tensor,
    numbers: tl.tensor,
    key: tl.tensor, cumulative: tl.tensor, first_client: tl.tensor, block: tl.tensor,
    clock: tl.tensor, since: tl.tensor, steps: tl.tensor, dim: tl.tensor, replicates: tl.tensor,
    by_client: tl.tensor, by_row: tl.tensor, by_replicate: tl.tensor, D: tl.constexpr,
    R: tl.constexpr, BATCH: tl.constexpr, SAMPLED: tl.constexpr,
) -> None:  # fmt: skip
    k, tile = tl.program_id(0).to(tl.int64), tl.program_id(1) * R
    i, j, r = tl.arange(0, D)[:, None], tl.arange(0, D)[None, :], tile + tl.arange(0, R)[None, :]
    eta, lam, noise = tl.load(numbers), tl.load(numbers + 1), tl.load(numbers + 2)
    first = tl.load(clock) + since
    inside, present = (i < dim) & (j < dim), (i < dim) & (r < replicates)
    a = tl.load(matrices + (k * dim + i) * dim + j, mask=inside, other=0.0)
    b = tl.load(offsets + k * dim + i, mask=i < dim, other=0.0)
    at = w + k * by_client + i * by_row + r * by_replicate
    x = tl.load(at, mask=present, other=0.0)
    y = tl.load(at + dim * by_row, mask=present, other=0.0)
    row = noise * (i == 0).to(x.dtype)
    if SAMPLED:
        steps = wide.steps_taken(members + k * replicates, r, replicates, steps)
    for t in range(steps):
        u = lam * x - tl.dot(tl.trans(a), y, input_precision="ieee", out_dtype=x.dtype)
        v = y - b + tl.dot(a, x, input_precision="ieee", out_dtype=x.dtype)
        if BATCH > 0:
            client = (first_client + k) + tl.arange(0, 1)
            u += row * philox.sign_mean(
                key, block, first + t, client, tile, cumulative, 0, 2, BATCH, R
            ).to(x.dtype)  # fmt: skip
            v += row * philox.sign_mean(
                key, block, first + t, client, tile, cumulative, 1, 2, BATCH, R
            ).to(x.dtype)  # fmt: skip
        x -= eta * u
        y -= eta * v
    to = out + (k * 2 * dim + i) * replicates + r
    tl.store(to, x, mask=present)
    tl.store(to + dim * replicates, y, mask=present)
