"""Algorithm 1, as code: driftproof's FedAvg for compositions is the printed pseudo-code.

**Kind.** Identity, to rounding: the pseudo-code, lines 1–10, line by line, client by client,
against the federation; in Case I, in Case II, and as Theorem 4.2 modifies it.
"""

from typing import Any

import numpy as np
import torch

from driftproof.synthetic.problems.averaged_composition import AveragedComposition
from driftproof.synthetic.problems.bias_amplification import BiasAmplification
from driftproof.toolkit.algorithms.compositional_fedavg import CompositionalFedAvg
from driftproof.toolkit.cases import Case, grid
from driftproof.toolkit.parameters import sweep
from driftproof.verifiers.claim_types.compared import Comparison
from driftproof.verifiers.claim_types.comparison import comparison
from driftproof.verifiers.papers._pseudo_code import models

CURVED = AveragedComposition(
    clients=3,
    dim=2,
    inner_dim=2,
    inner_curvature=0.5,
    inner_heterogeneity=0.4,
    inner_offset=0.6,
    distance=1.1,
)


def transcribed(
    problem: AveragedComposition | BiasAmplification,
    given: CompositionalFedAvg,
    rounds: int,
    shared: str = "mean",
) -> list[np.ndarray]:
    """Run the pseudo-code; the numbers in the comments are its lines. Returns every x_k."""
    clients = [
        problem.oracles(torch.float64, clients=range(k, k + 1)) for k in range(problem.clients)
    ]

    def g(k: int, x: np.ndarray) -> Any:
        return clients[k].inner(torch.from_numpy(x)[None, :, None], None)

    def embed(points: list[np.ndarray]) -> list[np.ndarray]:
        return [g(k, x)[0][0, :, 0].numpy() for k, x in enumerate(points)]

    def share(values: list[np.ndarray]) -> list[np.ndarray]:
        mean = values[0] if shared == "first" else np.mean(values, 0)
        return [mean * len(values) / (len(values) + (shared == "too many"))] * len(values)

    x = [problem.start() for _ in clients]
    y = embed(x)  # 2: y_k = ȳ, where embeddings are shared at all
    if given.sharing != "case-1":
        y = share(y)
    for t in range(rounds * given.local_steps):  # 3
        if given.sharing == "every-step":  # Theorem 4.2
            y = share(embed(x))
        between = t % given.local_steps and given.decay
        eta = given.step_size / (1 + t) ** given.decay if between else given.step_size
        for k, client in enumerate(clients):  # 4, 5
            outer = client.outer_grad(torch.from_numpy(y[k])[None, :, None], None)
            x[k] = x[k] - eta * g(k, x[k])[1](outer)[0, :, 0].numpy()
        if (t + 1) % given.local_steps == 0:  # 6
            x = share(x)  # 7
        y = embed(x)
        if (t + 1) % given.local_steps == 0 and given.sharing == "case-2":  # 8
            y = share(y)
    return x


@comparison(
    name="feddro/algorithm-1",
    source="FedDRO (2023), Algorithm 1 and Theorem 4.2",
    statement=r"x_k^{t+1} = x_k^t-\eta^t\nabla g_k(x_k^t)\nabla f(y_k^t),\; y_k^{t+1} = "
    r"g_k(x_k^{t+1});\quad t+1 \bmod I = 0:\; x_k^{t+1} = \bar x^{t+1},\; y_k^{t+1} = "
    r"g_k(\bar x^{t+1}) \text{ [I], } \bar y^{t+1} \text{ [II]}",
    cases=[
        *grid(
            CURVED,
            CompositionalFedAvg(
                local_steps=sweep(1, 3), sharing=sweep("case-1", "case-2", "every-step")
            ),
            rounds=4,
        ),
        *grid(
            BiasAmplification(heterogeneity=sweep("slopes", "offsets")),
            CompositionalFedAvg(
                local_steps=3, sharing=sweep("case-1", "case-2", "every-step"), decay=1.5
            ),
            rounds=4,
        ),
    ],
    right="mean",
    false_siblings=[
        ("the first client's values for all", "first"),
        ("divided by K + 1", "too many"),
    ],
)
def pseudo_code(
    case: Case[AveragedComposition | BiasAmplification, CompositionalFedAvg], shared: str
) -> list[Comparison]:
    return models(case, "algorithm-1", transcribed, shared)
