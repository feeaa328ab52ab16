r"""FedAvg for compositions (Cases I, II and the modification) over any number of rounds, fused.

One loop over steps and clients, with the replicates innermost (``_composed``). It draws nothing, so
the embedding's evaluation of g_k and ∇g_k at the new x is kept for the next step, which the plain
step takes there once more: half of the sines, the same numbers.
"""

from typing import Any

import numba
import numpy as np

from driftproof.synthetic.kernels import _composed as composed
from driftproof.synthetic.kernels._composed_cost import STEP_BY_STEP, Counted
from driftproof.toolkit.kernels.registry import Cost, fused

SHARING = ("case-1", "case-2", "every-step")


def _cost(algorithm: Any, problem: Any, replicates: int, real: int) -> Cost:
    """Count g and ∇g at each x, ∇f, x (3 times the rank), and y's averages by the sharing."""
    of = Counted(problem, replicates)
    d, p = of.of.dim, of.of.inner_dim
    step = of.value().plus(of.slope(), of.outer(), 3 * of.rank)
    shared = {"case-1": 0, "case-2": p, "every-step": p * algorithm.local_steps}
    return of.round(algorithm, step, (), (d, p), d + shared[algorithm.sharing], real)


@fused(
    name="compositional-fedavg-stretches",
    algorithm="compositional-fedavg",
    problem=("bounded-composition", "averaged-composition", "bias-amplification"),
    rows=lambda oracles: composed.rows(oracles, inside="y", outside=("x",)),
    cost=_cost,
    tolerance=STEP_BY_STEP,
    many_rounds=True,
)
def advance(
    ctx: Any, oracles: Any, algorithm: Any, state: Any, steps: int, record: str, **how: Any
) -> tuple[Any, float, Any]:
    """Equal to ``steps`` repetitions of ``CompositionalFedAvg.step``."""
    first, period, dtype = ctx.t, algorithm.local_steps, state.x.numpy().dtype
    sizes = np.array([algorithm.step_size_at(t) for t in range(first, first + steps)], dtype)
    own = *composed.numbers(oracles, dtype), sizes, SHARING.index(algorithm.sharing)

    def loop(*given: Any) -> None:
        _steps(*given[:-1])  # it draws nothing

    averages = (first + steps) // period - first // period
    embeddings = {"case-1": 0, "case-2": averages + (first == 0), "every-step": steps}
    ctx.rounds += averages + embeddings[algorithm.sharing]
    ctx.reals += averages * state.x.shape[1] + embeddings[algorithm.sharing] * state.y.shape[1]
    return composed.advanced(loop, ctx, state, own, steps, period, record=record, **how)


@numba.njit(cache=True, nogil=True)
def _steps(
    x: np.ndarray,
    y: np.ndarray,
    xs: np.ndarray,
    ys: np.ndarray,
    c: np.ndarray,
    own: np.ndarray,
    sizes: np.ndarray,
    sharing: int,
    first: int,
    steps: int,
    period: int,
    seed: np.ndarray,
) -> None:
    """Move x and y, [clients, rows, replicates], in place."""
    clients, dim, replicates = x.shape
    rank = min(dim, y.shape[1])
    nothing = np.empty((0, replicates), x.dtype)
    z, g = np.empty_like(y[0]), np.empty_like(y[0])
    slope, size = np.empty((clients, rank, replicates), x.dtype), np.empty(replicates, x.dtype)
    for step in range(steps):
        t, move = first + step, sizes[step]
        composed.keep(x, xs, step)
        composed.keep(y, ys, step)
        if sharing == 2 or (sharing == 1 and t == 0):
            composed.share(y)
        for k in range(clients):
            if step == 0 or seed[0]:  # else the embedding's evaluation was at this very x
                composed.inner(x[k], nothing, c, own[:, k], g, slope[k])
            composed.outer(y[k], nothing, c, own[:, k], size, z)
            for i in range(rank):
                for r in range(replicates):
                    x[k, i, r] -= move * (z[i, r] * slope[k, i, r])
        synchronise = (t + 1) % period == 0
        if synchronise:
            composed.share(x)
        for k in range(clients):
            composed.inner(x[k], nothing, c, own[:, k], y[k], slope[k])
        if synchronise and sharing == 1:
            composed.share(y)
        if seed[0]:
            composed.shake(x, c[composed.SMALL], seed)
            composed.shake(y, c[composed.SMALL], seed)
