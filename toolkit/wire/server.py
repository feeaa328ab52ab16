"""The server of a run on the wire: it starts the clients, averages what they send, and counts it.

In every round of communication it hears each client once, within a time, and sends all of them the
average. So a client that fails is named, with the round, and no process is left behind.
"""

import multiprocessing
import signal
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from pickle import PicklingError
from typing import Any

import numpy as np

from driftproof.toolkit.algorithm import Algorithm
from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.problem import Problem
from driftproof.toolkit.wire.client import Ended, Moment, Raised, Share, Task, live

START_SECONDS = 120.0
"""Seconds that the processes have to come up."""
GRACE_SECONDS = 2.0
"""Seconds that the other clients have to be heard once one has failed."""
HAPPENED = {
    "raised": (
        "raised an error",
        "clients that run to the end",
        "mend what it says; --engine batched runs the same steps in one process",
    ),
    "not finite": (
        "sent a value that is not finite",
        "finite values on the wire",
        "take a smaller step size; what was done until then is in the error's done",
    ),
    "out of step": (
        "came with another message than client 0",
        "the same averages of the same sizes in the same order at every client",
        "let an algorithm's control flow depend on server draws, not on a client's own data",
    ),
    "ended": (
        "ended before the run did",
        "processes that live until the run ends",
        "see that there is memory for them all, and that a script which runs on the wire starts "
        'under if __name__ == "__main__"; then run again (--resume keeps finished units)',
    ),
    "stalled": (
        "did not answer in time",
        "an answer of every client within the patience",
        "see what holds it up, or allow more patience; then run again (--resume keeps finished "
        "units)",
    ),
}
"""What happened → what is said of it: got, wanted, remedy."""


@dataclass(frozen=True, kw_only=True)
class WireRun:
    """A run on the wire, or what a failed one did, counted at the server.

    A *message* is what a client sends or receives in one average, however many tensors that
    averages. A message of several replicates carries them all, and a client sends it if it takes
    part in any. Bytes are those of the averaged numbers; the weight beside them is not counted.

    Attributes:
        iterates: client 0's at each round's start and at the end, [rounds + 1, dim, replicates].
        followed: the same of each field of the state that was asked for, by name.
        reals: reals that one client sent, as the batched context counts them.
        state: the fields of client 0's final state, [dim, replicates] each (empty if it failed).
        rounds: rounds of communication that were completed.
        messages_up, messages_down: from clients to the server, and back.
        bytes_up, bytes_down: of those messages.
    """

    iterates: np.ndarray
    followed: Mapping[str, np.ndarray]
    reals: int = 0
    state: Mapping[str, np.ndarray] = field(default_factory=dict)
    rounds: int = 0
    messages_up: int = 0
    messages_down: int = 0
    bytes_up: int = 0
    bytes_down: int = 0


class WireFailure(DriftproofError):  # noqa: N818 - it tells of a run, not of a mistake
    """A client failed, and the run with it.

    Attributes:
        what: a key of ``HAPPENED``.
        clients: which (none: their average).
        number: in which round of communication, from 1.
        done: what was done until then.
    """

    what: str
    clients: tuple[int, ...]
    number: int
    done: WireRun


def run_on_wire(
    problem: Problem,
    algorithm: Algorithm,
    names: tuple[str, ...],
    *,
    rounds: int,
    replicates: int = 1,
    block: int = 0,
    patience: float = 60.0,
    fields: tuple[str, ...] = (),
) -> WireRun:
    """Run with each client in a process of this machine, and the server in this one.

    A script that calls this does so under ``if __name__ == "__main__"``: the processes import it.

    Args:
        names: what keys the draws; with the names of a batched run, the noise is the same.
        rounds: of the algorithm; each has as many rounds of communication as it averages.
        replicates, block: as in the batched context.
        patience: seconds that the server waits for a round's messages; what a client computes
            between two averages must take less.
        fields: of the state, to be kept beside the iterate.

    Raises:
        WireFailure: a client ended, stalled or sent what is not finite. It has the clients, the
            round of communication and, in ``done``, the iterates and the traffic until then.
    """
    task = Task(problem, algorithm, names, rounds, replicates, block, (algorithm.iterate, *fields))
    server = _Server(patience)
    try:
        server.start(task)
        return server.serve()
    finally:
        server.end()


class _Server:
    """The clients' processes, the pipes to them, and what was heard."""

    def __init__(self, patience: float) -> None:
        self._patience = patience
        self._processes: list[Any] = []
        self._pipes: list[Connection] = []
        self._counted: Counter[str] = Counter()
        self._moments: list[Moment] = []

    def start(self, task: Task) -> None:
        """Start a process for each client, and send it the task."""
        # they inherit nothing of this process: no threads, no locks, no pipe of another client
        apart = "forkserver" in multiprocessing.get_all_start_methods()
        processes: Any = multiprocessing.get_context("forkserver" if apart else "spawn")
        if apart:
            processes.set_forkserver_preload([live.__module__])
        for client in range(task.problem.clients):
            ours, theirs = processes.Pipe()
            process = processes.Process(target=live, args=(client, theirs))
            process.start()
            theirs.close()
            self._processes.append(process)
            self._pipes.append(ours)
        try:
            self._send(task)
        except (PicklingError, AttributeError, TypeError) as error:
            raise DriftproofError(
                f"a case that cannot be sent to a process: {error}",
                "a problem and an algorithm whose classes can be imported by name",
                "put their classes into a module",
            ) from error

    def serve(self) -> WireRun:
        """Average what the clients send until they end."""
        patience = START_SECONDS
        while True:
            heard = self._heard(patience)
            patience = self._patience
            kinds = [(type(one), getattr(one, "size", 0)) for one in heard]
            apart = [k for k, kind in enumerate(kinds) if kind != kinds[0]]
            if apart:
                what = f"{_announced(heard[apart[0]])}, where client 0 has {_announced(heard[0])}"
                raise self._failure("out of step", apart, what)
            if isinstance(heard[0], Ended):
                bad = [k for k, one in enumerate(heard) if not one.finite]
                if bad:
                    raise self._failure("not finite", bad)
                return self._done(heard[0])
            self._send(self._average(heard))

    def end(self) -> None:
        """Leave no process behind."""
        for process in self._processes:
            process.kill()
        for process in self._processes:
            process.join()
        for pipe in self._pipes:
            pipe.close()

    def _send(self, message: Any) -> None:
        for pipe in self._pipes:
            with suppress(OSError):  # it has ended; that is told when it is to be heard
                pipe.send(message)

    def _heard(self, patience: float) -> list[Any]:
        """Return what each client sends next, a Share or its Ended.

        Where one fails, the others are heard all the same: client 0 may be about to tell a moment.
        """
        heard: dict[int, Share | Ended] = {}
        failed: dict[int, tuple[str, str, str, str]] = {}
        silent = dict(enumerate(self._pipes))
        end = time.monotonic() + patience
        while silent and (ready := wait([*silent.values()], max(0.0, end - time.monotonic()))):
            for client, pipe in [*silent.items()]:
                if pipe not in ready:
                    continue
                try:
                    news = pipe.recv()
                except (EOFError, OSError):
                    news = None
                if isinstance(news, dict):
                    self._moments.append(news)
                    continue
                del silent[client]
                if isinstance(news, Share | Ended):
                    heard[client] = news
                    continue
                failed[client] = (
                    ("raised", *news)
                    if isinstance(news, Raised)
                    else ("ended", self._how(client), "", "")
                )
                end = min(end, time.monotonic() + GRACE_SECONDS)
        if failed:
            client = min(failed)
            what, detail, wanted, remedy = failed[client]
            raise self._failure(what, [client], detail, wanted, remedy)
        if silent:
            raise self._failure("stalled", silent, f"waited {patience:g} s")
        return [heard[client] for client in sorted(heard)]

    def _average(self, shares: Sequence[Share]) -> np.ndarray:
        """Return Σ share·x / Σ share, [size, replicates], and count what was sent for it."""
        sent = {k: one.x for k, one in enumerate(shares) if one.x is not None}
        bad = [k for k, x in sent.items() if not np.isfinite(x).all()]
        if bad:
            raise self._failure("not finite", bad)
        weight = np.sum([one.weight for one in shares], 0)
        with np.errstate(all="ignore"):
            mean: np.ndarray = np.sum([*sent.values()], 0) / weight
        if not np.isfinite(mean).all():
            what = f"an average of clients whose weights sum to {weight.tolist()}"
            raise self._failure("not finite", (), what)
        self._counted.update(
            rounds=1,
            messages_up=len(sent),
            messages_down=len(shares),
            bytes_up=len(sent) * mean.nbytes,
            bytes_down=len(shares) * mean.nbytes,
        )
        return mean

    def _done(self, ended: Ended | None = None) -> WireRun:
        names = list(self._moments[0]) if self._moments else []
        followed = {name: np.array([m[name] for m in self._moments]) for name in names}
        more: dict[str, Any] = dict(self._counted)
        more |= {"reals": ended.reals, "state": ended.state} if ended else {}
        iterates = followed[names[0]] if names else np.array([])
        return WireRun(iterates=iterates, followed=followed, **more)

    def _failure(
        self,
        what: str,
        clients: Iterable[int],
        detail: str = "",
        wanted: str = "",
        remedy: str = "",
    ) -> WireFailure:
        happened, usual, usually = HAPPENED[what]
        named, number = tuple(sorted(clients)), self._counted["rounds"] + 1
        who = f"client{'s' * (len(named) > 1)} {', '.join(map(str, named))}"
        got = f"{who if named else 'the server'} {happened} in round of communication {number}"
        failure = WireFailure(
            got + (f": {detail}" if detail else ""), wanted or usual, remedy or usually
        )
        failure.what, failure.clients, failure.number = what, named, number
        failure.done = self._done()
        return failure

    def _how(self, client: int) -> str:
        """Say how a client's process ended."""
        process = self._processes[client]
        process.join(GRACE_SECONDS)
        code = process.exitcode
        if code is None:
            return "its connection closed"
        return f"killed by {signal.Signals(-code).name}" if code < 0 else f"exit status {code}"


def _announced(news: Share | Ended) -> str:
    if isinstance(news, Share):
        return f"an average of {news.size} reals a replicate"
    return "the end of the run"
