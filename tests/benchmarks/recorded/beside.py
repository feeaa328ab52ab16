"""What the scripts share: the workload, one client of it in numpy, driftproof's time, the record.

The workload is W1 at d = 10: K = 100 clients, τ = 10 local steps, float64. Those frameworks
simulate one run, so R = 1; R replicates are R runs of theirs. Their clients hold no state: they are
sent the iterate, take their local steps in numpy, and send the result back.
"""

from __future__ import annotations

import datetime
import json
import time
from collections.abc import Sequence
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from driftproof.gpu_bench.cases.w1 import w1
from driftproof.gpu_bench.ways import distance
from driftproof.gpu_bench.workload import Workload
from driftproof.toolkit.environment import environment, processor
from driftproof.toolkit.federation import run, sampled_context

CLIENTS, LOCAL_STEPS, DIM, REPLICATES = 100, 10, 10, 64
OURS = 400
"""Rounds of one run of driftproof (fewer with many replicates); its set-up is within its time."""
TOLERANCE = 1e-9
FILE = Path(__file__).parents[3] / "docs" / "benchmarks" / "recorded.json"


def workload(replicates: int) -> Workload:
    """Return W1 at d = 10."""
    return w1.at(clients=CLIENTS, dim=DIM, replicates=replicates, local_steps=LOCAL_STEPS)


@cache
def client_data() -> tuple[np.ndarray, np.ndarray, float, float]:
    """Return A [K, d, d], b [K, d], λ and η; each process makes them once."""
    of = workload(1)
    problem: Any = of.problem
    algorithm: Any = of.algorithm
    return problem.matrices, problem.offsets, problem.regulariser, algorithm.step_size


def local_steps(client: int, z: np.ndarray) -> np.ndarray:
    """Return where one client's local steps from z = (x, y) [2d] end."""
    matrices, offsets, lam, eta = client_data()
    a, b, x, y = matrices[client], offsets[client], z[:DIM], z[DIM:]
    for _ in range(LOCAL_STEPS):
        x, y = x - eta * (lam * x - a.T @ y), y - eta * (y - b + a @ x)
    return np.concatenate([x, y])


def start() -> np.ndarray:
    """Return the iterate that all runs start from, [2d]."""
    return workload(1).problem.start()


def driftproof_run(rounds: int, replicates: int) -> np.ndarray:
    """Return the iterate of driftproof after some rounds, [2d, replicates]."""
    of = workload(replicates)
    ctx = sampled_context(of.problem, ("recorded",), replicates=replicates)
    ended: np.ndarray = run(of.problem, of.algorithm, ctx, rounds=rounds).state.w[0].numpy()
    return ended


class Ours(NamedTuple):
    """Driftproof's seconds a round in each of several runs, of one and of all replicates."""

    one: np.ndarray
    many: np.ndarray


def ours(repeats: int = 15) -> Ours:
    """Measure driftproof; before a framework is started, whose processes take a while to end."""
    found = []
    for replicates in (1, REPLICATES):
        rounds = max(1, OURS // int(np.sqrt(replicates)))
        driftproof_run(3, replicates)
        seconds = []
        for _ in range(repeats):
            began = time.perf_counter()
            driftproof_run(rounds, replicates)
            seconds.append((time.perf_counter() - began) / rounds)
        found.append(np.array(seconds))
    return Ours(*found)


def record(
    peer: str, package: str, beside: Ours, seconds: Sequence[float] | np.ndarray, end: np.ndarray,
    rounds: int, **more: Any,
) -> None:  # fmt: skip
    """Write a framework's row beside driftproof's time, measured by the same process.

    Rates and ratios are of the least times, on both sides: whatever else runs on a machine makes
    everything slower, and two threads most of all.

    Args:
        peer: the name of the row; a row of that name is replaced.
        package: what pip calls it, for its version.
        beside: driftproof's times.
        seconds: of each round after the warm-up.
        end: its iterate after ``rounds`` rounds, [2d].
        more: further columns.

    Raises:
        SystemExit: it did not compute the same: nothing is recorded.
    """
    apart = distance(end, driftproof_run(rounds, 1)[:, 0])
    if not apart <= TOLERANCE:
        raise SystemExit(f"{peer} ends {apart} away from driftproof; nothing was recorded")
    one, many = beside.one, beside.many
    row = {
        "peer": peer, "version": version(package),
        "workload": f"W1: K = {CLIENTS}, τ = {LOCAL_STEPS}, d = {DIM}, one replicate, float64",
        "milliseconds_a_round": _milliseconds(seconds), "rounds_timed": len(seconds),
        "client_steps_per_second": CLIENTS * LOCAL_STEPS / float(np.min(seconds)),
        "driftproof": {
            "milliseconds_a_round": _milliseconds(one),
            f"milliseconds_a_round_of_{REPLICATES}_replicates": _milliseconds(many),
            "client_steps_per_second": CLIENTS * LOCAL_STEPS / float(np.min(one)),
        },
        "times": float(np.min(seconds) / np.min(one)),
        f"times_with_{REPLICATES}_replicates": float(REPLICATES * np.min(seconds) / np.min(many)),
        "furthest_apart": apart, "processor": processor(),
        "environment": environment("cpu", 2, ("numpy", "torch", "numba")),
        "date": datetime.date.today().isoformat(), **more,
    }  # fmt: skip
    rows = json.loads(FILE.read_text(encoding="utf-8")) if FILE.is_file() else []
    rows = [held for held in rows if held["peer"] != peer] + [row]
    FILE.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(sorted(rows, key=lambda r: r["peer"]), indent=1, ensure_ascii=False)
    FILE.write_text(text + "\n", encoding="utf-8")


def _milliseconds(seconds: Sequence[float] | np.ndarray) -> dict[str, float]:
    """Return the least, the quartiles and the median."""
    named = zip(
        ("least", "quartile", "median", "upper quartile"), (0, 0.25, 0.5, 0.75), strict=True
    )
    return {name: round(1e3 * float(np.quantile(seconds, q)), 4) for name, q in named}
