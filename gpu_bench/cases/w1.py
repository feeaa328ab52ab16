"""W1: local gradient descent-ascent on the quadratic minimax family, one round.

K clients, τ local steps, no noise unless σ is given; each client has its matrix, shared by the
replicates. A local step is two matrix-vector products a client and replicate: 4·d² flops.
"""

from driftproof.gpu_bench.workload import Workload, case
from driftproof.synthetic.problems.quadratic_minimax import QuadraticMinimax
from driftproof.toolkit.algorithms.fedavg import FedAvg


@case(
    name="w1",
    kernel="minimax-local-steps",
    peers="w1",
    points=[
        {"dim": 10, "replicates": 1},
        {"dim": 10, "replicates": 64},
        {"dim": 100, "replicates": 1},
        {"dim": 100, "replicates": 64},
    ],
)
def w1(
    *,
    clients: int = 100,
    dim: int = 100,
    replicates: int = 64,
    local_steps: int = 10,
    noise: float = 0.0,
    batch: int = 1,
) -> Workload:
    """Return W1 at one size."""
    problem = QuadraticMinimax(clients=clients, dim=dim, heterogeneity=0.2, gradient_noise=noise)
    algorithm = FedAvg(local_steps=local_steps, step_size=0.05, batch=batch)

    def data(starts, draws):  # type: ignore[no-untyped-def]
        return {
            "matrices": problem.matrices,
            "offsets": problem.offsets,
            "starts": starts,
            "regulariser": problem.regulariser,
            "step_size": algorithm.step_size,
            "local_steps": local_steps,
        }

    return Workload(problem, algorithm, replicates, data)
