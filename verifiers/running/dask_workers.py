"""Tasks on the workers of a Dask cluster: one that runs, or one of this machine's own.

Dask gives tasks to workers, and does those of a lost worker again on another. A worker that has
other code than the command refuses a task, since bits may differ. What a task needs of a user's
file travels with it: cloudpickle sends functions and classes of that file, and of what it imports
from the user's own folders, by value.
"""

from __future__ import annotations

import io
import multiprocessing
import os
import pickle
import socket
import sys
import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import CancelledError, Future
from contextlib import ExitStack, contextmanager, suppress
from typing import Any
from uuid import uuid4

from driftproof.toolkit.discover import Leaf
from driftproof.toolkit.errors import DriftproofError, MissingError
from driftproof.toolkit.located import is_users
from driftproof.verifiers.running.fingerprint import SOURCES, fingerprint
from driftproof.verifiers.running.scheduler import (
    LOOK,
    Result,
    Task,
    executed_by,
    on_one_thread,
    perform,
)

HERE = "this machine"
PATIENCE = 60.0
"""Seconds without any worker after which the command ends."""
ANSWER = 10.0
"""Seconds in which a scheduler has to answer."""
RESUME = (
    "the same command with --resume goes on, with or without --cluster; no finished task is lost"
)
LOG = {
    "logging": dict.fromkeys(
        ("distributed", "distributed.client", "asyncio", "tornado.application"), "critical"
    )
}
"""Dask's own messages are few, and asyncio's and tornado's are of lost connections, which are told
in words."""
SETTINGS = {
    "distributed.admin.large-graph-warning-threshold": "1 GB",  # a checkpoint that is sent is large
    "distributed.worker.multiprocessing-method": "spawn",
}


@contextmanager
def dask_workers(address: str | None, processes: int) -> Iterator[int]:
    """Have every ``run_jobs`` inside do its tasks on Dask's workers; yield how many there are.

    Args:
        address: of a scheduler, ``tcp://host:8786`` say; None: a cluster is started here.
        processes: how many workers that cluster has.

    Raises:
        MissingError: Dask is not installed, no scheduler answers, or it has no worker.
        DriftproofError: a worker computes on several threads.
    """
    with ExitStack() as opened:
        try:
            import dask

            opened.enter_context(dask.config.set(LOG))
            import distributed  # it sets up its log, and adds its settings to Dask's
        except ModuleNotFoundError as error:
            raise MissingError(
                f"--cluster dask, and no {error.name} is installed",
                "the package distributed",
                "pip install cloudpickle distributed, here and on every worker",
            ) from error
        opened.enter_context(dask.config.set(SETTINGS))
        if address is None:
            cluster = opened.enter_context(_local(distributed, processes))
            client = opened.enter_context(_connected(distributed, cluster, HERE, processes))
        else:
            client = opened.enter_context(_connected(distributed, address, address, 1))
        executor = _DaskExecutor(client, address or HERE)
        opened.enter_context(executed_by(executor))
        yield executor.workers


# what travels


def packed(task: Task) -> bytes:
    """Return a task as it travels, with what its user's file has of it."""
    import cloudpickle

    class Sender(cloudpickle.Pickler):  # type: ignore[misc]
        def reducer_override(self, part: Any) -> Any:
            if isinstance(part, Leaf) and part.module is None:
                return _received, (vars(part), part.load())
            return super().reducer_override(part)

    for module in list(sys.modules.values()):
        origin = getattr(module, "__file__", None)
        if origin and is_users(origin) and module.__name__ != "__main__":
            cloudpickle.register_pickle_by_value(module)
    text = io.BytesIO()
    Sender(text, protocol=pickle.HIGHEST_PROTOCOL).dump(task)
    return text.getvalue()


def _received(fields: Mapping[str, Any], loaded: Any) -> Leaf:
    """Return the leaf of a user's file that is on another machine."""
    leaf = Leaf(**fields)
    object.__setattr__(leaf, "load", lambda: loaded)
    return leaf


def done(text: bytes, wanted: Mapping[str, str], name: str) -> Result:
    """Do a task on this worker, on one thread.

    Args:
        text: the task, packed.
        wanted: the fingerprint of the code that it is meant for.
        name: of the task where it was packed; here it is another if the data differ.

    Raises:
        DriftproofError: this worker has other code, or reads other data than the command did.
        MissingError: it lacks something that the user's file imports.
    """
    worker = f"the worker {socket.gethostname()}, process {os.getpid()},"
    differ = differences(wanted, fingerprint())
    if differ:
        raise refused([f"{worker} has {', '.join(differ)}"])
    # some tasks start processes of a federation; Python forbids it to Dask's, which are daemonic
    multiprocessing.current_process()._config["daemon"] = False  # type: ignore[attr-defined]
    try:
        # it comes from the command, over the cluster's own wires
        task: Task = pickle.Unpickler(io.BytesIO(text)).load()
        if task.name != name:
            raise DriftproofError(
                f"{worker} has other data: {task.name}, and not {name}",
                "the same data, under the same path, on every machine",
                "copy the folder there, or share it; --resume keeps what is done",
            )
        with on_one_thread():
            return perform(task)
    except ImportError as error:
        raise MissingError(
            f"{worker} lacks something: {error}",
            "workers that have whatever the user's file imports",
            "install it there, or keep what the file imports beside it",
        ) from error
    except MissingError as error:
        got = f"{worker} lacks something: {error.got}"
        raise MissingError(got, error.wanted, error.remedy) from error


def differences(wanted: Mapping[str, str], got: Mapping[str, str]) -> list[str]:
    """Say in what the code of a worker differs from the command's.

    >>> differences({"torch": "2.13.0", "numba": "0.68"}, {"torch": "2.12.0", "numba": "0.68"})
    ['torch 2.12.0 (the command has 2.13.0)']
    """
    return [
        "other sources of driftproof"
        if name == SOURCES
        else f"{name} {got.get(name, 'absent')} (the command has {value})"
        for name, value in wanted.items()
        if got.get(name) != value
    ]


def refused(workers: Sequence[str]) -> DriftproofError:
    """Return the error for workers whose results could have other bits.

    Args:
        workers: what each of them has, in words.
    """
    return DriftproofError(
        "; ".join(workers),
        "the command's sources and versions on every worker: else bits may differ",
        "install there what the command has and start the worker again, or take it out of the "
        "cluster; --resume keeps what is done",
    )


# the cluster


@contextmanager
def _local(dask: Any, processes: int) -> Iterator[Any]:
    """Start a cluster of processes on this machine that compute on one thread each."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a slow disk, on which nothing is kept
        cluster = dask.LocalCluster(
            n_workers=processes, threads_per_worker=1, memory_limit=0, dashboard_address=None,
            host="127.0.0.1",
        )  # fmt: skip
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


class _DaskExecutor:
    """The workers that a scheduler has, however many come and go."""

    def __init__(self, client: Any, name: str) -> None:
        self._client, self._name = client, name
        self._executor = client.get_executor(pure=False)
        self._group, self._sent = f"driftproof-{uuid4().hex}", 0
        self._looked = self._had_some = time.monotonic()
        threads: Mapping[str, int] = client.nthreads()
        self.workers = len(threads)
        several = [worker for worker, number in threads.items() if number > 1]
        if several:
            raise DriftproofError(
                f"these workers do several tasks at once, in threads: {', '.join(several)}",
                "one thread a worker: a process computes on one thread, and bits stay the same",
                "start them with --nthreads 1, and --nworkers for more than one on a machine",
            )

    def submit(self, task: Task) -> Future[Result]:
        """Send a task; all of them are one group to Dask, of which each worker takes the next."""
        self._sent += 1
        future: Future[Result] = self._executor.submit(
            done, packed(task), fingerprint(), task.name, key=(self._group, self._sent)
        )
        return future

    def at_once(self) -> int:
        """Return how many tasks the cluster has at a time: each worker one, and one that waits.

        Dask deals the first of a group in advance, and unevenly if there are more than workers.
        """
        workers = max(1, self.workers)
        return workers if self._sent <= 3 * workers else 2 * workers

    def look(self) -> None:
        """Look now and then how many workers there are; raise if there is none for long."""
        now = time.monotonic()
        if self._client.status != "running":
            raise self._lost()
        if now < self._looked + LOOK:
            return
        self._looked = now
        try:
            self.workers = len(self._client.nthreads())
        except (OSError, TimeoutError) as error:
            raise self._lost() from error
        if self.workers:
            self._had_some = now
        elif now > self._had_some + PATIENCE:
            raise MissingError(
                f"no worker has been left at {self._name} for {PATIENCE:.0f} s",
                "at least one",
                f"start some; {RESUME}",
            )

    def explained(self, error: Exception, at_work: Sequence[Task]) -> Exception:
        """Say what became of the cluster, where it is not the task that failed."""
        from distributed.scheduler import KilledWorker

        if isinstance(error, DriftproofError):
            return error
        if isinstance(error, KilledWorker):
            task = at_work[0]
            words = " ".join(filter(None, task.name.split("\0")))
            return DriftproofError(
                f"{task.path or 'a task'} ended {error.allowed_failures + 1} workers, one after "
                f"the other, in the task {words}",
                "enough memory for a task, and code that ends no process",
                f"look at the workers' own messages for the reason; {RESUME}",
            )
        if isinstance(error, CancelledError):
            return self._lost()
        if isinstance(error, ImportError) or "deserialization of the task graph" in str(error):
            return refused([f"the cluster at {self._name} has no driftproof, or another: {error}"])
        return error

    def _lost(self) -> DriftproofError:
        return DriftproofError(
            f"the Dask scheduler at {self._name} is gone, or has let go of this command",
            "a scheduler that runs until the command ends",
            f"start it again, and its workers; {RESUME}",
        )
