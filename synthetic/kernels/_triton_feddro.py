"""FedDRO over any number of rounds in one launch (Triton): a program a tile of replicates.

``_triton_composed`` says how the tile is chosen, and how near its numbers are to the plain steps'.
"""

from __future__ import annotations

from typing import Any

import triton
import triton.language as tl

from synthetic.kernels import _triton_composed as composed
from toolkit.kernels import device


def advance(
    ctx: Any, oracles: Any, algorithm: Any, state: Any, steps: int, record: str, jitter: int
) -> tuple[Any, float, Any]:
    """Equal to ``steps`` repetitions of ``FedDRO.step``."""
    first, period = ctx.t, algorithm.local_steps
    inner_law, plain_law = (f(algorithm.batch) for f in (oracles.inner_law, oracles.plain_law))
    result = composed.launch(
        stretch, ctx, oracles, state, steps, record, jitter, batch=algorithm.batch,
        rates=(1 - algorithm.momentum, algorithm.step_size),
        laws=(("zeta", inner_law), ("xi", plain_law)), period=period,
        ZETA=device.signs_of(inner_law)[0], XI=device.signs_of(plain_law)[0],
        BATCH=algorithm.batch, GIVEN=algorithm.first_step == "given",
        CURVED=oracles.parts.plain_slope != 0,
    )  # fmt: skip
    averages = (first + steps) // period - first // period
    ctx.rounds += averages + steps
    ctx.reals += averages * state.x.shape[1] + steps * state.y.shape[1]
    return result


@triton.jit(do_not_specialize=composed.PLAIN_NUMBERS)
def stretch(
    x_in: tl.tensor, before_in: tl.tensor, y_in: tl.tensor, x_out: tl.tensor,
    before_out: tl.tensor, y_out: tl.tensor, x_path: tl.tensor, before_path: tl.tensor,
    y_path: tl.tensor, c: tl.tensor, own: tl.tensor, rates: tl.tensor, zeta_key: tl.tensor,
    xi_key: tl.tensor, cumulative: tl.tensor, first_client: tl.tensor, block: tl.tensor,
    first: tl.tensor, steps: tl.tensor, period: tl.tensor, clients: tl.tensor, dim: tl.tensor,
    inner_dim: tl.tensor, replicates: tl.tensor, seed: tl.tensor, K: tl.constexpr,
    N: tl.constexpr, R: tl.constexpr, ZETA: tl.constexpr, XI: tl.constexpr,
    BATCH: tl.constexpr, BENDS: tl.constexpr, OPPOSES: tl.constexpr, CURVED: tl.constexpr,
    GIVEN: tl.constexpr, RECORD: tl.constexpr, SHAKES: tl.constexpr,
) -> None:  # fmt: skip
    """Take ``steps`` steps; states are [clients, rows, replicates], contiguous.

    Args:
        rates: pointer to 1 − β, η and the shaking's size.
        ZETA, XI: signs that a client draws for g and for h (0: none), means of BATCH each.
        GIVEN: whether step 0 keeps the embedding that it is given.
    """
    tile = tl.program_id(0) * R
    numbers = tl.arange(0, K)
    k, i = numbers[:, None, None], tl.arange(0, N)[None, :, None]
    r = tile + tl.arange(0, R)[None, None, :]
    rank = tl.minimum(dim, inner_dim)
    present = k < clients
    of_x = present & (i < dim) & (r < replicates)
    of_y = present & (i < inner_dim) & (r < replicates)
    x_at, y_at = (k * dim + i) * replicates + r, (k * inner_dim + i) * replicates + r
    x = tl.load(x_in + x_at, mask=of_x, other=0.0)
    before = tl.load(before_in + x_at, mask=of_x, other=0.0)
    y = tl.load(y_in + y_at, mask=of_y, other=0.0)
    scale = composed.of_clients(own, composed.SCALE, numbers, clients)
    offset = composed.of_clients(own, composed.OFFSET, numbers, clients)
    target = composed.of_clients(own, composed.TARGET, numbers, clients)
    opposed = composed.of_clients(own, composed.OPPOSED, numbers, clients)
    tilt = composed.of_clients(own, composed.TILT, numbers, clients)
    remember, move, small = tl.load(rates), tl.load(rates + 1), tl.load(rates + 2)
    for step in range(steps):
        t = first + step
        if RECORD > 0:
            kept = 1
            if RECORD == 1:
                kept = clients
            at = tl.cast(step, tl.int64) * kept * replicates
            composed.keep(x, x_path + at * dim, k, i, r, clients, dim, replicates, RECORD)
            composed.keep(before, before_path + at * dim, k, i, r, clients, dim, replicates, RECORD)
            composed.keep(y, y_path + at * inner_dim, k, i, r, clients, inner_dim, replicates,
                          RECORD)  # fmt: skip
        one = composed.sign(zeta_key, block, t, numbers + first_client, tile, cumulative, scale,
                            0, ZETA, BATCH, R)  # fmt: skip
        last = composed.sign(zeta_key, block, t, numbers + first_client, tile, cumulative, scale,
                             max(ZETA - 1, 0), ZETA, BATCH, R)  # fmt: skip
        xi = composed.sign(xi_key, block, t, numbers + first_client, tile, cumulative, scale,
                           0, XI, BATCH, R)  # fmt: skip
        g, slope = composed.inner(x, one, last, i, rank, c, scale, offset, BENDS, ZETA > 0)
        old, _ = composed.inner(before, one, last, i, rank, c, scale, offset, BENDS, ZETA > 0)
        moved = remember * (y - old) + g
        if GIVEN:
            moved = tl.where(t == 0, y, moved)
        y = composed.mean(moved, present, clients) + tl.zeros_like(y)
        before = x
        z = composed.outer(y, xi, i, c, target, opposed, OPPOSES, False) * slope
        x -= move * (composed.plain(x, xi, i, c, tilt, CURVED, XI > 0) + z)
        if (t + 1) % period == 0:
            x = composed.mean(x, present, clients) + tl.zeros_like(x)
        if SHAKES:
            place = (step * 3 * K + k) * N * R + i * R + (r - tile)
            x = composed.shake(x, small, seed + tl.program_id(0), place)
            before = composed.shake(before, small, seed + tl.program_id(0), place + K * N * R)
            y = composed.shake(y, small, seed + tl.program_id(0), place + 2 * K * N * R)
    tl.store(x_out + x_at, x, mask=of_x)
    tl.store(before_out + x_at, before, mask=of_x)
    tl.store(y_out + y_at, y, mask=of_y)
