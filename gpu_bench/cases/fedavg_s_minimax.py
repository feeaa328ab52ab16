"""FedAvg-S on the random minimax family with full matrices: 1,000 local steps of x and y at once.

As many as a round of the nested cases takes, d = 10, with b_i. A client-step is one local step of
one client, of both variables.
"""

from driftproof.gpu_bench.cases._nested import RATES
from driftproof.gpu_bench.workload import Workload, case
from driftproof.synthetic.problems.random_minimax import RandomMinimax
from driftproof.toolkit.algorithms.fedavg_s import FedAvgS


@case(name="fedavg-s-minimax", kernel="nested-fedavg-s", points=[{"clients": 100, "replicates": 1}])
def fedavg_s_minimax(
    *, clients: int = 100, dim: int = 10, replicates: int = 1, local_steps: int = 1000
) -> Workload:
    """Return FedAvg-S's round at one size."""
    problem = RandomMinimax(clients=clients, dim=dim, matrices_drawn="general")
    algorithm = FedAvgS(local_steps=local_steps, **RATES)
    return Workload(problem, algorithm, replicates, fields=("x", "y"))
