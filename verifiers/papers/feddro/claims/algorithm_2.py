"""Algorithm 2, as code: driftproof's FedDRO is the printed pseudo-code.

**Kind.** Identity, to rounding: the pseudo-code, lines 1–12, line by line, client by client,
against the federation on the same draws.

**Readings.** At t = 0 the initialisation gives ȳ⁰, and line 6 computes y⁰ by (8), which needs
y^{−1}: either the given ȳ⁰ is used, or (8) with y^{−1} = ȳ⁰. (7) and (8) have one minibatch b_g for
g and ∇g.
"""

from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from driftproof.synthetic.problems.averaged_composition import AveragedComposition
from driftproof.toolkit.algorithms.feddro import FedDRO
from driftproof.toolkit.cases import Case, grid
from driftproof.toolkit.federation import sampled_context
from driftproof.toolkit.parameters import sweep
from driftproof.verifiers.claim_types.compared import Comparison
from driftproof.verifiers.claim_types.comparison import comparison
from driftproof.verifiers.papers._pseudo_code import models
from driftproof.verifiers.papers.feddro.claims.algorithm_1 import CURVED

NOISY = replace(
    CURVED,
    plain_slope=0.5,
    plain_tilt=0.3,
    inner_value_noise=0.2,
    inner_gradient_noise=0.3,
    plain_noise=0.2,
)
METHOD = FedDRO(
    local_steps=sweep(1, 3), step_size=0.2, batch=sweep(1, 4), first_step=sweep("given", "computed")
)


def transcribed(
    problem: AveragedComposition, given: FedDRO, rounds: int, previous: str = "same sample"
) -> list[np.ndarray]:
    """Run the pseudo-code; the numbers in the comments are its lines. Returns every x_k."""
    draws = sampled_context(problem, ("algorithm-2",), replicates=1)
    clients = [
        problem.oracles(torch.float64, clients=range(k, k + 1)) for k in range(problem.clients)
    ]
    laws = clients[0].inner_law(given.batch), clients[0].plain_law(given.batch)

    def tensor(v: np.ndarray) -> Tensor:
        return torch.from_numpy(v)[None, :, None]

    def g(k: int, x: np.ndarray, zeta: Tensor | None) -> tuple[np.ndarray, Any]:
        value, transposed = clients[k].inner(tensor(x), _own(zeta, k))
        return value[0, :, 0].numpy(), transposed

    x = [problem.start() for _ in clients]  # 2
    before = list(x)
    first = draws.draw(laws[0], "zeta-start")
    mean = np.mean([g(k, x[k], first)[0] for k in range(len(x))], 0)
    for t in range(rounds * given.local_steps):  # 3
        draws.t = t
        zeta, xi = draws.draw(laws[0], "zeta"), draws.draw(laws[1], "xi")  # 5
        if t > 0 or given.first_step == "computed":
            old, kept = (zeta if previous == "same sample" else None), previous != "none"
            y = [  # 6, (8)
                (1 - given.momentum) * (mean - kept * g(k, before[k], old)[0]) + g(k, x[k], zeta)[0]
                for k in range(len(x))
            ]
            mean = np.mean(y, 0)
        before = list(x)
        for k, client in enumerate(clients):  # 4, 6, (7)
            outer = client.outer_grad(tensor(mean), None)
            step = client.plain_grad(tensor(x[k]), _own(xi, k)) + g(k, x[k], zeta)[1](outer)
            x[k] = x[k] - given.step_size * step[0, :, 0].numpy()
        if (t + 1) % given.local_steps == 0:  # 7
            x = [np.mean(x, 0)] * len(x)  # 8
    return x


@comparison(
    name="feddro/algorithm-2",
    source="FedDRO (2023), Algorithm 2, (7) and (8)",
    statement=r"y_k^t = (1-\beta^t)\big(y_k^{t-1}-g_k(x_k^{t-1};b_g)\big)+g_k(x_k^t;b_g),\; "
    r"y_k^t=\bar y^t,\quad x_k^{t+1} = x_k^t-\eta^t\big(\nabla h_k(x_k^t;b_h)+"
    r"\nabla g_k(x_k^t;b_g)\nabla f(\bar y^t)\big);\quad t+1 \bmod I = 0:\; "
    r"x_k^{t+1}=\bar x^{t+1}",
    cases=grid(NOISY, METHOD, rounds=3),
    right="same sample",
    false_siblings=[
        ("the expectation at the previous point", "expectation"),
        ("no correction by the previous point", "none"),
    ],
)
def pseudo_code(case: Case[AveragedComposition, FedDRO], previous: str) -> list[Comparison]:
    return models(case, "algorithm-2", transcribed, previous)


def _own(draw: Tensor | None, k: int) -> Tensor | None:
    return None if draw is None else draw[k : k + 1]
