"""LFedNest on the random minimax family, one round: plain local steps on both variables."""

from driftproof.gpu_bench.cases._nested import nested
from driftproof.gpu_bench.workload import Workload, case
from driftproof.toolkit.algorithms.lfednest import LFedNest


@case(name="lfednest-minimax", kernel="nested-fednest", points=[{"clients": 100, "replicates": 1}])
def lfednest_minimax(*, clients: int = 100, replicates: int = 1) -> Workload:
    """Return LFedNest's round at one size."""
    return nested(LFedNest, clients, replicates)
