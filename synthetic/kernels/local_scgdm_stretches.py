r"""Local-SCGDM over any number of rounds, fused.

One loop over steps and clients, with the replicates innermost; draws are made some steps ahead. A
client's step reads and writes x, u and m once: they stay in the first-level cache up to K(d + p) of
a few hundred reals at 64 replicates.
"""

from typing import Any

import numba
import numpy as np

from driftproof.synthetic.kernels import _composed as composed
from driftproof.synthetic.kernels._composed_cost import STEP_BY_STEP, Counted
from driftproof.toolkit.kernels.registry import Cost, fused
from driftproof.toolkit.stream_values import of_step, tile_for
from driftproof.toolkit.streams import Stream


def _cost(algorithm: Any, problem: Any, replicates: int, real: int) -> Cost:
    """Count g and ∇g, u (3p), ∇f, z (the rank), m (3d) and x (2d)."""
    of = Counted(problem, replicates)
    d, p = of.of.dim, of.of.inner_dim
    step = of.value().plus(of.slope(), of.outer(), 3 * p + of.rank + 5 * d)
    inner, outer = of.oracles.inner_law(1), of.oracles.outer_law(1)
    shared = algorithm.samples == "one" and inner is not None
    laws = (inner, None if shared else outer)
    sent = sum({"x": d, "u": p, "m": d}[name] for name in algorithm.averaged)
    return of.round(algorithm, step, laws, (d, p, d), sent, real)


@fused(
    name="local-scgdm-stretches",
    algorithm="local-scgdm",
    problem=("bounded-composition", "averaged-composition", "bias-amplification"),
    accepts=lambda algorithm, problem: algorithm.sampled_tasks in (0, algorithm.task_blocks),
    rows=lambda oracles: composed.rows(oracles, inside="u", outside=("x", "m")),
    cost=_cost,
    tolerance=STEP_BY_STEP,
    many_rounds=True,
)
def advance(
    ctx: Any, oracles: Any, algorithm: Any, state: Any, steps: int, record: str, **how: Any
) -> tuple[Any, float, Any]:
    """Equal to ``steps`` repetitions of ``LocalSCGDM.step``."""
    first, p, dtype = ctx.t, algorithm.local_steps, state.x.numpy().dtype
    xi = ctx.stream(oracles.inner_law(1), "xi", first, steps)
    outer_law = oracles.outer_law(1)
    single = algorithm.samples == "one" and xi.elements > 0 and outer_law is not None
    zeta = ctx.stream(None if single else outer_law, "zeta", first, steps)
    eta = algorithm.step_size
    rates = np.array(
        [
            1 - algorithm.inner_momentum * eta,
            algorithm.inner_momentum * eta,
            1 - algorithm.momentum * eta,
            algorithm.momentum * eta,
            algorithm.step_factor * eta,
        ],
        dtype,
    )
    sent = np.array([name in algorithm.averaged for name in ("x", "u", "m")])
    own = xi, zeta, single, *composed.numbers(oracles, dtype), rates, sent
    averages = ((first + steps) // p - first // p) if sent.any() else 0
    ctx.rounds += averages
    ctx.reals += averages * sum(x.shape[1] for x, now in zip(state, sent, strict=True) if now)
    return composed.advanced(_steps, ctx, state, own, steps, p, record=record, **how)


@numba.njit(cache=True, nogil=True)
def _steps(
    x: np.ndarray, u: np.ndarray, m: np.ndarray, xs: np.ndarray, us: np.ndarray, ms: np.ndarray,
    xi: Stream, zeta: Stream, single: bool, c: np.ndarray, own: np.ndarray, rates: np.ndarray,
    sent: np.ndarray, first: int, steps: int, p: int, seed: np.ndarray, replicate: int,
) -> None:  # fmt: skip
    """Move x, u and m, [clients, rows, replicates], in place.

    Args:
        single: whether the outer draw is the last element of the inner one.
    """
    clients, dim, replicates = x.shape
    rank = min(dim, u.shape[1])
    y, z = np.empty_like(u[0]), np.empty_like(u[0])
    keep_u, new_u, keep_m, new_m, move = rates
    nothing = c[composed.ONE] - c[composed.ONE]
    slope, size = np.empty((rank, replicates), x.dtype), np.empty(replicates, x.dtype)
    inner_tile, outer_tile = tile_for(xi, x), tile_for(zeta, x)
    for step in range(steps):
        t = first + step
        composed.keep(x, xs, step)
        composed.keep(u, us, step)
        composed.keep(m, ms, step)
        inside = of_step(xi, first, step, steps, replicate, inner_tile)
        outside = of_step(zeta, first, step, steps, replicate, outer_tile)
        if single:
            outside = inside[:, xi.elements - 1 :]
        for k in range(clients):
            composed.inner(x[k], inside[k], c, own[:, k], y, slope)
            for i in range(y.shape[0]):
                if t == 0:
                    for r in range(replicates):
                        u[k, i, r] = y[i, r]
                else:
                    for r in range(replicates):
                        u[k, i, r] = keep_u * u[k, i, r] + new_u * y[i, r]
            composed.outer(u[k], outside[k], c, own[:, k], size, z)
            for i in range(dim):
                if i >= rank:
                    for r in range(replicates):
                        moved = nothing if t == 0 else keep_m * m[k, i, r]
                        m[k, i, r] = moved
                        x[k, i, r] -= move * moved
                elif t == 0:
                    for r in range(replicates):
                        moved = z[i, r] * slope[i, r]
                        m[k, i, r] = moved
                        x[k, i, r] -= move * moved
                else:
                    for r in range(replicates):
                        moved = keep_m * m[k, i, r] + new_m * (z[i, r] * slope[i, r])
                        m[k, i, r] = moved
                        x[k, i, r] -= move * moved
        if (t + 1) % p == 0:
            if sent[0]:
                composed.share(x)
            if sent[1]:
                composed.share(u)
            if sent[2]:
                composed.share(m)
        if seed[0]:
            for field in (x, u, m):
                composed.shake(field, c[composed.SMALL], seed)
