"""W2: ComFedL's local steps on KL-DRO with the logistic loss, one round.

K = 10 clients with 500 samples each, d = 64, minibatch 50, τ = 5: every step gathers 50 rows a
client and replicate. The numpy loop is given the same sample numbers; drawing them is part of
driftproof's time and not of the loop's.
"""

from __future__ import annotations

import numpy as np
import torch

from gpu_bench.workload import Workload
from synthetic.problems.kl_dro import KLDRO
from toolkit.algorithms.comfedl import ComFedL
from toolkit.federation import sampled_context
from toolkit.kernels.registry import fused_for

LOCAL_STEPS, STEP_SIZE, BATCH = 5, 0.1, 50


def w2(replicates: int) -> Workload:
    """Return W2 for one number of replicates."""
    problem = KLDRO(clients=10, dim=64, samples=500, temperature=5.0, ball=20.0)
    algorithm = ComFedL(local_steps=LOCAL_STEPS, step_size=STEP_SIZE, batch=BATCH)
    ctx = sampled_context(problem, ("W2",), replicates=replicates)
    oracles = problem.oracles(torch.float64)
    start = algorithm.init(ctx, oracles, torch.from_numpy(problem.start()))
    kernel = fused_for(algorithm, problem, ctx)
    assert kernel is not None
    features, labels = problem.data
    law, drawn = oracles.inner_law(BATCH), []
    for ctx.t in range(LOCAL_STEPS):
        draw = ctx.draw(law, "xi")
        assert draw is not None
        drawn.append(draw.numpy())

    def numpy_loop() -> np.ndarray:
        gamma, ends = problem.temperature, []
        for r in range(replicates):
            total = np.zeros(problem.dim)
            for k, (rows, signs) in enumerate(zip(features, labels, strict=True)):
                w = problem.start()
                for draw in drawn:
                    chosen = draw[k, :, r]
                    batch, sign = rows[chosen], signs[chosen]
                    margin = sign * (batch @ w)
                    value = np.logaddexp(0.0, -margin).mean()
                    share = -sign / (1.0 + np.exp(margin))
                    gradient = batch.T @ share / BATCH
                    w = w - STEP_SIZE * np.exp(value / gamma) / gamma * gradient
                total += w
            ends.append(total / problem.clients)
        return np.stack(ends, 1)

    def fused() -> np.ndarray:
        ctx.t = 0
        state, _ = kernel.advance(ctx, oracles, algorithm, start, LOCAL_STEPS)
        made: np.ndarray = state.w[0].numpy()
        return made

    def steps() -> np.ndarray:
        state = start
        for ctx.t in range(LOCAL_STEPS):
            state = algorithm.step(ctx, oracles, state)
        made: np.ndarray = state.w[0].numpy()
        return made

    variants = {"numpy loop": numpy_loop, "driftproof": fused, "plain steps": steps}
    return Workload(f"W2 R={replicates}", variants)
