"""The setting that FedNest's relatives share: random minimax with b_i, K = 100, d = 10."""

from typing import Any

from driftproof.gpu_bench.workload import Workload
from driftproof.synthetic.problems.random_minimax import RandomMinimax

RATES: dict[str, Any] = {"inner_step_size": 1e-3, "outer_step_size": 1e-3}


def nested(kind: Any, clients: int, replicates: int) -> Workload:
    """Return a round of T = 10 calls of FedInn of 50 local steps, and one of FedOut of 500.

    A client-step is one local step of one client, whichever variable it moves.
    """
    algorithm = kind(inner_calls=10, inner_steps=50, outer_steps=500, terms=0, **RATES)
    problem = RandomMinimax(clients=clients, dim=10)
    return Workload(problem, algorithm, replicates, fields=("x", "y"))
