"""One process of a run on the wire."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from multiprocessing.connection import Connection
from typing import Any

import numpy as np
import torch
import torch.distributed as dist

from driftproof.toolkit.algorithm import Algorithm
from driftproof.toolkit.draws import BLOCK, Words
from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.federation import run
from driftproof.toolkit.problem import Problem
from driftproof.toolkit.wire.context import WireContext
from driftproof.toolkit.wire.exchange import Exchange
from driftproof.toolkit.wire.failure import ServerLost, WireFailure, raised
from driftproof.toolkit.wire.results import Ended, News
from driftproof.toolkit.workers import end_with

START = timedelta(minutes=2)
"""How long the processes wait for each other to come up."""


@dataclass(frozen=True)
class Task:
    """What is run: see ``run_on_wire``."""

    problem: Problem
    algorithm: Algorithm
    names: tuple[str, ...]
    rounds: int
    replicates: int = 1
    block: int = 0
    patience: float = 60.0
    fields: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not 1 <= self.replicates <= BLOCK:
            raise DriftproofError(
                f"replicates = {self.replicates}",
                f"1 to {BLOCK}: the replicates of one block",
                "run again with another seed for more",
            )
        if not self.patience > 0:
            raise DriftproofError(f"patience = {self.patience}", "seconds, more than 0", "pass 60")


def assigned(clients: int, world: int) -> list[range]:
    """Return which clients each of ``world`` processes holds: neighbours, as evenly as can be."""
    if not 1 <= world <= clients:
        raise DriftproofError(
            f"{world} processes for {clients} clients",
            f"1 to {clients} processes: each holds one client or more",
            "start fewer",
        )
    shares = np.array_split(np.arange(clients), world)
    return [range(int(share[0]), int(share[-1]) + 1) for share in shares]


def join(**more: Any) -> None:
    """Join the process group."""
    torch.set_num_threads(1)
    if sys.platform == "linux":
        os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
    dist.init_process_group("gloo", timeout=START, **more)
    dist.barrier()


def take_part(task: Task, rank: int, world: int, tell: Callable[[News], None]) -> None:
    """Run the clients of this rank from the start to the end; the group has been joined.

    Args:
        tell: called in rank 0 with the news: moments, traffic, and the end.

    Raises:
        WireFailure: in rank 0, for whichever client failed; elsewhere if this one did.
        ServerLost: the server ended or stalled.
    """
    problem, algorithm = task.problem, task.algorithm
    clients = assigned(problem.clients, world)
    exchange = Exchange(clients, rank, patience=task.patience, tell=tell)
    ctx = WireContext(
        exchange, Words(*task.names), problem.clients, local=clients[rank],
        replicates=task.replicates, block=task.block,
    )  # fmt: skip

    def watch(s: int, state: Any) -> None:
        if rank == 0:
            names = algorithm.iterate, *task.fields
            tell({name: _first(getattr(state, name)) for name in names})

    try:
        result = run(problem, algorithm, ctx, rounds=task.rounds, watch=watch, kernels=False)
    except (WireFailure, ServerLost):
        raise
    except (Exception, SystemExit) as error:
        raise raised(error, clients[rank], ctx.rounds + 1) from error
    ctx.close(result.state)
    if rank == 0:
        fields = zip(result.state._fields, result.state, strict=True)
        tell(Ended(reals=result.reals, state={name: _first(x) for name, x in fields}))


def _first(x: torch.Tensor) -> np.ndarray:
    """Return client 0's part of a field, [dim, replicates]."""
    copied: np.ndarray = x[0].cpu().numpy().copy()
    return copied


def live(rank: int, world: int, clients: range, folder: str, pipe: Connection) -> None:
    """Live the life of one process that ``run_on_wire`` started.

    Args:
        clients: that it holds.
        folder: where the processes meet.
        pipe: to the one that started it, which sends the Task and is told the news.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the one that started it ends it
    end_with(os.getppid())
    try:
        task = pipe.recv()
        join(rank=rank, world_size=world, init_method=f"file://{folder}/store")
        if rank == 0:
            pipe.send(None)  # the processes have met: patience begins
        take_part(task, rank, world, pipe.send)
    except (WireFailure, ServerLost) as failure:
        pipe.send(failure)
        os._exit(1)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - told where it is read
        pipe.send(raised(error, clients, 0))
        os._exit(1)
    os._exit(0)  # without the destructors of a group that others have left already
