"""FedNest's relatives on the random minimax family, one round with all clients.

The setting of ``fednest-minimax`` with fewer clients and with b_i: d = 10, T = 10 calls of FedInn
of 50 local steps and one of FedOut of 500. FedAvg-S takes as many steps, of both variables, with
matrices that are not diagonal. A client-step is one local step of one client.
"""

from __future__ import annotations

from typing import Any

from gpu_bench.workload import Workload, case
from synthetic.problems.random_minimax import RandomMinimax
from toolkit.algorithms.fedavg_s import FedAvgS
from toolkit.algorithms.fednest_sgd import FedNestSGD
from toolkit.algorithms.lfednest import LFedNest

RATES: dict[str, Any] = {"inner_step_size": 1e-3, "outer_step_size": 1e-3}


@case(
    name="fednest-sgd-minimax", kernel="nested-fednest-sgd",
    points=[{"clients": 100, "replicates": 1}], sweeps={},
)  # fmt: skip
def fednest_sgd_minimax(*, clients: int = 100, replicates: int = 1) -> Workload:
    """Return FedNest_SGD's round at one size."""
    return _nested(FedNestSGD, clients, replicates)


@case(
    name="lfednest-minimax", kernel="nested-lfednest",
    points=[{"clients": 100, "replicates": 1}], sweeps={},
)  # fmt: skip
def lfednest_minimax(*, clients: int = 100, replicates: int = 1) -> Workload:
    """Return LFedNest's round at one size."""
    return _nested(LFedNest, clients, replicates)


@case(
    name="fedavg-s-minimax", kernel="nested-fedavg-s",
    points=[{"clients": 100, "replicates": 1}], sweeps={},
)  # fmt: skip
def fedavg_s_minimax(
    *, clients: int = 100, dim: int = 10, replicates: int = 1, local_steps: int = 1000
) -> Workload:
    """Return FedAvg-S's round at one size."""
    problem = RandomMinimax(clients=clients, dim=dim, matrices_drawn="general")
    algorithm = FedAvgS(local_steps=local_steps, **RATES)
    return Workload(problem, algorithm, replicates, fields=("x", "y"))


def _nested(kind: Any, clients: int, replicates: int) -> Workload:
    algorithm = kind(inner_calls=10, inner_steps=50, outer_steps=500, terms=0, **RATES)
    problem = RandomMinimax(clients=clients, dim=10)
    return Workload(problem, algorithm, replicates, fields=("x", "y"))
