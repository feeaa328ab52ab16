"""FedAvg for compositions a second time, from Algorithm 1 of 004, client by client in numpy."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from synthetic.problems import AveragedComposition, BiasAmplification
from toolkit.algorithms import CompositionalFedAvg
from toolkit.federation import run, sampled_context

WRITTEN = {"compositional-fedavg"}
PROBLEMS = [
    AveragedComposition(
        clients=3, dim=2, inner_dim=2, inner_curvature=0.5, inner_heterogeneity=0.4,
        inner_offset=0.6, distance=1.1,
    ),
    BiasAmplification(),
    BiasAmplification(heterogeneity="offsets"),
]  # fmt: skip


def written_again(problem, given, rounds):
    """Run the pseudo-code; the numbers are its lines."""
    clients = [
        problem.oracles(torch.float64, clients=range(k, k + 1)) for k in range(problem.clients)
    ]

    def g(k, x):
        return clients[k].inner(torch.from_numpy(x)[None, :, None], None)

    def embed(points):
        return [g(k, x)[0][0, :, 0].numpy() for k, x in enumerate(points)]

    x = [problem.start() for _ in clients]
    y = embed(x)  # 2: y_k = ȳ, where embeddings are shared at all
    if given.sharing != "case-1":
        y = [np.mean(y, 0)] * len(clients)
    for t in range(rounds * given.local_steps):  # 3
        if given.sharing == "every-step":  # Theorem 4.2
            y = [np.mean(embed(x), 0)] * len(clients)
        between = t % given.local_steps and given.decay
        eta = given.step_size / (1 + t) ** given.decay if between else given.step_size
        for k, client in enumerate(clients):  # 4, 5
            outer = client.outer_grad(torch.from_numpy(y[k])[None, :, None], None)
            x[k] = x[k] - eta * g(k, x[k])[1](outer)[0, :, 0].numpy()
        if (t + 1) % given.local_steps == 0:  # 6
            x = [np.mean(x, 0)] * len(clients)  # 7
            y = embed(x)
            if given.sharing == "case-2":  # 8
                y = [np.mean(y, 0)] * len(clients)
        else:
            y = embed(x)
    return x


@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize("sharing", ["case-1", "case-2", "every-step"])
@pytest.mark.parametrize("decay", [0.0, 1.5])
def test_the_printed_pseudo_code(problem, sharing, decay):
    given = CompositionalFedAvg(local_steps=3, step_size=0.15, sharing=sharing, decay=decay)
    made = run(problem, given, sampled_context(problem, ("f",), replicates=1), rounds=4).state
    expected = written_again(problem, given, 4)
    np.testing.assert_allclose(made.x[..., 0].numpy(), expected, rtol=1e-12, atol=1e-14)


def test_sharing_differs_where_the_clients_do():
    ends = {
        sharing: run(
            BiasAmplification(), CompositionalFedAvg(sharing=sharing),
            sampled_context(BiasAmplification(), ("d",), replicates=1), rounds=30,
        ).state.x.mean().item()
        for sharing in ("case-1", "case-2", "every-step")
    }  # fmt: skip
    assert ends["every-step"] < -0.4 < 0 < ends["case-2"] < ends["case-1"]
