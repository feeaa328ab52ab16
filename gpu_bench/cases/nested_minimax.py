"""FedNest's relatives on the random minimax family with b_i, one round: K = 100, d = 10.

Two make T = 10 calls of FedInn of 50 local steps, and one of FedOut of 500; FedAvg-S takes as many
local steps. A client-step is one local step of one client, whichever variables it moves.
"""

from __future__ import annotations

from typing import Any

from gpu_bench.workload import Workload, case
from synthetic.problems.random_minimax import RandomMinimax
from toolkit.algorithms.fedavg_s import FedAvgS
from toolkit.algorithms.fednest_sgd import FedNestSGD
from toolkit.algorithms.lfednest import LFedNest

RATES: dict[str, Any] = {"inner_step_size": 1e-3, "outer_step_size": 1e-3}
CALLS: dict[str, Any] = RATES | {
    "inner_calls": 10, "inner_steps": 50, "outer_steps": 500, "terms": 0,
}  # fmt: skip


@case(
    name="fednest-sgd-minimax", kernel="nested-fednest",
    points=[{"clients": 100, "replicates": 1}],
)  # fmt: skip
def fednest_sgd_minimax(*, clients: int = 100, replicates: int = 1) -> Workload:
    """FedNest_SGD: plain local steps on y, FedSVRG on x."""
    problem = RandomMinimax(clients=clients, dim=10)
    return Workload(problem, FedNestSGD(**CALLS), replicates, fields=("x", "y"))


@case(
    name="lfednest-minimax", kernel="nested-fednest", points=[{"clients": 100, "replicates": 1}],
)  # fmt: skip
def lfednest_minimax(*, clients: int = 100, replicates: int = 1) -> Workload:
    """LFedNest: plain local steps on both variables."""
    problem = RandomMinimax(clients=clients, dim=10)
    return Workload(problem, LFedNest(**CALLS), replicates, fields=("x", "y"))


@case(
    name="fedavg-s-minimax", kernel="nested-fedavg-s", points=[{"clients": 100, "replicates": 1}],
)  # fmt: skip
def fedavg_s_minimax(
    *, clients: int = 100, dim: int = 10, replicates: int = 1, local_steps: int = 1000
) -> Workload:
    """FedAvg-S: 1,000 local steps of x and y at once, with full matrices."""
    problem = RandomMinimax(clients=clients, dim=dim, matrices_drawn="general")
    algorithm = FedAvgS(local_steps=local_steps, **RATES)
    return Workload(problem, algorithm, replicates, fields=("x", "y"))
