"""Starts a run's processes on this machine, follows it, and leaves no process behind."""

from __future__ import annotations

import signal
import tempfile
import time
from multiprocessing.connection import Connection, wait
from pickle import PicklingError
from typing import Any

from driftproof.toolkit.algorithm import Algorithm
from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.problem import Problem
from driftproof.toolkit.wire.failure import TOLD, ServerLost, WireFailure
from driftproof.toolkit.wire.member import START, Task, assigned, live
from driftproof.toolkit.wire.results import Record, WireRun
from driftproof.toolkit.workers import context

GRACE = 2.0
"""Seconds for a process that is about to end to do so, and to say why."""


def run_on_wire(
    problem: Problem,
    algorithm: Algorithm,
    names: tuple[str, ...],
    *,
    rounds: int,
    processes: int | None = None,
    replicates: int = 1,
    block: int = 0,
    patience: float = 60.0,
    fields: tuple[str, ...] = (),
) -> WireRun:
    """Run with the clients in processes of this machine that send each other messages.

    A script that calls this does so under ``if __name__ == "__main__"``: the processes import it.

    Args:
        names: what keys the draws; with the names of a batched run, the noise is the same.
        rounds: of the algorithm; each has as many rounds of communication as it averages.
        processes: how many; one a client by default (more than clients are not started).
        replicates, block: as in the batched context.
        patience: seconds that the server waits for a round's messages; what a client computes
            between two averages must take less.
        fields: of the state, to be kept beside the iterate.

    Raises:
        WireFailure: a client ended, stalled or sent what is not finite. It has the clients, the
            round of communication and, in ``done``, the iterates and the traffic until then.
            A stalled client is told after ``patience``, the server itself after twice that.
    """
    task = Task(problem, algorithm, names, rounds, replicates, block, patience, fields)
    world = min(processes or problem.clients, problem.clients)
    with tempfile.TemporaryDirectory() as folder:
        crew = _Crew(task, assigned(problem.clients, world), folder)
        try:
            return crew.follow()
        finally:
            crew.end()


class _Crew:
    """The processes of one run, and what they tell."""

    def __init__(self, task: Task, clients: list[range], folder: str) -> None:
        self._clients, self._patience = clients, task.patience
        self._record, self._heard = Record(), time.monotonic()
        self._met, self._silence = False, START.total_seconds()
        self._reported: dict[int, WireFailure | ServerLost] = {}
        self._processes: list[Any] = []
        self._pipes: dict[int, Connection] = {}
        processes = context()
        try:
            for rank in range(len(clients)):
                self._pipes[rank], theirs = processes.Pipe()
                process = processes.Process(
                    target=live, args=(rank, len(clients), clients[rank], folder, theirs)
                )
                process.start()
                self._processes.append(process)
                theirs.close()
            for pipe in self._pipes.values():
                self._hand(pipe, task)
        except BaseException:
            self.end()
            raise

    def _hand(self, pipe: Connection, task: Task) -> None:
        try:
            pipe.send(task)
        except OSError:
            return  # it has ended; that is told when it is looked at
        except (PicklingError, AttributeError, TypeError) as error:
            raise DriftproofError(
                f"a case that cannot be sent to a process: {error}",
                "a problem and an algorithm whose classes can be imported by name",
                "put their classes into a module",
            ) from error

    def follow(self) -> WireRun:
        """Hear the news until the run ends, or raise what it failed of."""
        while self._record.ended is None:
            running = [p.sentinel for p in self._processes if p.exitcode is None]
            left = self._heard + self._silence - time.monotonic()
            wait([*self._pipes.values(), *running], timeout=max(left, 0.0))
            codes = [process.exitcode for process in self._processes]  # before they are heard
            self._hear()
            failed = self._failed(codes)
            if failed is not None:
                raise failed.but(self._how(failed), self._record.so_far())
        for process in self._processes:
            process.join(self._patience)
        return self._record.so_far()

    def _hear(self) -> None:
        """Hear all that was told, the server first."""
        for rank, pipe in sorted(self._pipes.items()):
            try:
                while pipe.poll():
                    news = pipe.recv()
                    if isinstance(news, WireFailure | ServerLost):
                        self._reported[rank] = news
                    elif news is not None:
                        self._record.hear(news)
                    if rank == 0:
                        self._met, self._heard = True, time.monotonic()
                        self._silence = 2 * self._patience + 3
            except (EOFError, OSError):
                self._pipes.pop(rank).close()

    def _failed(self, codes: list[int | None]) -> WireFailure | None:
        """Return what the run failed of: what was told, else what is seen from here."""
        if self._record.ended is not None:
            return None
        if self._reported and 0 not in self._reported:
            # others may notice that the server ends before it has told why, or has died of it
            self._processes[0].join(GRACE)
            self._hear()
        failures = [news for news in self._reported.values() if isinstance(news, WireFailure)]
        if failures:
            order = list(TOLD)
            return min(failures, key=lambda f: (order.index(f.what), f.clients))
        gone = [
            rank
            for rank, code in enumerate(codes)
            if code is not None and (code != 0 or rank == 0) and rank not in self._reported
        ]
        if gone:
            return self._failure("ended", gone)
        lost = [news for news in self._reported.values() if isinstance(news, ServerLost)]
        if lost:
            return self._failure("stalled" if lost[0].late else "ended", [0])
        if time.monotonic() - self._heard > self._silence:
            return self._failure("stalled", [0])
        return None

    def _failure(self, what: str, ranks: list[int]) -> WireFailure:
        number = self._record.traffic.rounds + 1 if self._met else 0
        return WireFailure(what, [c for rank in ranks for c in self._clients[rank]], number)

    def _how(self, failure: WireFailure) -> str:
        """Say how a client's process ended, if it did."""
        ranks = [r for r, c in enumerate(self._clients) if set(c) & set(failure.clients)]
        if failure.what != "ended" or not ranks:
            return failure.detail
        process = self._processes[ranks[0]]
        process.join(GRACE)
        code = process.exitcode
        if code is None:
            return "its connection closed"
        return f"killed by {signal.Signals(-code).name}" if code < 0 else f"exit status {code}"

    def end(self) -> None:
        """Leave no process behind."""
        for process in self._processes:
            process.kill()
        for process in self._processes:
            process.join()
        for pipe in self._pipes.values():
            pipe.close()
