"""What Dask adds to a unit, how it compares with the pool, and how well it keeps 64 workers busy.

``python -m tests.benchmarks.cluster`` prints the figures of docs/cluster.md. The 64 workers are
threads of this process whose units sleep, so what is measured is who waits for whom, not work.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path

from tests.commands import results
from toolkit.ledger import Ledger
from toolkit.workers import may_fork
from verifiers.running.dask_workers import _dask, _DaskPlace, dask_workers
from verifiers.running.scheduler import Job, Units, run_jobs, units_at

SLEEPERS, NAP, TURNS = 64, 2.0, 10
"""Workers of the simulated cluster, the seconds of a unit, and how many units each of them does."""
UNWATCHED = {
    "distributed.worker.profile.enabled": False,
    "distributed.admin.tick.interval": "1s",
    "distributed.admin.system-monitor.interval": "1h",
}
"""Each worker watches its own process: 64 of them in one would do little else."""
UNITS = 300
"""Units that do nothing, by which the overhead of one is measured."""
PR_SET_CHILD_SUBREAPER = 36
CLAIMS = ("comfedl/lemma-3", "comfedl/theorem-1")
"""What is verified: some seconds of work in about a hundred units."""


@dataclass(frozen=True)
class Nap:
    """A unit that sleeps."""

    number: int
    seconds: float

    @property
    def name(self) -> str:
        """Return what tells it from others."""
        return f"nap {self.number}"

    @property
    def path(self) -> Path | None:
        """Return no file of a user's."""
        return None

    def work(self) -> bytes:
        """Sleep."""
        time.sleep(self.seconds)
        return b"{}"


def _naps(count: int, seconds: float) -> Job:
    results = yield [Nap(number, seconds) for number in range(count)]
    return len(results)


def _timed_naps(count: int, seconds: float, workers: int) -> tuple[float, float]:
    """Return the seconds that naps take, by the clock and of this process's own work."""
    with tempfile.TemporaryDirectory() as folder, Ledger(Path(folder) / "ledger.sqlite") as ledger:
        began = time.perf_counter(), time.process_time()
        run_jobs([_naps(count, seconds)], Units(ledger, resume=False), workers=workers)
        return time.perf_counter() - began[0], time.process_time() - began[1]


@contextmanager
def _sleepers() -> Iterator[None]:
    """Start a scheduler and 64 workers of one thread each, all in this process."""
    with ExitStack() as opened:
        dask = opened.enter_context(_dask())
        import dask as settings

        opened.enter_context(settings.config.set(UNWATCHED))
        cluster = opened.enter_context(
            dask.LocalCluster(
                n_workers=SLEEPERS, threads_per_worker=1, processes=False, dashboard_address=None,
                memory_limit=0,
            )
        )  # fmt: skip
        client = opened.enter_context(dask.Client(cluster, set_as_default=False))
        opened.enter_context(units_at(_DaskPlace(client, "this process", print)))
        yield


def overhead() -> None:
    """Print what a unit costs beside its work: in the pool, and by Dask, on two workers."""
    for where, place in (("pool", nullcontext()), ("Dask", dask_workers(None, 2))):
        with place:
            _timed_naps(UNITS, 0.0, 2)
            times = [_timed_naps(UNITS, 0.0, 2) for _ in range(3)]
        wall, own = (statistics.median(column) / UNITS * 1e3 for column in zip(*times, strict=True))
        print(
            f"{where}: a unit of no work takes {wall:.2f} ms, {own:.2f} of the command's own work"
        )


def efficiency() -> None:
    """Print which share of the time 64 workers are at work, with units of two seconds."""
    with _sleepers():
        _timed_naps(SLEEPERS, 0.0, SLEEPERS)  # the first unit of a worker imports torch
        seconds, own = _timed_naps(SLEEPERS * TURNS, NAP, SLEEPERS)
    share = NAP * TURNS / seconds
    print(
        f"{SLEEPERS} workers, {SLEEPERS * TURNS} units of {NAP:.0f} s: {seconds:.2f} s, "
        f"efficiency {share:.1%}; command, scheduler and workers worked {own:.1f} s in all"
    )


def verified(numbers: Sequence[int], turns: int) -> None:
    """Print what the whole command takes with the pool and with Dask, taken in turn.

    What other work there is on the machine changes seconds by the clock much, and those of the
    processors, of the command and all that it started, little.
    """
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)  # what the command leaves behind is counted
    for number in numbers:
        times: dict[str, list[tuple[float, float]]] = {"pool": [], "Dask": []}
        rows = []
        for _ in range(turns):
            for place, taken in times.items():
                more = ["--cluster", "dask"] if place == "Dask" else []
                with tempfile.TemporaryDirectory() as out:
                    words = [*CLAIMS, "--workers", str(number), "--out", out, *more]
                    began = time.perf_counter(), _worked()
                    command = [sys.executable, "-m", "driftproof", "--quiet", "verify", *words]
                    ended = subprocess.run(command, capture_output=True, text=True)
                    if ended.returncode:
                        sys.exit(ended.stderr)
                    seconds = time.perf_counter() - began[0]
                    taken.append((seconds, _worked() - began[1]))
                    rows.append(results(Path(out)))
                print(f"  {place}: {taken[-1][0]:.1f} s, {taken[-1][1]:.1f} s worked", flush=True)
        same = all(made == rows[0] for made in rows)
        print(f"{number} workers, same bits: {same}")
        for place, taken in times.items():
            wall, own = zip(*taken, strict=True)
            print(f"  {place}: {_range(wall)} s by the clock, {_range(own)} s of processors")


def _worked() -> float:
    """Return the processors' seconds of all that this process started; wait for what is left."""
    with suppress(ChildProcessError):
        while True:
            os.wait()
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _range(times: Sequence[float]) -> str:
    return f"{statistics.median(times):.2f} ({min(times):.2f}–{max(times):.2f})"


if __name__ == "__main__":
    may_fork()
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--turns", type=int, default=3)
    options.add_argument("--workers", type=int, nargs="+", help="Only the whole command, on these.")
    chosen = options.parse_args()
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} before")
    verified(chosen.workers or [1, 2, 4], chosen.turns)  # first: it waits for all of its children
    if not chosen.workers:
        efficiency()
        overhead()
