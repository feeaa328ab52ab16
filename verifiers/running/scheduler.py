"""Runs jobs on workers; finished tasks go to the ledger as they come.

What a job is sent is in the order it asked for, whichever worker was faster, so a verdict does not
depend on the number of workers. Each worker computes on one thread. The workers are processes of
this machine, or those of another executor (``executed_by``). The ledger is this process's alone.
"""

import hashlib
import heapq
import os
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from math import inf
from pathlib import Path
from typing import Any, Protocol

from driftproof.toolkit import workers as processes
from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.ledger import Ledger
from driftproof.verifiers.running.fingerprint import code_of

Result = tuple[bytes, float]
"""What a task gave, as bytes, and the seconds it took."""


class Task(Protocol):
    """A unit of work; it travels to a worker by pickle.

    If it has an ``effort``, a guess at how long it takes, those of the largest are started first.
    If it ``goes_on``, it is the rest of a task that the ledger has in part: it is not looked up.
    """

    @property
    def name(self) -> str:
        """Everything but the code that its result depends on."""

    @property
    def path(self) -> Path | None:
        """A user's own file that its code is in, if any."""

    def work(self) -> bytes:
        """Do it."""


Job = Generator[Sequence[Task], list[Result], Any]
"""Yields tasks, is sent their results in the same order, and returns what it made of them."""


class TaskExecutor(Protocol):
    """Who does tasks: processes of this machine, or of a cluster."""

    def submit(self, task: Task) -> Future[Result]:
        """Have a task done."""

    def at_once(self) -> int:
        """Return how many tasks it has at a time, waiting ones included."""

    def look(self) -> None:
        """Look whether results can still come; called often. Raise if none will."""

    def explained(self, error: Exception, at_work: Sequence[Task]) -> Exception:
        """Return what to raise for what a task raised: of those at work, the first."""


_executor: ContextVar[TaskExecutor | None] = ContextVar("executor", default=None)
FEW = 100
"""Jobs up to which this process does the shortest tasks before it starts workers."""
ALONE = 3.0
"""Seconds for which it does: about what a worker takes to start."""
BLAS = "OPENBLAS_NUM_THREADS"
LOOK = 2.0
"""Seconds without a result after which the executor is looked at again."""


@contextmanager
def executed_by(executor: TaskExecutor) -> Iterator[None]:
    """Have every ``run_jobs`` inside do its tasks there, whatever its number of workers."""
    before = _executor.set(executor)
    try:
        yield
    finally:
        _executor.reset(before)


class Cache:
    """Results of earlier runs: those of the ledger, if it may be used."""

    def __init__(self, ledger: Ledger | None, *, resume: bool) -> None:
        self._ledger, self._resume, self._reused = ledger, resume, False

    def stored(self, task: Task) -> Result | None:
        """Return a finished task of an earlier run: of one to resume, unless all keep it."""
        taken = self._resume or getattr(task, "kept", False)
        if self._ledger is None or not taken or getattr(task, "goes_on", False):
            return None
        found = self._ledger.task(task_key(task))
        self._reused |= found is not None
        return found

    def handed(self, job: Job, results: list[Result] | None) -> Sequence[Task]:
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

    def keep(self, task: Task, result: Result) -> Result:
        """Commit a finished task and return it."""
        if self._ledger is not None:
            self._ledger.keep(task_key(task), *result)
        return result


def run_jobs(
    jobs: Sequence[Job],
    cache: Cache,
    *,
    workers: int,
    done: Callable[[int], None] = lambda number: None,
    each: Callable[[Task, Result], None] = lambda task, result: None,
) -> list[Any]:
    """Run every job to its end and return what each returned, in the jobs' order.

    Args:
        workers: processes (1: everything in this one), unless another executor does the tasks.
        done: called with the number of each job that ended.
        each: called with each task that was done, and its result.
    """
    running, executor = _Running(jobs, cache, done, each), _executor.get()
    if executor is None:
        with on_one_thread():
            running.begin()
            few = len(jobs) <= FEW and not processes.warm()
            running.here(inf if workers == 1 else ALONE if few else 0.0)
            if running.waits:
                running.on(_Workers(workers))
    else:
        running.begin()
        running.on(executor)
    return running.made


class _Running:
    """Many jobs at once: a job goes on when all it asked for has come.

    Workers have a few tasks at a time, so that of all that wait the longest is started next.
    """

    def __init__(
        self,
        jobs: Sequence[Job],
        cache: Cache,
        done: Callable[[int], None],
        each: Callable[[Task, Result], None],
    ) -> None:
        self.made: list[Any] = [None for _ in jobs]
        self._jobs, self._cache, self._done, self._each = jobs, cache, done, each
        self._waiting: list[tuple[bool, float, int, int, Task]] = []
        self._slots: dict[int, list[Result | None]] = {}

    @property
    def waits(self) -> bool:
        """Whether a task waits to be done."""
        return bool(self._waiting)

    def begin(self) -> None:
        """Ask every job what it wants first."""
        for number in range(len(self._jobs)):
            self._advance(number)

    def here(self, seconds: float) -> None:
        """Do tasks in this process for a time, the shortest first; or all of them."""

        def short(of: tuple[bool, float, int, int, Task]) -> tuple[bool, float, int]:
            return of[0], -of[1], -of[2]

        ends = time.monotonic() + seconds
        while self._waiting and time.monotonic() < ends:
            if seconds == inf:
                *_, number, place, task = heapq.heappop(self._waiting)
            else:
                shortest = min(self._waiting, key=short)
                self._waiting.remove(shortest)
                heapq.heapify(self._waiting)
                *_, number, place, task = shortest
            self._came(number, place, task, perform(task))

    def on(self, executor: TaskExecutor) -> None:
        """Have an executor do all that waits, and what is asked for then."""
        pending: dict[Future[Result], tuple[int, int, Task]] = {}
        try:
            while self._waiting or pending:
                while self._waiting and len(pending) < executor.at_once():
                    *_, number, place, task = heapq.heappop(self._waiting)
                    try:  # a worker may have ended since the last look
                        future = executor.submit(task)
                    except Exception as error:
                        _blame(executor, error, task, pending)
                        raise
                    pending[future] = (number, place, task)
                executor.look()
                for future in wait(pending, timeout=LOOK, return_when=FIRST_COMPLETED).done:
                    number, place, task = pending.pop(future)
                    try:
                        result = future.result()
                    except Exception as error:
                        _blame(executor, error, task, pending)
                        raise
                    self._came(number, place, task, result)
        finally:
            for future in pending:
                future.cancel()

    def _came(self, number: int, place: int, task: Task, result: Result) -> None:
        self._slots[number][place] = self._cache.keep(task, result)
        self._each(task, result)
        self._advance(number)

    def _advance(self, number: int) -> None:
        """Let a job go on for as long as it has what it asked for."""
        while True:
            slots = self._slots.get(number)
            if slots is not None and any(slot is None for slot in slots):
                return
            try:
                ready = None if slots is None else [slot for slot in slots if slot]
                wanted = self._cache.handed(self._jobs[number], ready)
            except StopIteration as stop:
                self.made[number] = stop.value
                self._done(number)
                return
            self._slots[number] = [self._cache.stored(task) for task in wanted]
            for place, task in enumerate(wanted):
                if self._slots[number][place] is None:
                    effort, early = getattr(task, "effort", 0.0), getattr(task, "early", False)
                    heapq.heappush(self._waiting, (not early, -effort, number, place, task))


def _blame(
    executor: TaskExecutor,
    error: Exception,
    task: Task,
    pending: Mapping[Future[Result], tuple[int, int, Task]],
) -> None:
    """Raise what an executor makes of an error, if that is another, while tasks were at work."""
    explained = executor.explained(error, (task, *(other for _, _, other in pending.values())))
    if explained is not error:
        raise explained from error


def perform(task: Task) -> Result:
    """Do a task, and time it."""
    began = time.perf_counter()
    return task.work(), time.perf_counter() - began


class _Workers:
    """Processes of this machine."""

    def __init__(self, workers: int) -> None:
        self._pool, self._workers = processes.pool(workers), workers

    def submit(self, task: Task) -> Future[Result]:
        return self._pool.submit(perform, task)

    def at_once(self) -> int:
        return 2 * self._workers

    def look(self) -> None:
        """Nothing: a worker that ends breaks the pool, and its tasks raise."""

    def explained(self, error: Exception, at_work: Sequence[Task]) -> Exception:
        """Say whose file ran, if it may have ended its worker."""
        if not isinstance(error, BrokenProcessPool):
            return error
        files = ", ".join(sorted({str(task.path) for task in at_work if task.path is not None}))
        how = str(error).partition("exit codes of the workers are ")[2].strip() or "unknown"
        return DriftproofError(
            f"{files or 'a task'} ended a worker process, or the system killed it: {how}",
            "enough memory for every worker, and code that ends no process",
            "run with fewer --workers, and --resume to keep what is done",
        )


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


def task_key(task: Task) -> str:
    """Return the key of a task: what it computes, and the code that computes it."""
    text = f"{task.name}\0{code_of(task.path, claims=not getattr(task, 'kept', False))}"
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()
