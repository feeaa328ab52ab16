"""A pool of worker processes that comes to its end whenever one of them is killed.

``concurrent.futures`` leaves two gaps. A worker that is killed while it waits for work holds the
lock of the pool's queue for ever: the others wait for it, and the pool, which is to end, waits for
them (3 of about 110 kills). And a worker that is killed while it sends a long result leaves the
pool to wait for the rest of it.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from typing import Any, TypeVar

from toolkit.errors import DriftproofError
from toolkit.supervised import KILLED, how, remedy
from toolkit.workers import started_whole

Made = TypeVar("Made")
NOTICED = 5.0
"""Seconds in which a pool should have noticed that a worker ended, and the others have ended."""


class Recorded:
    """A context of multiprocessing that remembers the processes it made.

    A pool forgets its workers when it breaks; how they ended says why.
    """

    def __init__(self, made_by: Any) -> None:
        self._made_by = made_by
        self._processes: list[Any] = []

    @property
    def started(self) -> list[Any]:
        """The processes that were started; an interrupt may come between making and starting."""
        return [process for process in self._processes if process.pid is not None]

    def Process(self, *args: Any, **more: Any) -> Any:  # noqa: N802 - as multiprocessing calls it
        """Make a process and remember it."""
        process = self._made_by.Process(*args, **more)
        self._processes.append(process)
        return process

    def __getattr__(self, name: str) -> Any:
        return getattr(self._made_by, name)


class WorkerPool:
    """Worker processes of this machine.

    Args:
        processes: the context of multiprocessing that they start in.
        start: called by each worker as it starts.
    """

    def __init__(self, workers: int, processes: Any, start: Callable[[], object]) -> None:
        recorded: Any = Recorded(processes)
        self.workers = workers
        self._recorded = recorded
        self._executor = ProcessPoolExecutor(workers, mp_context=recorded, initializer=start)
        self._seen: float | None = None

    def submit(self, work: Callable[..., Made], *given: Any) -> Future[Made]:
        """Have a worker call a function."""
        with started_whole():
            return self._executor.submit(work, *given)

    def look(self) -> None:
        """Break the pool if a worker ended and it has not noticed; called now and then."""
        if all(worker.exitcode is None for worker in self._recorded.started):
            return
        if self._seen is None:
            self._seen = time.monotonic()
        elif time.monotonic() - self._seen > NOTICED:
            self.end()

    def end(self) -> None:
        """Kill the workers: what they still do is of no use to anybody."""
        for worker in self._recorded.started:
            worker.kill()
        with suppress(AttributeError, OSError):  # half a result has an end when no writer is left
            self._executor._result_queue._writer.close()  # type: ignore[attr-defined]
        self._executor.shutdown(cancel_futures=True)

    def why_broken(self, files: str) -> DriftproofError:
        """Return the error for workers of which one ended by itself; the pool ended the others.

        Args:
            files: the users' files that the workers ran, if any.
        """
        for worker in self._recorded.started:
            worker.join(timeout=NOTICED)
        return _why([worker.exitcode for worker in self._recorded.started], files)


@contextmanager
def worker_pool(workers: int, processes: Any, start: Callable[[], object]) -> Iterator[WorkerPool]:
    """Have workers for a while; none is left afterwards.

    Raises:
        DriftproofError: a worker ended by itself. The notes of the pool's error are the users'
            files that it ran.
    """
    pool = WorkerPool(workers, processes, start)
    try:
        yield pool
    except BrokenProcessPool as error:
        raise pool.why_broken("".join(getattr(error, "__notes__", ()))) from error
    finally:
        pool.end()


def _why(codes: Sequence[int | None], files: str) -> DriftproofError:
    odd = [code for code in codes if code not in (None, 0, -signal.SIGTERM)]
    if not odd or odd[0] == -KILLED:
        return DriftproofError(
            "a worker process was killed",
            "enough memory for every worker",
            "run with fewer --workers, and --resume to keep what is done",
        )
    return DriftproofError(
        f"{files or 'a unit of work'} ended a worker process {how(odd[0])}",
        "workers that end when the command does",
        remedy(odd[0]),
    )
