r"""FedDRO over any number of rounds, fused.

One loop over steps and clients, with the replicates innermost (``_composed``). A step is two passes
over the clients, since the embedding is averaged between them: g_k at x and at the x before it,
then the moves. Draws are made for some steps ahead, into a tile that stays in a cache.
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
    """Count g and ∇g at x, g at the x before it, y and its mean (4p), ∇f, ∇h, u, and x (2d)."""
    of = Counted(problem, replicates)
    d, p = of.of.dim, of.of.inner_dim
    beside = 4 * p + 2 * of.rank + 2 * d
    step = of.value().plus(of.value(), of.slope(), of.outer(), of.plain(), beside)
    laws = [f(algorithm.batch) for f in (of.oracles.inner_law, of.oracles.plain_law)]
    return of.round(algorithm, step, laws, (d, d, p), d, real)


@fused(
    name="feddro-stretches",
    algorithm="feddro",
    problem=("bounded-composition", "averaged-composition", "bias-amplification"),
    rows=lambda oracles: composed.rows(oracles, inside="y", outside=("x", "x_previous")),
    cost=_cost,
    tolerance=STEP_BY_STEP,
    many_rounds=True,
)
def advance(
    ctx: Any, oracles: Any, algorithm: Any, state: Any, steps: int, record: str, **how: Any
) -> tuple[Any, float, Any]:
    """Equal to ``steps`` repetitions of ``FedDRO.step``."""
    first, period = ctx.t, algorithm.local_steps
    dtype = state.x.numpy().dtype
    inner_law, plain_law = (f(algorithm.batch) for f in (oracles.inner_law, oracles.plain_law))
    zeta = ctx.stream(inner_law, "zeta", first, steps)
    xi = ctx.stream(plain_law, "xi", first, steps)
    rates = np.array([1 - algorithm.momentum, algorithm.step_size], dtype)
    given = algorithm.first_step == "given"
    own = zeta, xi, *composed.numbers(oracles, dtype), rates, given
    averages = (first + steps) // period - first // period
    ctx.rounds += averages + steps
    ctx.reals += averages * state.x.shape[1] + steps * state.y.shape[1]
    return composed.advanced(_steps, ctx, state, own, steps, period, record=record, **how)


@numba.njit(cache=True, nogil=True)
def _steps(
    x: np.ndarray, before: np.ndarray, y: np.ndarray, xs: np.ndarray, befores: np.ndarray,
    ys: np.ndarray, zeta: Stream, xi: Stream, c: np.ndarray, own: np.ndarray,
    rates: np.ndarray, given: bool, first: int, steps: int, period: int, seed: np.ndarray,
    replicate: int,
) -> None:  # fmt: skip
    """Move x, the x before it and the shared y, [clients, rows, replicates], in place."""
    clients, dim, replicates = x.shape
    rank = min(dim, y.shape[1])
    z, old = np.empty_like(y[0]), np.empty_like(y[0])
    g, u = np.empty_like(y), np.empty_like(x[0])
    nothing = np.empty((0, replicates), x.dtype)
    keep, move = rates
    slope, size = np.empty((clients, rank, replicates), x.dtype), np.empty(replicates, x.dtype)
    spare = np.empty((rank, replicates), x.dtype)
    inner_tile, plain_tile = tile_for(zeta, x), tile_for(xi, x)
    for step in range(steps):
        t = first + step
        composed.keep(x, xs, step)
        composed.keep(before, befores, step)
        composed.keep(y, ys, step)
        inside = of_step(zeta, first, step, steps, replicate, inner_tile)
        beside = of_step(xi, first, step, steps, replicate, plain_tile)
        for k in range(clients):
            composed.inner(x[k], inside[k], c, own[:, k], g[k], slope[k])
            if t > 0 or not given:
                composed.inner(before[k], inside[k], c, own[:, k], old, spare)
                for i in range(old.shape[0]):
                    for r in range(replicates):
                        y[k, i, r] = keep * (y[k, i, r] - old[i, r]) + g[k, i, r]
        composed.share(y)
        composed.copy(x, before)
        for k in range(clients):
            composed.outer(y[k], nothing, c, own[:, k], size, z)
            composed.plain(x[k], beside[k], c, own[:, k], size, u)
            for i in range(rank):
                for r in range(replicates):
                    u[i, r] += z[i, r] * slope[k, i, r]
            for i in range(dim):
                for r in range(replicates):
                    x[k, i, r] -= move * u[i, r]
        if (t + 1) % period == 0:
            composed.share(x)
        if seed[0]:
            for moved in (x, before, y):
                composed.shake(moved, c[composed.SMALL], seed)
