"""FedNest_SGD on the random minimax family, one round: plain local steps on y, FedSVRG on x."""

from driftproof.gpu_bench.cases._nested import nested
from driftproof.gpu_bench.workload import Workload, case
from driftproof.toolkit.algorithms.fednest_sgd import FedNestSGD


@case(
    name="fednest-sgd-minimax", kernel="nested-fednest", points=[{"clients": 100, "replicates": 1}]
)
def fednest_sgd_minimax(*, clients: int = 100, replicates: int = 1) -> Workload:
    """Return FedNest_SGD's round at one size."""
    return nested(FedNestSGD, clients, replicates)
