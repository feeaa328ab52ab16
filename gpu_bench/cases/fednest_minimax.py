"""FedNest on the random minimax family, one round with all clients: the public notebook's setting.

T calls of FedInn, one of FedOut, d = 10. The notebook's update (ucr-optml/FedNest,
minmax_synthetic.ipynb) has no b_i, so the problem has none either (``spread=0``). A client-step is
one local step of one client, whichever variable it moves.
"""

from driftproof.gpu_bench.workload import Workload, case
from driftproof.synthetic.problems.random_minimax import RandomMinimax
from driftproof.toolkit.algorithms.fednest import FedNest

RATE, DIM = 0.01, 10


@case(
    name="fednest-minimax",
    kernel="nested-fednest",
    peers="fednest-minimax",
    points=[{"clients": 1000}],
)
def fednest_minimax(
    *,
    clients: int = 1000,
    replicates: int = 1,
    calls: int = 10,
    inner_steps: int = 50,
    outer_steps: int = 500,
) -> Workload:
    """Return the workload at one size; a round has (calls·inner + outer)·clients steps."""
    problem = RandomMinimax(clients=clients, dim=DIM, spread=0.0, form="halved")
    algorithm = FedNest(
        inner_calls=calls,
        inner_steps=inner_steps,
        outer_steps=outer_steps,
        terms=0,
        inner_step_size=RATE / DIM,
        outer_step_size=RATE / DIM,
    )

    def data(starts, draws):  # type: ignore[no-untyped-def]
        return {
            "couplings": 2 * problem.matrices[:, 0, 0],  # the notebook's ½ is in its update
            "regulariser": problem.regulariser,
            "starts": starts,
            "calls": calls,
            "inner_steps": inner_steps,
            "outer_steps": outer_steps,
            "rate": RATE,
        }

    return Workload(problem, algorithm, replicates, data, fields=("x", "y"))
