"""Tasks on the workers of a Dask cluster, which gives those of a lost worker to another.

A worker with other code or data than the command's refuses a task, since bits may differ. What is
of a user's own files travels with a task, by value (cloudpickle).
"""

import io
import multiprocessing
import pickle
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import CancelledError, Future
from contextlib import ExitStack, contextmanager, suppress
from logging import CRITICAL
from socket import gethostname
from typing import Any

from driftproof.toolkit.discover import Leaf
from driftproof.toolkit.errors import DriftproofError, MissingError
from driftproof.toolkit.user_traceback import is_users
from driftproof.verifiers.running import scheduler
from driftproof.verifiers.running.fingerprint import fingerprint

LOGS = ("distributed", "distributed.client", "asyncio", "tornado.application")
SETTINGS = {
    "logging": dict.fromkeys(LOGS, "critical"),
    "distributed.admin.large-graph-warning-threshold": "1 GB",
}
"""No messages of lost connections (the command tells what became of them), nor of large tasks."""
PATIENCE, ANSWER = 60.0, 10.0  # seconds to wait for a worker, and for a scheduler


@contextmanager
def dask_workers(address: str | None, processes: int) -> Iterator[int]:
    """Have every ``run_jobs`` inside do its tasks on Dask's workers; yield how many there are.

    Args:
        address: of a scheduler, ``tcp://host:8786`` say; None: so many ``processes`` start here.

    Raises:
        DriftproofError: no Dask is installed, no worker is there, or one has several threads.
    """
    own = (
        {}
        if address
        else {
            "n_workers": processes,
            "threads_per_worker": 1,
            "memory_limit": 0,
            "dashboard_address": None,
            "silence_logs": CRITICAL,
        }
    )
    with ExitStack() as opened:
        try:
            import dask

            opened.enter_context(dask.config.set(SETTINGS))
            import distributed  # it reads that as it is imported

            if address:  # a client of what is no address would not end
                distributed.comm.resolve_address(address)
            client = distributed.Client(address, timeout=ANSWER, **own)
            opened.callback(client.close, timeout=ANSWER)
            client.wait_for_workers(1 if address else processes, timeout=PATIENCE)
        except ModuleNotFoundError as error:
            raise MissingError(
                f"--cluster dask, and no {error.name} is installed",
                "the package distributed",
                "pip install cloudpickle distributed, here and on every worker",
            ) from error
        except (OSError, ValueError) as error:
            raise _refused(f"no Dask workers at {address}: {error}", MissingError) from error
        opened.enter_context(scheduler.executed_by(executor := _DaskExecutor(client)))
        yield executor.workers


def packed(task: scheduler.Task) -> bytes:
    """Return a task as it travels, with what its user's file has of it."""
    import cloudpickle

    class Pickler(cloudpickle.Pickler):  # type: ignore[misc]
        def reducer_override(self, part: Any) -> Any:
            if isinstance(part, Leaf) and part.module is None:  # its file is not there to be loaded
                made = part.load()
                return object.__new__, (Leaf,), vars(part) | {"load": lambda: made}
            return super().reducer_override(part)

    for module in list(sys.modules.values()):
        if is_users(getattr(module, "__file__", None) or ""):
            cloudpickle.register_pickle_by_value(module)
    Pickler(text := io.BytesIO()).dump(task)
    return text.getvalue()


def done(text: bytes, wanted: Mapping[str, str], name: str) -> scheduler.Result:
    """Do a packed task on one thread of this worker.

    Raises:
        DriftproofError: the code here is not the ``wanted``; or the data, and so the name, differ.
    """
    process, others = multiprocessing.current_process(), fingerprint().items() - wanted.items()
    differ = [f"{of} {has} (the command has {wanted.get(of)})" for of, has in sorted(others)]
    if not differ:  # the text comes from the command, over the cluster's own wires
        task: scheduler.Task = pickle.Unpickler(io.BytesIO(text)).load()
        # some tasks start processes, which Python forbids to daemonic ones, as Dask's workers are
        process._config["daemon"] = False  # type: ignore[attr-defined]
        if task.name == name:
            with scheduler.on_one_thread():
                return scheduler.perform(task)
        differ = [f"other data: {task.name}, and not {name}"]
    raise _refused(f"the worker {gethostname()}, process {process.pid}, has {', '.join(differ)}")


class _DaskExecutor:
    """The workers that a scheduler has, however many come and go."""

    def __init__(self, client: Any) -> None:
        self._client, self._executor = client, client.get_executor(pure=False)
        self.look()
        if several := [worker for worker, threads in client.nthreads().items() if threads > 1]:
            raise _refused(f"these workers do tasks in several threads: {', '.join(several)}")

    def submit(self, task: scheduler.Task) -> Future[scheduler.Result]:
        return self._executor.submit(done, packed(task), fingerprint(), task.name)  # type: ignore[no-any-return]

    def at_once(self) -> int:
        return self.workers  # each has one, and none waits

    def look(self) -> None:
        with suppress(OSError):  # the tasks of a lost scheduler are cancelled
            if workers := len(self._client.nthreads()):
                self.workers, self._counted = workers, time.monotonic()
        if time.monotonic() > self._counted + PATIENCE:
            raise _refused(f"no worker has been left for {PATIENCE:.0f} s")

    def explained(self, error: Exception, at_work: Sequence[scheduler.Task]) -> Exception:
        """Say what became of the cluster, where it is not the task that failed."""
        from distributed.scheduler import KilledWorker

        if isinstance(error, KilledWorker):
            task, number = at_work[0], error.allowed_failures + 1
            words = " ".join(filter(None, task.name.split("\0")))
            return _refused(f"{task.path or 'a task'} ended {number} workers in the task {words}")
        if isinstance(error, CancelledError):
            return _refused(f"the Dask scheduler at {self._client.scheduler.address} is gone")
        if isinstance(error, ImportError) or "deserialization of the task graph" in str(error):
            return _refused(f"a worker lacks something, or has another driftproof: {error}")
        return error


def _refused(got: str, kind: type[DriftproofError] = DriftproofError) -> DriftproofError:
    return kind(
        got,
        "a scheduler that runs until the command ends; workers of one thread (--nthreads 1), with "
        "the command's sources, versions and data (else bits may differ), and enough memory",
        "docs/cluster.md shows how they are started, and their own messages say why they ended; "
        "the same command with --resume goes on, with or without --cluster",
    )
