"""Runs cases: correct first, then timed, every way beside the others in one run."""

import os
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import torch

from driftproof.gpu_bench.peer import peers_for
from driftproof.gpu_bench.roofline import Ceilings, ceilings
from driftproof.gpu_bench.table import size_text
from driftproof.gpu_bench.timer import timed_in_turn
from driftproof.gpu_bench.ways import COUNTED, WRONG, ways
from driftproof.gpu_bench.workload import Case, chosen
from driftproof.toolkit.environment import check_device, environment, processor
from driftproof.toolkit.kernels.registry import Cost

PACKAGES = ("driftproof", "numpy", "torch", "numba", "triton", "jax")
DTYPES = ("float64", "float32")
BASELINES = ("numpy loop", "FedNest's public update")
"""Peers that need nothing that driftproof does not: they are always run."""

TOO_MUCH = 1.05
"""Share of an arithmetic limit beyond which its ceiling was measured at a bad moment."""


@dataclass(frozen=True)
class BenchmarkPlan:
    """What a benchmark measures.

    Attributes:
        cases: the workloads.
        device: "cpu" or "cuda".
        peers: whether to run every peer, not only the baselines.
        budget: seconds for each timing, about.
        quick: each case at the size that stands for it, in double precision, a fifth as long.
        seed: of the inputs.
        named: the words that the cases were chosen by (none: all cases).
    """

    cases: Sequence[Case]
    device: str = "cpu"
    peers: bool = False
    budget: float = 1.0
    seed: int = 0
    named: Sequence[str] = ()
    quick: bool = False


def planned(
    named: Sequence[str], *, device: str, peers: bool, quick: bool = False
) -> BenchmarkPlan:
    """Return the plan that a user asked for, with fresh inputs.

    Raises:
        DriftproofError: unknown names, or no such kind of device.
        MissingError: the device is not there.
    """
    cases = chosen(named)
    check_device(device)
    return BenchmarkPlan(
        cases, device, peers, seed=time.time_ns() % 2**32, named=named, quick=quick
    )


def measured(
    plan: BenchmarkPlan, case: Case, size: Mapping[str, Any], dtype: str
) -> list[dict[str, Any]]:
    """Return a row for each way to run one round, ours, then the peers': timed by turns."""
    workload = case.at(**size)
    shared = {
        "case": case.name,
        "kernel": case.kernel,
        "size": dict(size),
        "dtype": dtype,
        "device": plan.device,
        "client_steps": workload.client_steps,
    }
    known = peers_for(case.peers) if case.peers and plan.device == "cpu" else []
    beside = [peer for peer in known if plan.peers or peer.name in BASELINES]
    found = list(ways(workload, dtype, seed=plan.seed, device=plan.device, peers=beside))
    rows = [shared | way.row for way in found]
    timed = [(row, way.call) for row, way in zip(rows, found, strict=True) if way.call is not None]
    timings = timed_in_turn(
        [call for _, call in timed], plan.device, budget=plan.budget / (5 if plan.quick else 1)
    )
    for (row, _), timing in zip(timed, timings, strict=True):
        low, high = timing.quartiles
        row |= {
            "seconds": timing.median,
            "low": low,
            "high": high,
            "readings": timing.seconds.tolist(),
            "disturbed": timing.disturbed,
            "client_steps_per_second": workload.client_steps / timing.median,
        }
    return rows


def limited(row: Mapping[str, Any], best: Ceilings) -> dict[str, Any]:
    """Return a row with its share of the limit, if its kernel says what a round costs at least.

    No way beats a limit of arithmetic, so a share beyond ``TOO_MUCH`` shows a ceiling that was
    measured while the machine was busy; a limit of memory is beaten by what stays in a cache.
    """
    if "seconds" not in row or "flops" not in row:
        return dict(row)
    cost = Cost(**{name: row[name] for name in COUNTED})
    limit, bound = best.limit(cost, row["dtype"])
    share = limit / row["seconds"]
    beyond = bound == "arithmetic" and share > TOO_MUCH
    more = {"limit": limit, "bound": bound, "share": share}
    return dict(row) | more | {"disturbed": row["disturbed"] or beyond}


def run_benchmark(
    plan: BenchmarkPlan,
    head: dict[str, Any] | None = None,
    *,
    started: Callable[[int], None] = lambda total: None,
    ended: Callable[[str], None] = lambda name: None,
) -> dict[str, Any]:
    """Measure everything of a plan and return the document: docs/benchmarks.md lists its keys.

    ``head`` is filled as the run goes on: where it is interrupted, what is finished is there.
    Ceilings are measured before the rows and after them, and the better one counts.

    Raises:
        MissingError: the device is not there.
    """
    check_device(plan.device)
    head = {} if head is None else head
    rows: list[dict[str, Any]] = []
    head |= {
        "schema": 4,
        "what": "benchmark",
        "named": list(plan.named),
        "device": plan.device,
        "seed": plan.seed,
        "peers": plan.peers,
        "quick": plan.quick,
        "date": datetime.now(UTC).isoformat(),
        "commit": commit(Path(__file__).parents[1]),
        "environment": environment(plan.device, 1, PACKAGES) | _hardware(plan.device),
        "rows": rows,
    }
    threads = torch.get_num_threads()
    torch.set_num_threads(os.cpu_count() or 1)
    best = None
    try:
        last, dtypes = (-1, DTYPES[:1]) if plan.quick else (0, DTYPES)
        work = [(c, size, x) for c in plan.cases for size in c.points[last:] for x in dtypes]
        started(2 + len(work))
        best = ceilings(plan.device)
        ended("ceilings")
        for case, size, dtype in work:
            rows += measured(plan, case, size, dtype)
            ended(f"{case.name} {size_text(size)} {dtype}")
        best = best.best(ceilings(plan.device))
        ended("ceilings again")
    finally:
        torch.set_num_threads(threads)
        if best is not None:
            head["ceilings"] = asdict(best)
            rows[:] = [limited(row, best) for row in rows]
    return head


def status(head: Mapping[str, Any]) -> int:
    """Return the exit status: 1 if some way does not agree with the plain steps, else 0."""
    return int(any(row.get("note") == WRONG for row in head["rows"]))


def commit(folder: Path) -> str:
    """Return the commit of a checkout, "-dirty" behind it if files differ ("unknown": no checkout).

    A package that is installed below another project's checkout is none of it.
    """
    words = ["git", "--git-dir", str(folder / ".git"), "--work-tree", str(folder)]
    try:
        ended = subprocess.run(
            [*words, "describe", "--always", "--abbrev=40", "--exclude=*", "--dirty"],
            capture_output=True,
            text=True,
            check=True,
        )
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return ended.stdout.strip()


def _hardware(device: str) -> dict[str, Any]:
    facts: dict[str, Any] = {"processor": processor(), "threads": os.cpu_count()}
    if device.startswith("cuda"):
        about = torch.cuda.get_device_properties(device)
        facts |= {"gpu": about.name, "gpu memory": about.total_memory, "cuda": torch.version.cuda}
    return facts
