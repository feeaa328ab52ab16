r"""ComFedL's local steps on KL-DRO with the logistic loss, fused (numba, CPU).

One loop a (client, replicate): gather a minibatch row by row, accumulate f_B and ∇f_B in one pass,
take the step u = exp(f_B/γ)/γ · ∇f_B in place. Nothing of size [clients, batch, dim, replicates] is
written, which is what the plain step spends its time on.

Cost of a step: 4·batch·dim flops and one exp and one log1p a sample, for each client and replicate;
reads batch·dim gathered reals, so a round is bounded by the bandwidth of the gathered rows.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
import torch

from toolkit.kernels._device import has_triton, key_of
from toolkit.kernels.registry import fused


def _accepts(algorithm: Any, problem: Any) -> bool:
    served = (algorithm.samples, problem.form, problem.loss)
    return served == ("shared", "exp", "logistic")


@fused(
    name="kl-dro-local-steps",
    algorithm="comfedl",
    problem="kl-dro",
    accepts=_accepts,
)
def advance(ctx: Any, oracles: Any, algorithm: Any, state: Any, steps: int) -> tuple[Any, float]:
    """Equal to ``steps`` repetitions of ``ComFedL.step`` from the start of a round."""
    first = ctx.t
    cohort = ctx.cohort(algorithm.cohort_size(ctx.clients), since=first)
    law, drawn = oracles.inner_law(algorithm.batch), []
    for t in range(first, first + steps):
        ctx.t = t
        drawn.append(ctx.draw(law, "xi").numpy())
    model = oracles.model
    w = np.ascontiguousarray(state.w.permute(0, 2, 1).numpy())
    norms = _local_steps(
        model.rows.numpy(), model.row_labels.numpy(), model.starts.numpy().ravel(),
        np.stack(drawn), w, algorithm.step_size, oracles.temperature,
    )  # fmt: skip
    moved = torch.from_numpy(w).permute(0, 2, 1)
    (moved,) = cohort.average(moved)
    return type(state)(moved), float(np.sqrt(norms.max()))


@numba.njit(parallel=True, cache=True, fastmath={"reassoc", "contract", "nsz", "arcp"})
def _local_steps(
    rows: np.ndarray,
    labels: np.ndarray,
    starts: np.ndarray,
    drawn: np.ndarray,
    w: np.ndarray,
    step_size: float,
    temperature: float,
) -> np.ndarray:
    """Move w [clients, replicates, dim] in place; return the largest ‖w‖² met by each.

    Not reassociated across replicates: each (client, replicate) is one loop, so the result does
    not depend on the number of threads.
    """
    clients, replicates, dim = w.shape
    steps, _, batch, _ = drawn.shape
    largest = np.zeros(clients * replicates)
    for pair in numba.prange(clients * replicates):
        k, r = pair // replicates, pair % replicates
        x = w[k, r]
        gradient = np.empty(dim)
        for t in range(steps):
            gradient[:] = 0.0
            value = 0.0
            for j in range(batch):
                row = rows[starts[k] + drawn[t, k, j, r]]
                label = labels[starts[k] + drawn[t, k, j, r]]
                score = 0.0
                for i in range(dim):
                    score += row[i] * x[i]
                score *= label
                small = np.exp(-abs(score))
                value += max(-score, 0.0) + np.log1p(small)
                share = small / (1.0 + small) if score > 0 else 1.0 / (1.0 + small)
                for i in range(dim):
                    gradient[i] -= share * label * row[i]
            scale = step_size * np.exp(value / (batch * temperature)) / (temperature * batch)
            norm = 0.0
            for i in range(dim):
                x[i] -= scale * gradient[i]
                norm += x[i] * x[i]
            largest[pair] = max(largest[pair], norm)
    return largest


def _fits(algorithm: Any, problem: Any, ctx: Any) -> bool:
    """Say whether a row of the data fits in a tile."""
    return has_triton() and problem.dim <= 1024


@advance.variant("triton", device="cuda", fits=_fits)
def in_triton(ctx: Any, oracles: Any, algorithm: Any, state: Any, steps: int) -> tuple[Any, float]:
    """The local steps in one launch, their samples drawn where they are gathered."""
    from toolkit.kernels._triton_kl_dro import local_steps

    first, law = ctx.t, oracles.inner_law(algorithm.batch)
    cohort = ctx.cohort(algorithm.cohort_size(ctx.clients), since=first)
    w, largest = local_steps(
        state.w, oracles.model, key=key_of(ctx, law, "xi"), first_client=ctx.local.start,
        block=ctx._block, first=first, steps=steps, batch=algorithm.batch,
        step_size=algorithm.step_size, temperature=oracles.temperature,
    )  # fmt: skip
    ctx.t = first + steps - 1
    return type(state)(*cohort.average(w)), float(largest.max().sqrt())
