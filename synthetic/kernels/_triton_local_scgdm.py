"""Local-SCGDM over any number of rounds in one launch (Triton): a program a tile of replicates.

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
    """Equal to ``steps`` repetitions of ``LocalSCGDM.step``."""
    first, period = ctx.t, algorithm.local_steps
    inner_law, outer_law = oracles.inner_law(1), oracles.outer_law(1)
    same = algorithm.samples == "one" and inner_law is not None and outer_law is not None
    eta = algorithm.step_size
    inner, outer = algorithm.inner_momentum * eta, algorithm.momentum * eta
    rates = (1 - inner, inner, 1 - outer, outer, algorithm.step_factor * eta)
    sent = {name: name in algorithm.averaged for name in ("x", "u", "m")}
    result = composed.launch(
        stretch, ctx, oracles, state, steps, record, jitter, rates=rates, batch=1,
        laws=(("xi", inner_law), ("zeta", None if same else outer_law)),
        period=period, XI=device.signs_of(inner_law)[0],
        ZETA=device.signs_of(outer_law)[0], SAME=same,
        **{f"SENDS_{name.upper()}": now for name, now in sent.items()},
    )  # fmt: skip
    averages = ((first + steps) // period - first // period) if any(sent.values()) else 0
    ctx.rounds += averages
    ctx.reals += averages * sum(getattr(state, name).shape[1] for name in sent if sent[name])
    return result


@triton.jit(do_not_specialize=composed.PLAIN_NUMBERS)
def stretch(
    x_in: tl.tensor, u_in: tl.tensor, m_in: tl.tensor, x_out: tl.tensor, u_out: tl.tensor,
    m_out: tl.tensor, x_path: tl.tensor, u_path: tl.tensor, m_path: tl.tensor, c: tl.tensor,
    own: tl.tensor, rates: tl.tensor, xi_key: tl.tensor, zeta_key: tl.tensor,
    cumulative: tl.tensor, first_client: tl.tensor, block: tl.tensor, first: tl.tensor,
    steps: tl.tensor, period: tl.tensor, clients: tl.tensor, dim: tl.tensor,
    inner_dim: tl.tensor, replicates: tl.tensor, seed: tl.tensor, K: tl.constexpr,
    N: tl.constexpr, R: tl.constexpr, XI: tl.constexpr, ZETA: tl.constexpr,
    SAME: tl.constexpr, BENDS: tl.constexpr, OPPOSES: tl.constexpr, SENDS_X: tl.constexpr,
    SENDS_U: tl.constexpr, SENDS_M: tl.constexpr, RECORD: tl.constexpr, SHAKES: tl.constexpr,
) -> None:  # fmt: skip
    """Take ``steps`` steps; states are [clients, rows, replicates], contiguous.

    Args:
        rates: pointer to 1 − γη, γη, 1 − αη, αη, βη and the shaking's size.
        XI, ZETA: signs that a client draws for g and for f (0: none); SAME: ζ is ξ's last sign.
    """
    tile = tl.program_id(0) * R
    numbers = tl.arange(0, K)
    k, i = numbers[:, None, None], tl.arange(0, N)[None, :, None]
    r = tile + tl.arange(0, R)[None, None, :]
    rank = tl.minimum(dim, inner_dim)
    present = k < clients
    of_x = present & (i < dim) & (r < replicates)
    of_u = present & (i < inner_dim) & (r < replicates)
    x_at, u_at = (k * dim + i) * replicates + r, (k * inner_dim + i) * replicates + r
    x = tl.load(x_in + x_at, mask=of_x, other=0.0)
    u = tl.load(u_in + u_at, mask=of_u, other=0.0)
    m = tl.load(m_in + x_at, mask=of_x, other=0.0)
    scale = composed.of_clients(own, composed.SCALE, numbers, clients)
    offset = composed.of_clients(own, composed.OFFSET, numbers, clients)
    target = composed.of_clients(own, composed.TARGET, numbers, clients)
    opposed = composed.of_clients(own, composed.OPPOSED, numbers, clients)
    keep_u, new_u = tl.load(rates), tl.load(rates + 1)
    keep_m, new_m = tl.load(rates + 2), tl.load(rates + 3)
    move, small = tl.load(rates + 4), tl.load(rates + 5)
    for step in range(steps):
        t = first + step
        if RECORD > 0:
            kept = 1
            if RECORD == 1:
                kept = clients
            at = tl.cast(step, tl.int64) * kept * replicates
            composed.keep(x, x_path + at * dim, k, i, r, clients, dim, replicates, RECORD)
            composed.keep(
                u, u_path + at * inner_dim, k, i, r, clients, inner_dim, replicates, RECORD
            )
            composed.keep(m, m_path + at * dim, k, i, r, clients, dim, replicates, RECORD)
        one = composed.sign(
            xi_key, block, t, numbers + first_client, tile, cumulative, scale, 0, XI, 1, R
        )
        last = composed.sign(
            xi_key,
            block,
            t,
            numbers + first_client,
            tile,
            cumulative,
            scale,
            max(XI - 1, 0),
            XI,
            1,
            R,
        )
        zeta = last
        if not SAME:
            zeta = composed.sign(
                zeta_key, block, t, numbers + first_client, tile, cumulative, scale, 0, ZETA, 1, R
            )
        y, slope = composed.inner(x, one, last, i, rank, c, scale, offset, BENDS, XI > 0)
        u = tl.where(t == 0, y, keep_u * u + new_u * y)
        z = composed.outer(u, zeta, i, c, target, opposed, OPPOSES, ZETA > 0) * slope
        m = tl.where(t == 0, z, keep_m * m + new_m * z)
        x -= move * m
        if (t + 1) % period == 0:
            if SENDS_X:
                x = composed.mean(x, present, clients) + tl.zeros_like(x)
            if SENDS_U:
                u = composed.mean(u, present, clients) + tl.zeros_like(u)
            if SENDS_M:
                m = composed.mean(m, present, clients) + tl.zeros_like(m)
        if SHAKES:
            place = (step * 3 * K + k) * N * R + i * R + (r - tile)
            x = composed.shake(x, small, seed + tl.program_id(0), place)
            u = composed.shake(u, small, seed + tl.program_id(0), place + K * N * R)
            m = composed.shake(m, small, seed + tl.program_id(0), place + 2 * K * N * R)
    tl.store(x_out + x_at, x, mask=of_x)
    tl.store(u_out + u_at, u, mask=of_u)
    tl.store(m_out + x_at, m, mask=of_x)
