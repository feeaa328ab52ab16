"""A client of a run on the wire: a process that holds one client, and the pipe to the server."""

import os
import signal
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from driftproof.toolkit.algorithm import Algorithm
from driftproof.toolkit.draws import Words
from driftproof.toolkit.engines.batched import BatchedContext, combined
from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.federation import run
from driftproof.toolkit.problem import Problem
from driftproof.toolkit.workers import end_with


@dataclass(frozen=True)
class Task:
    """What every client runs: see ``run_on_wire``. ``fields`` begin with the iterate."""

    problem: Problem
    algorithm: Algorithm
    names: tuple[str, ...]
    rounds: int
    replicates: int
    block: int
    fields: tuple[str, ...]


class Share(NamedTuple):
    """What a client sends for an average.

    Attributes:
        size: how many reals a replicate.
        weight: its unnormalised share, [replicates].
        x: the share times what is averaged, [size, replicates]; None if no replicate counts it.
    """

    size: int
    weight: np.ndarray
    x: np.ndarray | None


Moment = dict[str, np.ndarray]
"""The fields of client 0 as a round starts, [dim, replicates] each: it alone sends them."""


class Ended(NamedTuple):
    """What a client sends last: its own state, and the reals that it has sent."""

    finite: bool
    reals: int
    state: Mapping[str, np.ndarray]


class Raised(NamedTuple):
    """What a client sends of an error: got, wanted and remedy (empty: nothing is known)."""

    got: str
    wanted: str = ""
    remedy: str = ""


class WireContext(BatchedContext):
    """Holds one client; an average goes through the server.

    Draws are keyed by client, so this process draws what the batched context would draw for it,
    and the server's draws are made alike in every process. The averages agree with the batched
    context's to a few units in the last place: the sums are taken in another order.

    Args:
        pipe: to the server.
        client: the one that is held here.
        words, clients, more: as in the batched context.
    """

    fusable = False
    replayable = False  # the processes would leave a repeated round at different steps

    def __init__(
        self, pipe: Connection, words: Words, clients: int, *, client: int, **more: Any
    ) -> None:
        super().__init__(words, clients, local=range(client, client + 1), **more)
        self._pipe = pipe

    def means(
        self, mask: Tensor | None, xs: tuple[Tensor, ...], weights: Tensor | None
    ) -> list[Tensor]:
        """Return the means over the clients of all processes, [1, dim, replicates] each."""
        share = combined(mask, weights)
        if share is None:
            share = torch.ones((1, 1, 1), dtype=self.dtype)
        share = share.expand(1, 1, self.replicates)[0]
        x = torch.cat([x.expand(*x.shape[:2], self.replicates) for x in xs], 1)[0]
        sent = (share * x).numpy() if (share != 0).any() else None
        self._pipe.send(Share(len(x), share[0].numpy(), sent))
        averages = torch.from_numpy(self._pipe.recv())
        return [mean[None] for mean in torch.split(averages, [x.shape[1] for x in xs])]


def live(client: int, pipe: Connection) -> None:
    """Run one client from the start to the end; the server sends its task through the pipe."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the server ends it
    end_with(os.getppid())
    torch.set_num_threads(1)
    try:
        last: Ended | Raised = _run(client, pipe.recv(), pipe)
    except DriftproofError as error:
        last = Raised(error.got, error.wanted, error.remedy)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever a client's code raises
        last = Raised(f"{type(error).__name__}: {error}")
    with suppress(OSError):  # the server is gone
        pipe.send(last)


def _run(client: int, task: Task, pipe: Connection) -> Ended:
    ctx = WireContext(
        pipe,
        Words(*task.names),
        task.problem.clients,
        client=client,
        replicates=task.replicates,
        block=task.block,
    )

    def watch(s: int, state: Any) -> None:
        if client == 0:
            pipe.send({name: getattr(state, name)[0].numpy() for name in task.fields})

    made = run(task.problem, task.algorithm, ctx, rounds=task.rounds, watch=watch, kernels=False)
    state = {name: x[0].numpy() for name, x in made.state._asdict().items()}
    return Ended(all(np.isfinite(x).all() for x in state.values()), made.reals, state)
