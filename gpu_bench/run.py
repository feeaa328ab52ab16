"""Runs cases: correct first, then timed, every way beside the others in one run."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import torch

from gpu_bench.checkout import commit
from gpu_bench.peer import peers_for
from gpu_bench.prepared import Prepared
from gpu_bench.roofline import Ceilings, ceilings
from gpu_bench.timer import Timing, timed, timed_in_turn
from gpu_bench.ways import COUNTED, WRONG, ways
from gpu_bench.workload import Case, Workload, chosen
from toolkit.environment import check_device, environment, processor
from toolkit.kernels.registry import Cost
from toolkit.report.benchmark_table import size_text

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
        sweeps: whether to measure how the cost grows, for the scaling plots.
        budget: seconds for each timing, about.
        seed: of the inputs.
        named: the words that the cases were chosen by (none: all cases).
    """

    cases: Sequence[Case]
    device: str = "cpu"
    peers: bool = False
    sweeps: bool = True
    budget: float = 1.0
    seed: int = 0
    named: Sequence[str] = ()


def planned(named: Sequence[str], *, device: str, peers: bool) -> BenchmarkPlan:
    """Return the plan that a user asked for, with fresh inputs.

    Raises:
        DriftproofError: unknown names, or no such kind of device.
        MissingError: the device is not there.
    """
    cases = chosen(named)
    check_device(device)
    return BenchmarkPlan(
        cases=cases, device=device, peers=peers, seed=time.time_ns() % 2**32, named=named
    )


def units(plan: BenchmarkPlan) -> list[tuple[Case, Mapping[str, Any], str]]:
    """Return what is measured one after the other: case, size, precision."""
    return [(case, size, dtype) for case in plan.cases for size in case.points for dtype in DTYPES]


def measured(
    plan: BenchmarkPlan, case: Case, size: Mapping[str, Any], dtype: str
) -> list[dict[str, Any]]:  # fmt: skip
    """Return a row for each way to run one round, ours, then the peers': timed by turns."""
    workload = case.at(**size)
    shared = {
        "case": case.name, "kernel": case.kernel, "size": dict(size), "dtype": dtype,
        "device": plan.device, "client_steps": workload.client_steps,
    }  # fmt: skip
    known = peers_for(case.peers) if case.peers and plan.device == "cpu" else []
    beside = [peer for peer in known if plan.peers or peer.name in BASELINES]
    timed_ways = list(ways(workload, dtype, seed=plan.seed, device=plan.device, peers=beside))
    calls = [way.call for way in timed_ways if way.call is not None]
    timings = iter(timed_in_turn(calls, plan.device, budget=plan.budget))
    return [
        shared | way.row | ({} if way.call is None else _timing_columns(workload, next(timings)))
        for way in timed_ways
    ]  # fmt: skip


def _timing_columns(workload: Workload, timing: Timing) -> dict[str, Any]:
    low, high = timing.quartiles
    return {
        "seconds": timing.median, "low": low, "high": high, "readings": timing.seconds.tolist(),
        "client_steps_per_second": workload.client_steps / timing.median,
        "disturbed": timing.disturbed,
    }  # fmt: skip


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


def swept(plan: BenchmarkPlan, case: Case) -> Iterator[dict[str, Any]]:
    """Yield how the cost grows: one size at a time, the others as in the case's last point."""
    for name, values in case.sweeps.items():
        for value in values:
            size = dict(case.points[-1]) | {name: value}
            prepared = Prepared(
                case.at(**size), seed=plan.seed, dtype="float64", device=plan.device
            )  # fmt: skip
            variant, call = next(iter(prepared.variants().items()))
            timing = timed(call, plan.device, budget=plan.budget / 4)
            low, high = timing.quartiles
            yield {
                "case": case.name, "size": size, "axis": name, "value": value, "variant": variant,
                "seconds": timing.median, "low": low, "high": high,
                "client_steps": prepared.workload.client_steps,
            }  # fmt: skip


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
    sweeps: list[dict[str, Any]] = []
    head |= {
        "schema": 3, "what": "benchmark", "named": list(plan.named), "device": plan.device,
        "seed": plan.seed, "peers": plan.peers, "date": datetime.now(UTC).isoformat(),
        "commit": commit(Path(__file__).parents[1]),
        "environment": environment(plan.device, 1, PACKAGES) | _hardware(plan.device),
        "rows": rows, "sweeps": sweeps,
    }  # fmt: skip
    threads = torch.get_num_threads()
    torch.set_num_threads(os.cpu_count() or 1)
    best = None
    try:
        work = units(plan)
        growth = [case for case in plan.cases if plan.sweeps and case.sweeps]
        started(2 + len(work) + len(growth))
        best = ceilings(plan.device)
        ended("ceilings")
        for case, size, dtype in work:
            rows += measured(plan, case, size, dtype)
            ended(f"{case.name} {size_text(size)} {dtype}")
        best = best.best(ceilings(plan.device))
        ended("ceilings again")
        for case in growth:
            sweeps += swept(plan, case)
            ended(f"{case.name}, growth")
    finally:
        torch.set_num_threads(threads)
        if best is not None:
            head["ceilings"] = asdict(best)
            rows[:] = [limited(row, best) for row in rows]
    return head


def status(head: Mapping[str, Any]) -> int:
    """Return the exit status: 1 if some way does not agree with the plain steps, else 0."""
    return int(any(row.get("note") == WRONG for row in head["rows"]))


def _hardware(device: str) -> dict[str, Any]:
    facts: dict[str, Any] = {"processor": processor(), "threads": os.cpu_count()}
    if device.startswith("cuda"):
        about = torch.cuda.get_device_properties(device)
        facts |= {"gpu": about.name, "gpu memory": about.total_memory, "cuda": torch.version.cuda}
    return facts
