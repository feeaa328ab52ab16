"""The oracles of ``synthetic.oracles.composed`` for Triton: all clients of a tile of replicates.

Tensors are [clients, rows, replicates], each axis padded to a power of two: rows beyond a vector's
own are 0 and stay 0, and clients beyond the last are left out of averages. ``c`` and ``own`` point
to the numbers of ``synthetic.kernels._composed``, whose places are spelled out here again because a
jitted function reads globals only as constants of its own language.

**Blocked** by replicates: a program holds every client of a few replicates in registers for all
steps (``device.tile_of``), so that an average over clients stays within a program, and no step
reads or writes memory but for the record. As few replicates as fill a warp make the most programs.

**Numbers** are the plain steps' to the kernel's tolerance: sums over rows and clients are trees and
not runs, and the sines are the device library's. Draws are those of the plain steps to the bit.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
import triton
import triton.language as tl

from toolkit.draws import Law
from toolkit.kernels import device
from toolkit.kernels import triton_philox as philox

PLAIN_NUMBERS = (
    "first_client", "block", "first", "steps", "period", "clients", "dim", "inner_dim",
    "replicates", "seed",
)  # fmt: skip
"""Arguments whose values make no other machine code."""
(LINE, SINE, RATE, VALUE, BENT, SLOPE, CURVE, KNEE, OUTER, O_SLOPE, O_CURVE, O_KNEE, CENTRE,
 H_SLOPE, H_CURVE, H_KNEE, H_NOISE) = (tl.constexpr(place) for place in range(17))  # fmt: skip
SCALE, OFFSET, TARGET, OPPOSED, TILT = (tl.constexpr(row) for row in range(5))


def launch(
    stretch: Any, ctx: Any, oracles: Any, state: Any, steps: int, record: str, jitter: int, *,
    rates: tuple[float, ...], batch: int, period: int, laws: tuple[tuple[str, Law | None], ...],
    **flags: Any,
) -> tuple[Any, float, Any]:  # fmt: skip
    """Run a kernel over some steps; return the state, 0.0 and, if ``record``, the path.

    Args:
        rates: the algorithm's numbers; the size of the shaking is added.
        laws: the draws' names and laws, in the kernel's order.
        flags: the kernel's own constants.
    """
    from synthetic.kernels._composed import numbers

    of, dtype = oracles.parts, state[0].dtype
    fields = [x.contiguous() for x in state]
    clients, _, replicates = fields[0].shape
    tile = device.tile_of(clients, max(of.dim, of.inner_dim), replicates, batch)
    assert tile is not None, "more than one program holds: see fits_one_program"

    def put() -> list[torch.Tensor]:
        kind = np.dtype(str(dtype).removeprefix("torch."))
        given = (np.ascontiguousarray(x) for x in numbers(oracles, kind))
        return [torch.from_numpy(x).to(ctx.device) for x in given]

    outputs = [torch.empty_like(x) for x in fields]
    kept = {"": 0, "all": clients, "mean": 1}[record]
    path = [x.new_empty((steps if record else 0, kept, *x.shape[1:])) for x in fields]
    shaking = float(torch.finfo(dtype).eps)
    with device.current(ctx.device):
        stretch[(-(-replicates // tile.replicates),)](
            *fields, *outputs, *path, *device.kept(oracles, ("numbers", dtype), put),
            device.constants((*rates, shaking), dtype, ctx.device),
            *(device.key_of(ctx, law, name) for name, law in laws),
            device.cumulative(batch, ctx.device), ctx.local.start, ctx.block, ctx.t, steps, period,
            clients, of.dim, of.inner_dim, replicates, jitter, K=tile.clients, N=tile.rows,
            R=tile.replicates, BENDS=of.share != 0, OPPOSES=of.opposition_slope != 0,
            RECORD=["", "all", "mean"].index(record), SHAKES=jitter != 0, num_warps=tile.warps,
            **flags,
        )  # fmt: skip
    ctx.t += steps - 1
    kind = type(state)
    return kind(*outputs), 0.0, kind(*path) if record else None


@triton.jit
def of_clients(own: tl.tensor, ROW: tl.constexpr, k: tl.tensor, clients: tl.tensor) -> tl.tensor:
    """Return one row of the clients' numbers, [clients, 1, 1]."""
    return tl.load(own + ROW * clients + k, mask=k < clients, other=0.0)[:, None, None]


@triton.jit
def inner(x: tl.tensor, value_sign: tl.tensor, slope_sign: tl.tensor, i: tl.tensor,
          rank: tl.tensor, c: tl.tensor, scale: tl.tensor, offset: tl.tensor, BENDS: tl.constexpr,
          NOISY: tl.constexpr) -> tl.tensor:  # fmt: skip
    """Return g_k(x; ξ) and the diagonal of ∇g_k.

    Args:
        value_sign, slope_sign: the first and the last sign of ξ, [clients, 1, replicates].
        i: the rows' numbers, [1, rows, 1].
        BENDS: whether the map has a sine.
        NOISY: whether there is a ξ.
    """
    first, inside = (i == 0).to(x.dtype), (i < rank).to(x.dtype)
    line = tl.load(c + LINE)
    y, slope = line * x, line + tl.zeros_like(x)
    if BENDS:
        sine, rate = tl.load(c + SINE), tl.load(c + RATE)
        y += sine * tl.sin(rate * x)
        slope += sine * rate * tl.cos(rate * x)
    y, slope = scale * y * inside, scale * slope * inside
    if NOISY:
        bent = tl.load(c + BENT) * slope_sign
        y += first * (tl.load(c + VALUE) * value_sign + bent * tl.sin(x))
        slope += first * (bent * tl.cos(x))
    return y + first * offset, slope


@triton.jit
def huber(z: tl.tensor, slope: tl.tensor, curve: tl.tensor, knee: tl.tensor) -> tl.tensor:
    """Return ∇H(z) = min(L, G/‖z‖) z, the norm taken over rows."""
    norm = tl.sqrt(tl.sum(z * z, 1))[:, None, :]
    return tl.where(norm <= knee, curve, slope / tl.maximum(norm, knee)) * z


@triton.jit
def outer(y: tl.tensor, zeta: tl.tensor, i: tl.tensor, c: tl.tensor, target: tl.tensor,
          opposed: tl.tensor, OPPOSES: tl.constexpr, NOISY: tl.constexpr) -> tl.tensor:  # fmt: skip
    """Return ∇f_k(y; ζ)."""
    first = (i == 0).to(y.dtype)
    gradient = huber(y - first * target, tl.load(c + SLOPE), tl.load(c + CURVE), tl.load(c + KNEE))
    if OPPOSES:
        gradient += opposed * huber(
            y - first * tl.load(c + CENTRE), tl.load(c + O_SLOPE), tl.load(c + O_CURVE),
            tl.load(c + O_KNEE),
        )  # fmt: skip
    if NOISY:
        gradient += first * (tl.load(c + OUTER) * zeta)
    return gradient


@triton.jit
def plain(x: tl.tensor, xi: tl.tensor, i: tl.tensor, c: tl.tensor, tilt: tl.tensor,
          CURVED: tl.constexpr, NOISY: tl.constexpr) -> tl.tensor:  # fmt: skip
    """Return ∇h_k(x; ξ)."""
    first = (i == 0).to(x.dtype)
    gradient = first * tilt + tl.zeros_like(x)
    if CURVED:
        gradient += huber(x, tl.load(c + H_SLOPE), tl.load(c + H_CURVE), tl.load(c + H_KNEE))
    if NOISY:
        gradient += first * (tl.load(c + H_NOISE) * xi)
    return gradient


@triton.jit
def sign(key: tl.tensor, block: tl.tensor, step: tl.tensor, numbers: tl.tensor, first: tl.tensor,
         cumulative: tl.tensor, like: tl.tensor, ELEMENT: tl.constexpr, ELEMENTS: tl.constexpr,
         BATCH: tl.constexpr, REPLICATES: tl.constexpr) -> tl.tensor:  # fmt: skip
    """Return one element of a draw, [clients, 1, replicates], in the precision of ``like``."""
    if ELEMENTS == 0:
        signs = tl.zeros_like(like)
    else:
        drawn = philox.sign_mean(
            key, block, step, numbers, first, cumulative, ELEMENT, ELEMENTS, BATCH, REPLICATES
        )
        signs = drawn.to(like.dtype)[:, None, :]
    return signs


@triton.jit
def mean(x: tl.tensor, present: tl.tensor, clients: tl.tensor) -> tl.tensor:
    """Return the mean over clients, [1, rows, replicates]."""
    return tl.sum(tl.where(present, x, 0.0), 0)[None, :, :] / clients


@triton.jit
def keep(x: tl.tensor, to: tl.tensor, k: tl.tensor, i: tl.tensor, r: tl.tensor,
         clients: tl.tensor, rows: tl.tensor, replicates: tl.tensor,
         RECORD: tl.constexpr) -> None:  # fmt: skip
    """Store [clients, rows, replicates] (RECORD 1) or its mean over clients (RECORD 2)."""
    inside = (i < rows) & (r < replicates)
    if RECORD == 1:
        tl.store(to + (k * rows + i) * replicates + r, x, mask=inside & (k < clients))
    if RECORD == 2:
        tl.store(to + i * replicates + r, mean(x, k < clients, clients), mask=inside)


@triton.jit
def shake(x: tl.tensor, small: tl.tensor, seed: tl.tensor, place: tl.tensor) -> tl.tensor:
    """Move every entry by about a unit in its last place, up or down (Monte Carlo arithmetic)."""
    up = (tl.randint(seed, place) & 1) == 1
    return x + tl.where(up, small, -small) * x
