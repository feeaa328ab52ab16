"""FedAvg for compositions a second time, from Algorithm 1 of FedDRO (2023), by numpy."""

import numpy as np
import pytest

from driftproof.synthetic.problems import AveragedComposition, BiasAmplification
from driftproof.toolkit.algorithms import CompositionalFedAvg
from driftproof.toolkit.federation import run, sampled_context
from driftproof.verifiers.papers.feddro.claims.algorithm_1 import transcribed

WRITTEN = {"compositional-fedavg"}
PROBLEMS = [
    AveragedComposition(
        clients=3, dim=2, inner_dim=2, inner_curvature=0.5, inner_heterogeneity=0.4,
        inner_offset=0.6, distance=1.1,
    ),
    BiasAmplification(),
    BiasAmplification(heterogeneity="offsets"),
]  # fmt: skip


@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize("sharing", ["case-1", "case-2", "every-step"])
@pytest.mark.parametrize("decay", [0.0, 1.5])
@pytest.mark.parametrize("kernels", [False, True])
def test_the_printed_pseudo_code(problem, sharing, decay, kernels):
    given = CompositionalFedAvg(local_steps=3, step_size=0.15, sharing=sharing, decay=decay)
    ctx = sampled_context(problem, ("f",), replicates=1)
    made = run(problem, given, ctx, rounds=4, kernels=kernels).state
    expected = transcribed(problem, given, 4)
    np.testing.assert_allclose(made.x[..., 0].numpy(), expected, rtol=1e-12, atol=1e-14)
