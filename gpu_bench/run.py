"""Runs cases: correct first, then timed, every way beside the others in one run."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import torch

from gpu_bench.correctness import Agreement, checked, distance, tolerance
from gpu_bench.peer import Peer, peers_for
from gpu_bench.prepared import Prepared
from gpu_bench.roofline import Ceilings, ceilings
from gpu_bench.timer import Timing, timed
from gpu_bench.workload import Case, Workload, size_text
from toolkit.environment import environment, processor
from toolkit.errors import MissingError

PACKAGES = ("driftproof", "numpy", "torch", "numba", "triton", "jax")
DTYPES = ("float64", "float32")
BASELINES = ("numpy loop", "FedNest's public update")
"""Peers of the target table: they need nothing that driftproof does not, and are always run."""


@dataclass(frozen=True)
class Plan:
    """What to measure.

    Attributes:
        cases: the workloads.
        device: "cpu" or "cuda".
        peers: whether to run every peer, not only the baselines.
        sweeps: whether to measure how the cost grows, for the scaling plots.
        budget: seconds for each timing, about.
        seed: of the inputs.
    """

    cases: Sequence[Case]
    device: str = "cpu"
    peers: bool = False
    sweeps: bool = True
    budget: float = 1.0
    seed: int = 0


def check_device(device: str) -> None:
    """Raise MissingError if a CUDA device was asked for and torch finds none."""
    if device.startswith("cuda") and not torch.cuda.is_available():
        raise MissingError(
            f"--device {device}: torch {torch.__version__} finds no CUDA device",
            "a GPU, its driver and a CUDA build of torch",
            "leave out --device, or run on a machine with a GPU",
        )


def units(plan: Plan) -> list[tuple[Case, Mapping[str, Any], str]]:
    """Return what is measured one after the other: case, size, precision."""
    return [(case, size, dtype) for case in plan.cases for size in case.points for dtype in DTYPES]


def measured(
    plan: Plan, case: Case, size: Mapping[str, Any], dtype: str, ceilings: Ceilings
) -> Iterator[dict[str, Any]]:
    """Yield a row for each way to run one round: ours, then the peers'."""
    workload = case.at(**size)
    prepared = Prepared(workload, seed=plan.seed, dtype=dtype, device=plan.device)
    reference = Prepared(workload, seed=plan.seed, dtype="float64", rotate=False)
    shared = {
        "case": case.name, "kernel": case.kernel, "size": dict(size), "dtype": dtype,
        "device": plan.device, "client_steps": workload.client_steps,
    }  # fmt: skip
    for place, (name, call) in enumerate(prepared.variants().items()):
        agreement = checked(prepared, name, reference)
        timing = timed(call, plan.device, budget=plan.budget) if agreement.holds else None
        row = shared | {"variant": name, "peer": False, "taken": place == 0}
        yield row | _told(workload, agreement, timing) | _roof(prepared, timing, ceilings)
    for peer in peers_for(case.peers) if case.peers and plan.device == "cpu" else []:
        if plan.peers or peer.name in BASELINES:
            row = shared | {"variant": peer.name, "peer": True, "taken": False}
            yield row | _beside(peer, prepared, reference, plan.budget)


def _beside(peer: Peer, prepared: Prepared, reference: Prepared, budget: float) -> dict[str, Any]:
    """Return a peer's row: the identical round from the same start, on the same draws."""
    workload = prepared.workload
    assert workload.data is not None
    data = dict(workload.data(prepared.starts(), prepared.draws))
    data["dtype"] = np.dtype(prepared.dtype)
    try:
        call = peer.load(data)
    except MissingError as missing:
        return {"note": f"not measured: {missing.got}; {missing.remedy}"}
    start = prepared.first_start()
    state = type(start)(*(x.cpu().double() for x in start))
    expected = reference.result(reference.plain_from(state))
    agreement = Agreement(distance(np.asarray(call()), expected), tolerance(prepared))
    timing = timed(lambda i: call(), budget=budget) if agreement.holds else None
    return _told(workload, agreement, timing)


def _told(workload: Workload, agreement: Agreement, timing: Timing | None) -> dict[str, Any]:
    made: dict[str, Any] = {"error": agreement.error, "tolerance": agreement.tolerance}
    if timing is None:
        return made | {"note": "WRONG: not within its tolerance of the plain steps, so not timed"}
    low, high = timing.quartiles
    return made | {
        "seconds": timing.median, "low": low, "high": high, "readings": timing.seconds.tolist(),
        "client_steps_per_second": workload.client_steps / timing.median,
    }  # fmt: skip


def _roof(prepared: Prepared, timing: Timing | None, ceilings: Ceilings) -> dict[str, Any]:
    cost = prepared.cost
    if cost is None or timing is None:
        return {"rotated": prepared.rotated}
    limit, bound = ceilings.limit(cost, prepared.dtype)
    return {
        "rotated": prepared.rotated, "flops": cost.flops, "bytes": cost.bytes, "words": cost.words,
        "limit": limit, "bound": bound, "share": limit / timing.median,
    }  # fmt: skip


def swept(plan: Plan, case: Case) -> Iterator[dict[str, Any]]:
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


def conduct(
    plan: Plan,
    *,
    started: Callable[[int], None] = lambda total: None,
    ended: Callable[[str], None] = lambda name: None,
) -> dict[str, Any]:
    """Measure everything of a plan and return it: environment, ceilings, rows, growth."""
    check_device(plan.device)
    threads = torch.get_num_threads()
    torch.set_num_threads(os.cpu_count() or 1)
    try:
        work = units(plan)
        growth = [case for case in plan.cases if plan.sweeps]
        started(1 + len(work) + len(growth))
        held = ceilings(plan.device)
        ended("ceilings")
        rows, sweeps = [], []
        for case, size, dtype in work:
            rows += list(measured(plan, case, size, dtype, held))
            ended(f"{case.name} {size_text(size)} {dtype}")
        for case in growth:
            sweeps += list(swept(plan, case))
            ended(f"{case.name}, growth")
    finally:
        torch.set_num_threads(threads)
    return {
        "schema": 1, "what": "benchmark", "device": plan.device, "seed": plan.seed,
        "environment": environment(plan.device, 1, PACKAGES) | _hardware(plan.device),
        "ceilings": asdict(held), "rows": rows, "sweeps": sweeps,
    }  # fmt: skip


def _hardware(device: str) -> dict[str, Any]:
    made: dict[str, Any] = {"processor": processor(), "threads": os.cpu_count()}
    if device.startswith("cuda"):
        about = torch.cuda.get_device_properties(device)
        made |= {"gpu": about.name, "gpu memory": about.total_memory, "cuda": torch.version.cuda}
    return made
