r"""ComFedL's local steps on KL-DRO with the logistic loss, in one launch (Triton).

One program a (client, replicate): it draws its sample numbers, gathers a tile of rows at a time and
accumulates f_B and ∇f_B in one pass over them; w stays in registers for all τ steps. What a step
moves is the gathered rows, from the second-level cache where the clients' samples fit there. A row
lies over four threads, so that its score is summed within a warp and a load is 64 bytes wide.

The numbers are the plain steps' to the kernel's tolerance: the sums are trees, the logarithm is
log(1 + e^{−|s|}) and not log1p. Draws are the plain steps' to the bit.
"""

from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor

from driftproof.synthetic.kernels import _triton_philox as philox
from driftproof.toolkit.kernels import device

TILE = 8 << 10
"""Bytes of the rows that a program of two warps holds at a time."""


def advance(ctx: Any, oracles: Any, algorithm: Any, state: Any, steps: int) -> tuple[Any, float]:
    """Equal to ``steps`` repetitions of ``ComFedL.step`` from the start of a round."""
    first, w, model, batch = ctx.t, state.w, oracles.model, algorithm.batch
    law = oracles.inner_law(batch)
    cohort = ctx.cohort(algorithm.cohort_size(ctx.clients), since=first)
    clients, dim, replicates = w.shape
    ends = torch.empty((clients, replicates, dim), dtype=w.dtype, device=w.device)
    largest = torch.empty((clients, replicates), dtype=w.dtype, device=w.device)
    numbers = (algorithm.step_size, oracles.temperature)

    def counts() -> Tensor:
        return torch.tensor([len(x) for x in model.features]).to(w.device)

    width = triton.next_power_of_2(dim)
    part = min(width, 64 // w.element_size())  # of a row, 64 bytes: four threads share its score
    tile = min(triton.next_power_of_2(batch), max(1, TILE // (width * w.element_size())))
    with device.current(ctx.device):
        _local_steps[clients, replicates](
            w, ends, largest, model.rows, model.row_labels, model.starts,
            device.kept(oracles, "counts", counts), device.constants(numbers, w.dtype, ctx.device),
            device.stream_of(ctx, law, "xi"), first, steps, batch, dim, replicates,
            *w.stride(), TILE=tile, PARTS=width // part, PART=part,
            num_warps=2 if tile * width >= 1024 else 1,
        )  # fmt: skip
    ctx.t = first + steps - 1
    (averaged,) = cohort.average(ends.permute(0, 2, 1))
    return type(state)(averaged), float(largest.max()) ** 0.5


@triton.jit(do_not_specialize=["first", "steps", "batch", "replicates"])
def _local_steps(
    w: tl.tensor, out: tl.tensor, largest: tl.tensor, rows: tl.tensor, labels: tl.tensor,
    starts: tl.tensor, counts: tl.tensor, numbers: tl.tensor, stream: tl.tensor,
    first: tl.tensor, steps: tl.tensor, batch: tl.tensor, dim: tl.tensor, replicates: tl.tensor,
    by_client: tl.tensor, by_row: tl.tensor, by_replicate: tl.tensor, TILE: tl.constexpr,
    PARTS: tl.constexpr, PART: tl.constexpr,
) -> None:  # fmt: skip
    k, r = tl.program_id(0).to(tl.int64), tl.program_id(1)
    start, count = tl.load(starts + k), tl.load(counts + k)
    step_size, temperature = tl.load(numbers), tl.load(numbers + 1)
    i = tl.arange(0, PARTS)[:, None] * PART + tl.arange(0, PART)[None, :]
    x = tl.load(w + k * by_client + i * by_row + r * by_replicate, mask=i < dim, other=0.0)
    most = tl.zeros_like(step_size)
    for t in range(steps):
        gradient, value = tl.zeros_like(x), tl.zeros_like(step_size)
        for place in range(0, batch, TILE):
            j = place + tl.arange(0, TILE)
            taken = j < batch
            drawn = start + philox.sample_numbers(stream, first + t, k, j, r, count, batch)
            label = tl.load(labels + drawn, mask=taken, other=0.0)
            row = tl.load(
                rows + drawn[:, None, None] * dim + i[None, :, :],
                mask=taken[:, None, None] & (i < dim)[None, :, :],
                other=0.0,
            )
            score = label * tl.sum(tl.sum(row * x[None, :, :], 1), 1)
            small = tl.exp(-tl.abs(score))
            loss = tl.maximum(-score, 0.0) + tl.log(1.0 + small)
            value += tl.sum(tl.where(taken, loss, 0.0), 0)
            share = label * tl.where(score > 0, small, 1.0) / (1.0 + small)
            gradient -= tl.sum(share[:, None, None] * row, 0)
        x -= step_size * tl.exp(value / (batch * temperature)) / (temperature * batch) * gradient
        most = tl.maximum(most, tl.sum(tl.sum(x * x, 0), 0))
    tl.store(out + (k * replicates + r) * dim + i, x, mask=i < dim)
    tl.store(largest + k * replicates + r, most)
