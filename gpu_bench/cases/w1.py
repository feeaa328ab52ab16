"""W1: local gradient descent-ascent on the quadratic minimax family, one round.

K = 100 clients, τ = 10 local steps, no noise; each client has its matrix, shared by the replicates.
A local step is two matrix-vector products a client and replicate: 4·dim² flops.
"""

from __future__ import annotations

import numpy as np
import torch

from gpu_bench.workload import Workload
from synthetic.problems.quadratic_minimax import QuadraticMinimax
from toolkit.algorithms.fedavg import FedAvg
from toolkit.federation import run, sampled_context
from toolkit.memory import keep_freed_memory

CLIENTS, LOCAL_STEPS, STEP_SIZE = 100, 10, 0.05


def w1(dim: int, replicates: int) -> Workload:
    """Return W1 for one dimension and number of replicates."""
    problem = QuadraticMinimax(clients=CLIENTS, dim=dim, heterogeneity=0.2)
    keep_freed_memory()
    algorithm = FedAvg(local_steps=LOCAL_STEPS, step_size=STEP_SIZE)
    ctx = sampled_context(problem, ("W1",), replicates=replicates)
    oracles = problem.oracles(torch.float64)
    start = algorithm.init(ctx, oracles, torch.from_numpy(problem.start()))
    matrices, offsets, z = problem.matrices, problem.offsets, problem.start()

    def numpy_loop() -> np.ndarray:
        ends = []
        for _ in range(replicates):
            total = np.zeros_like(z)
            for a, b in zip(matrices, offsets, strict=True):
                x, y = z[:dim].copy(), z[dim:].copy()
                for _ in range(LOCAL_STEPS):
                    down, up = problem.regulariser * x - a.T @ y, y - b + a @ x
                    x, y = x - STEP_SIZE * down, y - STEP_SIZE * up
                total += np.concatenate([x, y])
            ends.append(total / CLIENTS)
        return np.stack(ends, 1)

    def driftproof() -> np.ndarray:
        state = start
        for ctx.t in range(LOCAL_STEPS):
            state = algorithm.step(ctx, oracles, state)
        made: np.ndarray = state.w[0].numpy()
        return made

    def whole_run() -> np.ndarray:
        fresh = sampled_context(problem, ("W1",), replicates=replicates)
        made: np.ndarray = run(problem, algorithm, fresh, rounds=1).state.w[0].numpy()
        return made

    variants = {"numpy loop": numpy_loop, "driftproof": driftproof, "with set-up": whole_run}
    return Workload(f"W1 d={dim} R={replicates}", variants)
