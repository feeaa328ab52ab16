"""W2: ComFedL's local steps on KL-DRO with the logistic loss, one round.

K clients with 500 samples each, minibatch 50: every step gathers 50 rows a client and replicate.
Peers are given the sample numbers; drawing them is part of driftproof's time and not of theirs.
"""

import numpy as np

from driftproof.gpu_bench.workload import Workload, case
from driftproof.synthetic.problems.kl_dro import KLDRO
from driftproof.toolkit.algorithms.comfedl import ComFedL


@case(
    name="w2",
    kernel="kl-dro-local-steps",
    peers="w2",
    points=[{"replicates": 1}, {"replicates": 64}],
)
def w2(
    *,
    clients: int = 10,
    dim: int = 64,
    replicates: int = 64,
    local_steps: int = 5,
    samples: int = 500,
    batch: int = 50,
) -> Workload:
    """Return W2 at one size."""
    problem = KLDRO(clients=clients, dim=dim, samples=samples, temperature=5.0, ball=20.0)
    algorithm = ComFedL(local_steps=local_steps, step_size=0.1, batch=batch)

    def data(starts, draws):  # type: ignore[no-untyped-def]
        features, labels = problem.data
        return {
            "features": np.stack(features),
            "labels": np.stack(labels),
            "starts": starts,
            "temperature": problem.temperature,
            "step_size": algorithm.step_size,
            "local_steps": local_steps,
            "chosen": np.stack([draws("xi", t) for t in range(local_steps)]),
        }

    return Workload(
        problem, algorithm, replicates, data, law=lambda oracles: oracles.inner_law(batch)
    )
