"""Runs jobs on workers; finished units go to the ledger as they come.

What a job is sent is in the order it asked for, whichever worker was faster, so a verdict does not
depend on the number of workers. Each worker computes on one thread. The workers are processes of
this machine, or those of any other executor (``units_at``). The ledger is this process's alone.
"""

from __future__ import annotations

import hashlib
import heapq
import multiprocessing
import os
import signal
import sys
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from toolkit.errors import DriftproofError
from toolkit.ledger import Ledger
from toolkit.worker_pool import WorkerPool, worker_pool
from toolkit.workers import context, end_with_parent, forkable, may_fork, nameless_locks
from verifiers.running.fingerprint import code_of

Result = tuple[bytes, float]
"""What a unit of work gave, as bytes, and the seconds it took."""


class Unit(Protocol):
    """A unit of work; it travels to a worker by pickle.

    If it has an ``effort``, a guess at how long it takes, those of the largest are started first.
    If it ``goes_on``, it is the rest of a unit that the ledger has in part: it is not looked up.
    """

    @property
    def name(self) -> str:
        """Everything but the code that its result depends on."""

    @property
    def path(self) -> Path | None:
        """A user's own file that its code is in, if any."""

    def work(self) -> bytes:
        """Do it."""


Job = Generator[Sequence[Unit], list[Result], Any]
"""Yields units, is sent their results in the same order, and returns what it made of them."""


class Place(Protocol):
    """Where units are done: a pool of processes, or workers elsewhere."""

    def submit(self, item: Unit) -> Future[Result]:
        """Have a unit done."""

    def at_once(self) -> int:
        """Return how many units are there at a time, waiting ones included."""

    def look(self) -> None:
        """Look whether results can still come; called often. Raise if none will."""

    def explained(self, error: Exception, at_work: Sequence[Unit]) -> Exception:
        """Return what to raise for what a unit raised: of those at work, the first."""


_elsewhere: ContextVar[Place | None] = ContextVar("elsewhere", default=None)
FEW = 100
"""Jobs up to which each worker loads what it needs, and only that: a claim or two, no kernels."""
BLAS = "OPENBLAS_NUM_THREADS"
LOOK = 2.0
"""Seconds without a result after which the place is looked at again."""


@contextmanager
def units_at(place: Place) -> Iterator[None]:
    """Have every ``run_jobs`` inside do its units there, whatever its number of workers."""
    before = _elsewhere.set(place)
    try:
        yield
    finally:
        _elsewhere.reset(before)


def elsewhere() -> bool:
    """Say whether units are done on other machines, each with machine code of its own."""
    return _elsewhere.get() is not None


class Units:
    """Where results come from: the ledger if it may be used and has them, else the work itself."""

    def __init__(self, ledger: Ledger | None, *, resume: bool) -> None:
        self._ledger, self._resume, self._reused = ledger, resume, False

    def stored(self, item: Unit) -> Result | None:
        """Return a finished unit of an earlier run."""
        if self._ledger is None or not self._resume or getattr(item, "goes_on", False):
            return None
        found = self._ledger.unit(unit_key(item))
        self._reused |= found is not None
        return found

    def handed(self, job: Job, results: list[Result] | None) -> Sequence[Unit]:
        """Hand a job what it asked for (None: it begins), and return what it asks for next.

        Raises:
            DriftproofError: it cannot read that, and some of its results were in the ledger.
            StopIteration: it is at its end.
        """
        try:
            return next(job) if results is None else job.send(results)
        except (StopIteration, DriftproofError):
            raise
        except Exception as error:
            if not self._reused:
                raise
            raise DriftproofError(
                f"a result in the ledger that cannot be read ({type(error).__name__}: {error})",
                "results as driftproof wrote them",
                "run without --resume, or with another --out; if that ends in the same way, "
                "please report it, with the traceback that --debug shows",
            ) from error

    def keep(self, item: Unit, result: Result) -> Result:
        """Commit a finished unit and return it."""
        if self._ledger is not None:
            self._ledger.keep(unit_key(item), *result, name=item.name)
        return result


def run_jobs(
    jobs: Sequence[Job],
    units: Units,
    *,
    workers: int,
    apart: bool = False,
    done: Callable[[int], None] = lambda number: None,
    each: Callable[[Unit, Result], None] = lambda unit, result: None,
) -> list[Any]:
    """Run every job to its end and return what each returned, in the jobs' order.

    Args:
        workers: processes (1: everything in this one, job after job), unless units are done
            elsewhere.
        apart: never in this process, even with one worker: a kernel that runs on all threads
            would keep this process from forking any more.
        done: called with the number of each job that ended.
        each: called with each unit that was done, and its result.
    """
    if not jobs:
        return []  # without threads in this process, which could start no worker by a fork then
    place = _elsewhere.get()
    if place is not None:
        return _Spread(jobs, units, place, done, each).run()
    if workers == 1 and not apart:
        with on_one_thread():
            return [_drive(job, units, number, done, each) for number, job in enumerate(jobs)]
    with _pool(workers, preload=len(jobs) > FEW) as pool:
        return _Spread(jobs, units, _Here(pool), done, each).run()


def _drive(
    job: Job,
    units: Units,
    number: int,
    done: Callable[[int], None],
    each: Callable[[Unit, Result], None],
) -> Any:
    results: list[Result] | None = None
    while True:
        try:
            wanted = units.handed(job, results)
        except StopIteration as stop:
            done(number)
            return stop.value
        results = []
        for item in wanted:
            results.append(units.stored(item) or units.keep(item, perform(item)))
            each(item, results[-1])


class _Spread:
    """Many jobs on workers: a job goes on when all it asked for has come.

    The workers have a few units at a time, so that of all that wait the longest is started next.
    """

    def __init__(
        self,
        jobs: Sequence[Job],
        units: Units,
        place: Place,
        done: Callable[[int], None],
        each: Callable[[Unit, Result], None],
    ) -> None:
        self._jobs, self._units, self._place = jobs, units, place
        self._done, self._each = done, each
        self._waiting: list[tuple[float, int, int, Unit]] = []
        self._made: list[Any] = [None for _ in jobs]
        self._slots: dict[int, list[Result | None]] = {}
        self._pending: dict[Future[Result], tuple[int, int, Unit]] = {}

    def run(self) -> list[Any]:
        for number in range(len(self._jobs)):
            self._advance(number)
        while self._pending:
            self._place.look()
            for future in wait(self._pending, timeout=LOOK, return_when=FIRST_COMPLETED).done:
                number, place, item = self._pending.pop(future)
                result = self._units.keep(item, self._result(future, item))
                self._slots[number][place] = result
                self._each(item, result)
                self._advance(number)
            self._submit()
        return self._made

    def _result(self, future: Future[Result], item: Unit) -> Result:
        try:
            return future.result()
        except Exception as error:
            at_work = (item, *(unit for _, _, unit in self._pending.values()))
            told = self._place.explained(error, at_work)
            if told is error:
                raise
            raise told from error

    def _advance(self, number: int) -> None:
        """Let a job go on for as long as it has what it asked for."""
        while True:
            slots = self._slots.get(number)
            if slots is not None and any(slot is None for slot in slots):
                return
            try:
                ready = None if slots is None else [slot for slot in slots if slot]
                wanted = self._units.handed(self._jobs[number], ready)
            except StopIteration as stop:
                self._made[number] = stop.value
                self._done(number)
                return
            self._slots[number] = [self._units.stored(item) for item in wanted]
            for place, item in enumerate(wanted):
                if self._slots[number][place] is None:
                    heapq.heappush(self._waiting, (-_effort(item), number, place, item))
            self._submit()

    def _submit(self) -> None:
        while self._waiting and len(self._pending) < self._place.at_once():
            _, number, place, item = heapq.heappop(self._waiting)
            self._pending[self._place.submit(item)] = (number, place, item)


def _effort(unit: Unit) -> float:
    effort: float = getattr(unit, "effort", 0.0)
    return effort


def perform(unit: Unit) -> Result:
    """Do a unit of work, and time it."""
    began = time.perf_counter()
    return unit.work(), time.perf_counter() - began


@dataclass(frozen=True)
class _Here:
    """A pool of processes of this machine."""

    pool: WorkerPool

    def submit(self, item: Unit) -> Future[Result]:
        return self.pool.submit(perform, item)

    def at_once(self) -> int:
        return 2 * self.pool.workers

    def look(self) -> None:
        self.pool.look()

    def explained(self, error: Exception, at_work: Sequence[Unit]) -> Exception:
        """Note whose files ran, if one ended its worker."""
        if isinstance(error, BrokenProcessPool):
            files = {str(unit.path) for unit in at_work if unit.path is not None}
            error.add_note(", ".join(sorted(files)))
        return error


@contextmanager
def _pool(workers: int, *, preload: bool = True) -> Iterator[WorkerPool]:
    if preload and forkable():
        import verifiers.running.preloaded  # noqa: F401 - before the workers are forked
    with worker_pool(workers, context(), _start_worker) as pool:
        pool.submit(int)  # forks the workers now, before any job computes something here
        yield pool


def _start_worker() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the main process ends the run
    end_with_parent()
    if "numba" in sys.modules or not forkable():
        with nameless_locks():  # numba makes one
            if "numba" not in sys.modules:  # else it has read it, and minds if that changes
                os.environ.setdefault("NUMBA_NUM_THREADS", "1")
            compute_on(1, 1)
    else:  # a fork, which may never need numba: what it makes later has no name either
        os.environ.setdefault("NUMBA_NUM_THREADS", "1")
        multiprocessing.set_start_method("fork", force=True)
        torch_on(1)
    _one_blas_thread()
    may_fork()


def torch_on(threads: int) -> None:
    """Set how many threads torch computes on."""
    import torch

    torch.set_num_threads(threads)


@contextmanager
def on_one_thread() -> Iterator[None]:
    """Compute on one thread: then results are the same to the bit on any number of workers."""
    before, set_to = compute_on(1, 1), os.environ.get(BLAS)
    limited = _one_blas_thread()
    try:
        yield
    finally:
        limited.restore_original_limits()
        os.environ.pop(BLAS, None)
        if set_to is not None:
            os.environ[BLAS] = set_to
        compute_on(*before)


def _one_blas_thread() -> Any:
    """Have numpy's linear algebra on one thread: on several it sums in another order.

    Return what takes that back.
    """
    from threadpoolctl import threadpool_limits

    os.environ[BLAS] = "1"  # for a library that is loaded later
    return threadpool_limits(1, user_api="blas")


def compute_on(torch_threads: int, numba_threads: int) -> tuple[int, int]:
    """Set how many threads torch and numba compute on; return how many they did."""
    import torch

    before = torch.get_num_threads(), numba_threads
    with suppress(ImportError):  # without numba there are no kernels of it either
        import numba

        before = before[0], numba.get_num_threads()
        numba.set_num_threads(numba_threads)  # first: as its threads start, torch's number changes
    torch.set_num_threads(torch_threads)
    return before


def unit_key(item: Unit) -> str:
    """Return the name of a unit: what it computes, and the code that computes it."""
    return hashlib.blake2b(
        f"{item.name}\0{code_of(item.path)}".encode(), digest_size=16
    ).hexdigest()
