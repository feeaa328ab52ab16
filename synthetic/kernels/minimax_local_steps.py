r"""FedAvg's local steps on the quadratic minimax families: local gradient descent-ascent, fused.

A plain step is a product with the block matrix [[λI, −A_iᵀ], [A_i, I]], twice the operations that
A_i x and A_iᵀy need, and five passes over all clients' iterates in memory. The fused round takes
all τ steps of a client before the next one's, does the two products alone, and updates as it
writes (``_minimax_round``).

Few replicates of small problems take them with clients side by side (``_minimax_lanes``).

The numbers are the plain steps' to the tolerance below: each product is summed in an order of its
own (``_minimax_steps``), the average over clients in fixed groups, whatever the threads.
"""

from functools import cache
from typing import Any

import numpy as np
import torch

from driftproof.synthetic.kernels._minimax_cost import descent_ascent
from driftproof.toolkit.engines.batched import combined
from driftproof.toolkit.kernels import device
from driftproof.toolkit.kernels.registry import Cost, fused

DRAWS = 2**14
"""Reals of a client's noise that are drawn at a time: they stay in the second-level cache."""
MOST_ROWS, MOST_SIGNS = 1024, 64
"""On a GPU: rows of x, and signs of a mean, at most."""


def _cost(algorithm: Any, problem: Any, replicates: int, size: int) -> Cost:
    """Count every client's words: those beyond the cohort draw too."""
    law = problem.oracles(torch.float64, "cpu", range(1)).field_law(algorithm.batch)
    words = 0 if law is None else law.words * problem.clients * algorithm.local_steps
    return descent_ascent(algorithm, problem, replicates, size, words)


@fused(
    name="minimax-local-steps",
    algorithm="fedavg",
    problem=("quadratic-minimax", "random-minimax"),
    rows=lambda oracles: {"w": 2 * oracles.upper_dim},
    accepts=lambda algorithm, problem: problem.radius is None,  # else the norms met are asked for
    cost=_cost,
    # sums of d products in another order: 42 units at most in 400 random rounds of up to 30 steps
    # with d up to 200, growing with both; a wrong term is off by more than 10⁶
    tolerance=512.0,
)
def advance(ctx: Any, oracles: Any, algorithm: Any, state: Any, steps: int) -> tuple[Any, float]:
    """Equal to ``steps`` repetitions of ``FedAvg.step`` from the start of a round."""
    from driftproof.synthetic.kernels import _minimax_lanes
    from driftproof.synthetic.kernels._minimax_round import GROUPS, local_steps
    from driftproof.synthetic.kernels._nested_minimax import data_of

    first, w = ctx.t, state.w
    clients, rows, replicates = w.shape
    of = data_of(oracles)
    law = oracles.field_law(algorithm.batch)
    eta, kind = algorithm.step_size, of.offsets.dtype
    numbers = np.array([1 - eta * of.regulariser, 1 - eta, eta, eta * of.noise], kind)
    shares = _shares(ctx, oracles, algorithm, first, kind)
    in_lanes = ctx.mask is None and _minimax_lanes.serves(of, replicates)
    at = w.numpy()
    at = np.ascontiguousarray(at[:1] if at.strides[0] == 0 else at)
    taken, at_once = 0, steps if law is None else max(1, DRAWS // (2 * replicates))
    xi = ctx.stream(law, "xi", first, steps)
    while taken < steps:
        now = min(at_once, steps - taken)
        begin, taken = first + taken, taken + now
        ends = np.empty((clients if taken < steps else 0, rows, replicates), kind)
        if in_lanes:
            mean = _minimax_lanes.local_steps(
                oracles, of, at, shares, xi, numbers, begin, now, ends
            )
        else:
            sums = np.zeros((min(clients, GROUPS), rows, replicates), kind)
            local_steps(
                at,
                of.matrices,
                of.offsets,
                shares,
                xi,
                numbers,
                begin,
                now,
                of.diagonal,
                ends,
                sums,
            )
            with np.errstate(all="ignore"):  # the federation tells what is not finite
                mean = sums.sum(0) / shares.sum(0)
        at = ends
    ctx.rounds += 1
    ctx.reals += rows
    ctx.t = first + steps - 1
    return type(state)(torch.from_numpy(mean).expand(clients, rows, replicates)), 0.0


def _shares(ctx: Any, oracles: Any, algorithm: Any, since: int, kind: np.dtype) -> np.ndarray:
    """Return the clients' unnormalised shares in the average, [clients, replicates]."""
    ctx.cohort(algorithm.cohort_size(ctx.clients), since=since)
    weights = oracles.client_weights if algorithm.weighting == "samples" else None
    share = combined(ctx.mask, weights)
    shape = len(ctx.local), ctx.replicates
    if share is None:
        return _alike(shape, kind)
    return share[:, 0].expand(shape).contiguous().numpy()


@cache
def _alike(shape: tuple[int, int], kind: np.dtype) -> np.ndarray:
    return np.ones(shape, kind)


def _fits(algorithm: Any, problem: Any, ctx: Any) -> bool:
    """Say whether the launch serves these sizes: the signs of a mean are counted in a loop."""
    return device.has_triton() and problem.dim <= MOST_ROWS and algorithm.batch <= MOST_SIGNS


@advance.variant("triton", device="cuda", fits=_fits)
def _in_triton(*of: Any) -> Any:
    """The local steps in one launch, their noise drawn there."""
    from driftproof.synthetic.kernels._triton_minimax import advance

    return advance(*of)
