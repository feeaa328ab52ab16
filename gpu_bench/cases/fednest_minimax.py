"""FedNest on the random minimax family, one round with all clients: the public notebook's setting.

T calls of FedInn, one of FedOut, d = 10. The loop is one over clients and local steps, in numpy, in
the way the notebook (ucr-optml/FedNest, minmax_synthetic.ipynb) has its update of FedNest: the
cohort's mean t, then for each client y ← y + (lr/d)(−y − ½ t x) and x ← x − (lr/d)(λx − ½ t y). It
has no b_i, so the problem has none either (``spread=0``). A client-step is one local step of one
client, whichever variable it moves.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from gpu_bench.workload import Workload
from synthetic.problems.random_minimax import RandomMinimax
from toolkit.algorithms.fednest import FedNest
from toolkit.federation import run, sampled_context
from toolkit.kernels.registry import fused_for

RATE, DIM = 0.01, 10


def fednest_minimax(
    clients: int = 1000, calls: int = 10, inner_steps: int = 50, outer_steps: int = 500
) -> Workload:
    """Return the workload at one size; its rounds are of (calls·inner + outer)·clients steps."""
    problem = RandomMinimax(clients=clients, dim=DIM, spread=0.0, form="halved")
    algorithm = FedNest(
        inner_calls=calls, inner_steps=inner_steps, outer_steps=outer_steps, terms=0,
        inner_step_size=RATE / DIM, outer_step_size=RATE / DIM,
    )  # fmt: skip
    couplings = 2 * problem.matrices[:, 0, 0]  # the form's ½ is in the loop
    lam, z = problem.regulariser, problem.start()

    def numpy_loop() -> np.ndarray:
        x, y = z[:DIM].copy(), z[DIM:].copy()
        ends = np.zeros((clients, DIM))
        for _ in range(calls):
            t = 0.0
            for coupling in couplings:
                t += coupling / clients
            for k in range(clients):
                own = y.copy()
                for _ in range(inner_steps):
                    own += RATE * (1.0 / DIM) * (-own - 0.5 * t * x)
                ends[k] = own
            y = ends.mean(axis=0)
        for k in range(clients):
            own = x.copy()
            for _ in range(outer_steps):
                own -= RATE * (1.0 / DIM) * (lam * own - 0.5 * y * t)
            ends[k] = own
        return np.concatenate([ends.mean(axis=0), y])[:, None]

    ctx = sampled_context(problem, ("minimax",), replicates=1)
    oracles = problem.oracles(torch.float64)
    start = algorithm.init(ctx, oracles, torch.from_numpy(problem.start()))
    kernel = fused_for(algorithm, problem, ctx)
    assert kernel is not None

    def fused() -> np.ndarray:
        ctx.t = 0
        state, _ = kernel.advance(ctx, oracles, algorithm, start, algorithm.local_steps)
        return ended(state)

    def whole_run(kernels: bool = True) -> np.ndarray:
        fresh = sampled_context(problem, ("minimax",), replicates=1)
        return ended(run(problem, algorithm, fresh, rounds=1, kernels=kernels).state)

    def ended(state: Any) -> np.ndarray:
        made: np.ndarray = torch.cat([state.x[0], state.y[0]]).numpy()
        return made

    variants = {
        "numpy loop": numpy_loop, "driftproof": fused, "with set-up": whole_run,
        "plain steps": lambda: whole_run(kernels=False),
    }  # fmt: skip
    return Workload(f"FedNest minimax m={clients}", variants)
