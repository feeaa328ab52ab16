"""What the federation adds to its kernels: recording, growth with R·K·T and memory, drawing."""

from __future__ import annotations

import math
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch

from gpu_bench.prepared import Prepared
from gpu_bench.roofline import WORDS, generators
from gpu_bench.timer import timed, timed_in_turn
from gpu_bench.workload import Case, Workload, chosen
from toolkit import average, each
from toolkit.federation import run, sampled_context
from toolkit.measure import View

ROOT = Path(__file__).parents[2]
TURNS = 15
"""Runs of each of two kinds that are compared, taken in turn."""


def recording_share() -> float:
    """Return what recording adds to a run, as a share of it: the larger of two cases.

    The measures cost next to nothing themselves (one entry of the state), so that what is left is
    views, accumulation and traces: at each round of W1's 100 clients, d = 100, by its kernel; and
    at each of 3,000 steps of W3 through its kernel, where the states between have to be kept.
    """
    w1, w3 = (case.build for case in chosen(["w1", "w3"]))
    cases: list[tuple[Workload, int, Callable[[View], Any]]] = [
        (w1(dim=100, replicates=64), 5, lambda view: average("round", view.mean("w")[0])),
        (w3(clients=64, replicates=64), 300, lambda view: each("step", view.mean("x")[0])),
    ]
    return max(_added(work, rounds, left) for work, rounds, left in cases)


def _added(work: Workload, rounds: int, left: Callable[[View], Any]) -> float:
    taken: dict[bool, list[float]] = {True: [], False: []}
    for turn in range(TURNS + 1):
        for measured, seconds in taken.items():
            began = time.perf_counter()
            _whole(work, rounds, left if measured else None)
            if turn:  # the first readings compile and allocate
                seconds.append(time.perf_counter() - began)
    with_it, without = (min(taken[key]) for key in (True, False))  # others' work only adds
    return max(0.0, with_it / without - 1)


def _whole(work: Workload, rounds: int, left: Callable[[View], Any] | None = None) -> None:
    ctx = sampled_context(work.problem, ("core",), replicates=work.replicates)
    run(work.problem, work.algorithm, ctx, rounds=rounds, left=left)


def largest_exponent() -> float:
    """Return the largest exponent with which a whole run's time grows in R, K or T.

    Slopes of log time over log size for W1 at d = 10 and W3, each size doubled twice from where the
    fixed cost of a run is small.
    """
    sizes: Mapping[str, tuple[int, ...]] = {
        "replicates": (16, 32, 64), "clients": (100, 200, 400), "rounds": (100, 200, 400),
    }  # fmt: skip
    w1, w3 = chosen(["w1", "w3"])
    return max(
        _exponent(case, fixed, name, values)
        for case, fixed in ((w1, {"dim": 10}), (w3, {}))
        for name, values in sizes.items()
    )


def _exponent(case: Case, fixed: dict[str, Any], name: str, values: tuple[int, ...]) -> float:
    runs = []
    for value in values:
        size: dict[str, Any] = {"clients": 100, "replicates": 64, "rounds": 100, **fixed}
        size[name] = value
        rounds = size.pop("rounds")
        runs.append((case.build(**size), rounds))
    least = [math.inf] * len(runs)
    for _ in range(4):  # in turn, so that a busy machine is busy for all
        for place, (work, rounds) in enumerate(runs):
            began = time.perf_counter()
            _whole(work, rounds)
            least[place] = min(least[place], time.perf_counter() - began)
    return float(np.polyfit(np.log(values), np.log(least), 1)[0])


MEMORY = """
import resource
from tests.benchmarks.core_cost import _whole
from gpu_bench.workload import chosen
from toolkit import average
def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
case, = chosen([{case!r}])
work = case.build(clients=20, replicates=64)
left = {{"w1": lambda v: average("round", v.mean("w")[0]),
         "w3": lambda v: average("step", v.mean("x")[0])}}[{case!r}]
_whole(work, {few}, left)
_whole(work, {few}, left)
before = peak()
_whole(work, {many}, left)
print(peak() / before - 1)
"""


def memory_growth() -> float:
    """Return by how much more memory ten times the rounds take, at their peak: the larger of two.

    Each in a process of its own, with an average and its trace over all rounds (W1) or steps (W3).
    (A measure of ``each`` moment is one comparison a moment, and keeps a number for each.)
    """
    found = []
    for case, few in (("w1", 20), ("w3", 300)):
        words = MEMORY.format(case=case, few=few, many=10 * few)
        ended = subprocess.run(
            [sys.executable, "-c", words], capture_output=True, text=True, check=True, cwd=ROOT
        )
        found.append(float(ended.stdout))
    return max(found)


def draws_share() -> float:
    """Return a noisy run's rate of draws over that of the fastest generator alone.

    W1 at d = 10 with minibatches of 8, so that every sign's mean takes a word a replicate: words a
    second of the difference between the noisy round and the noiseless one, lower quartiles of
    readings that are taken in turn.
    """
    (case,) = chosen(["w1"])
    noiseless, noisy = (
        Prepared(
            case.build(dim=10, replicates=64, noise=noise, batch=8), seed=1, dtype="float64",
            rotate=False,
        )
        for noise in (0.0, 0.5)
    )  # fmt: skip
    before = torch.get_num_threads()
    try:
        fastest = min(generators("cpu").values(), key=lambda draw: timed(draw, budget=0.3).median)
        calls = [next(iter(made.variants().values())) for made in (noiseless, noisy)]
        quiet, drawn, alone = (
            timing.quartiles[0] for timing in timed_in_turn([*calls, fastest])
        )  # fmt: skip
    finally:
        torch.set_num_threads(before)
    least = 0.02 * quiet  # less is within the spread of the two readings
    return float(noisy.cost.words / max(drawn - quiet, least) / (WORDS / alone))
