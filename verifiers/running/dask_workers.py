"""Units on the workers of a Dask cluster: one that runs, or one of this machine's own.

Dask gives units to workers, and does those of a lost worker again on another. This file says in
plain words what became of the cluster; what goes wrong in a unit is told as anywhere else.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from typing import Any
from uuid import uuid4

from toolkit.environment import processor
from toolkit.errors import DriftproofError, MissingError
from toolkit.workers import APART
from verifiers.running.fingerprint import PACKAGES, fingerprint
from verifiers.running.parcels import Elsewhere, differences, done, parcel_of, refused
from verifiers.running.scheduler import LOOK, Result, Unit, units_at

PATIENCE = 60.0
"""Seconds without any worker after which the command ends."""
ANSWER = 10.0
"""Seconds in which a scheduler has to answer."""
RESUME = (
    "the same command with --resume goes on, with or without --cluster; no finished unit is lost"
)


@contextmanager
def dask_workers(
    address: str | None, processes: int, tell: Callable[[str], None] = lambda text: None
) -> Iterator[int]:
    """Have every ``run_jobs`` inside do its units on Dask's workers; yield how many there are.

    Args:
        address: of a scheduler, ``tcp://host:8786`` say; None: a cluster is started here.
        processes: how many workers that cluster has.
        tell: called with a sentence when workers come or go.

    Raises:
        MissingError: Dask is not installed, no scheduler answers, or it has no worker.
        DriftproofError: a worker has other code or versions, or computes on several threads.
    """
    with ExitStack() as opened:
        dask = opened.enter_context(_dask())
        if address is None:
            cluster = opened.enter_context(_local(dask, processes))
            client = opened.enter_context(_connected(dask, cluster, "this machine", processes))
        else:
            client = opened.enter_context(_connected(dask, address, address, 1))
        place = _DaskPlace(client, address or "this machine", tell)
        opened.enter_context(units_at(place))
        yield place.workers


LOG = {
    "logging": dict.fromkeys(
        ("distributed", "distributed.client", "asyncio", "tornado.application"), "critical"
    )
}
"""Dask's own messages are few, and asyncio's and tornado's are of lost connections, which are told
in words."""
SETTINGS = {
    "distributed.admin.large-graph-warning-threshold": "1 GB",  # a checkpoint that is sent is large
    "distributed.worker.multiprocessing-method": APART,
}


@contextmanager
def _dask() -> Iterator[Any]:
    """Import Dask, and have it as it serves a command."""
    with ExitStack() as during:
        try:
            import dask

            during.enter_context(dask.config.set(LOG))
            import distributed  # it sets up its log, and adds its settings to Dask's
        except ModuleNotFoundError as error:
            raise MissingError(
                f"--cluster dask, and no {error.name} is installed",
                "the package distributed",
                "pip install 'driftproof[cluster]', here and on every worker",
            ) from error
        during.enter_context(dask.config.set(SETTINGS))
        yield distributed


@contextmanager
def _local(dask: Any, processes: int) -> Iterator[Any]:
    """Start a cluster of processes on this machine that compute on one thread each.

    Where there can be one, a process that has everything loaded forks them.
    """
    if APART == "forkserver":
        preloaded = ["distributed", "verifiers.running.preloaded"]
        dask.utils.get_mp_context().set_forkserver_preload(preloaded)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a slow disk, on which nothing is kept
        try:
            cluster = dask.LocalCluster(
                n_workers=processes, threads_per_worker=1, memory_limit=0, dashboard_address=None,
                host="127.0.0.1",
            )  # fmt: skip
        except (OSError, TimeoutError, RuntimeError) as error:
            raise MissingError(
                f"--cluster dask could not start {processes} workers here ({error})",
                "memory for each, and a machine that is not too busy to start them",
                "ask for fewer --workers, or leave out --cluster: they are processes either way",
            ) from error
    try:
        yield cluster
    finally:
        with suppress(Exception):  # the work is done, and its processes end with this one
            cluster.close(timeout=PATIENCE)


@contextmanager
def _connected(dask: Any, cluster: Any, name: str, workers: int) -> Iterator[Any]:
    """Connect to a scheduler, and wait until workers are there."""
    try:
        if isinstance(cluster, str):
            dask.comm.resolve_address(cluster)
        client = dask.Client(cluster, timeout=ANSWER, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as error:
        raise MissingError(
            f"no Dask scheduler answers at {name} ({error})",
            "the address of a scheduler that runs, such as tcp://host:8786",
            "start one: dask scheduler; it prints its address. --cluster dask starts one here",
        ) from error
    try:
        try:
            client.wait_for_workers(workers, timeout=PATIENCE)
        except TimeoutError as error:
            raise MissingError(
                f"the scheduler at {name} has no worker, {PATIENCE:.0f} s long",
                "at least one",
                f"start some: dask worker {name} --nthreads 1 --nworkers 4",
            ) from error
        yield client
    finally:
        with suppress(OSError, TimeoutError):
            client.close(timeout=ANSWER)


def introduced() -> tuple[Mapping[str, str], str]:
    """Return the code of this worker, and the processor, which other bits may come from."""
    return fingerprint(), processor()


class _DaskPlace(Elsewhere):
    """The workers that a scheduler has, however many come and go."""

    def __init__(self, client: Any, name: str, tell: Callable[[str], None]) -> None:
        super().__init__(client.get_executor(pure=False), 0)
        self._client, self._name, self._tell = client, name, tell
        self._group, self._sent = f"driftproof-{uuid4().hex}", 0
        self._seen: set[str] = set()
        self._looked = self._had_some = time.monotonic()
        self._asking = ThreadPoolExecutor(1)
        self._answer: Future[Mapping[str, int]] | None = None
        self._refuse(client.nthreads())

    @property
    def workers(self) -> int:
        """How many there are."""
        return len(self._seen)

    def submit(self, item: Unit) -> Future[Result]:
        """Send a unit; all of them are one group to Dask, of which each worker takes the next."""
        self._sent += 1
        executor: Any = self._executor  # that of Dask takes a key
        future: Future[Result] = executor.submit(
            done, parcel_of(item), key=(self._group, self._sent)
        )
        return future

    def at_once(self) -> int:
        """Return how many units the cluster has at a time: each worker one, and one that waits.

        Dask deals the first of a group in advance, and unevenly if there are more than workers.
        """
        workers = max(1, self.workers)
        return workers if self._sent <= 3 * workers else 2 * workers

    def look(self) -> None:
        """Look who came and who went, now and then."""
        now = time.monotonic()
        if self._client.status != "running":
            raise self._lost()
        if self._answer is None:  # it is not waited for: a busy scheduler answers late
            if now > self._looked + LOOK:
                self._looked, self._answer = now, self._asking.submit(self._client.nthreads)
            return
        if not self._answer.done():
            return
        try:
            threads, self._answer = self._answer.result(), None
        except (OSError, TimeoutError) as error:
            raise self._lost() from error
        gone = self._seen - set(threads)
        if gone:
            left = f"{len(threads)} left" if threads else "none left: waiting for others"
            self._tell(
                f"{len(gone)} of {len(self._seen)} workers ended, {left}; their units are done "
                "again"
            )
        self._refuse({worker: n for worker, n in threads.items() if worker not in self._seen})
        self._seen = set(threads)
        if threads:
            self._had_some = now
        elif now > self._had_some + PATIENCE:
            raise MissingError(
                f"no worker has been left at {self._name} for {PATIENCE:.0f} s",
                "at least one",
                f"start some; {RESUME}",
            )

    def _refuse(self, threads: Mapping[str, int]) -> None:
        """Raise if workers that are new have other code, or more than one thread."""
        if not threads:
            return
        several = [name for name, number in threads.items() if number > 1]
        if several:
            raise DriftproofError(
                f"these workers do several units at once, in threads: {', '.join(several)}",
                "one thread a worker: a process computes on one thread, and bits stay the same",
                "start them with --nthreads 1, and --nworkers for more than one on a machine",
            )
        try:
            answers = self._client.run(introduced, workers=list(threads), on_error="return")
        except (OSError, TimeoutError) as error:
            raise self._lost() from error
        wrong, processors = [], set()
        for name, answer in answers.items():
            if isinstance(answer, Exception):
                if not _lacks_driftproof(answer):
                    continue  # it has gone meanwhile
                wrong.append(f"the worker {name} has no driftproof, or another")
                continue
            code, kind = answer
            processors.add(kind)
            differ = differences(fingerprint(), code)
            if differ:
                wrong.append(f"the worker {name} has {', '.join(differ)}")
        if wrong:
            raise refused(wrong)
        self._seen |= set(threads)
        if processors - {processor()}:
            self._tell(
                "some workers have another processor than this machine "
                f"({', '.join(sorted(processors - {processor()}))}): the last bits of a sum may "
                "differ from those of a run here"
            )

    def explained(self, error: Exception, at_work: Sequence[Unit]) -> Exception:
        """Say what became of the cluster, where it is not the unit that failed."""
        from distributed.scheduler import KilledWorker

        if isinstance(error, DriftproofError):
            return error
        if isinstance(error, KilledWorker):
            unit = at_work[0]
            words = " ".join(filter(None, unit.name.split("\0")))
            return DriftproofError(
                f"{unit.path or 'a unit'} ended {error.allowed_failures + 1} workers, one after "
                f"the other, in the unit {words}",
                "enough memory for a unit, and code that ends no process",
                f"look at the workers' own messages for the reason; {RESUME}",
            )
        if isinstance(error, CancelledError):
            return self._lost()
        if _lacks_driftproof(error):
            return refused([f"the cluster at {self._name} has no driftproof, or another: {error}"])
        return error

    def _lost(self) -> DriftproofError:
        return DriftproofError(
            f"the Dask scheduler at {self._name} is gone, or has let go of this command",
            "a scheduler that runs until the command ends",
            f"start it again, and its workers; {RESUME}",
        )


def _lacks_driftproof(error: BaseException) -> bool:
    """Whether an error says that a name of driftproof's cannot be imported somewhere."""
    while error.__cause__ is not None:
        error = error.__cause__
    name = (getattr(error, "name", None) or "").partition(".")[0]
    if isinstance(error, ImportError | AttributeError) and name in PACKAGES:
        return True
    return "deserialization of the task graph" in str(error)
