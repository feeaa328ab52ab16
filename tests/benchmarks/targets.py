"""The target table: what each row asks, what was measured, and whether that is enough.

    driftproof bench
    python -m tests.benchmarks.targets report-bench/benchmark.json

A row is measured from the benchmark's rows, or by runs of its own, or is on record: figures that
were measured once, in docs/benchmarks/recorded.json. What a user waits for is timed by
``pytest --benchmark``.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from driftproof.gpu_bench.prepared import Prepared
from driftproof.gpu_bench.roofline import WORDS, generators
from driftproof.gpu_bench.timer import timed, timed_in_turn
from driftproof.gpu_bench.workload import Workload, chosen
from driftproof.toolkit.federation import run, sampled_context
from driftproof.toolkit.measure import average, each
from tests.views import of_states

ROOT = Path(__file__).parents[2]
RECORDED = ROOT / "docs" / "benchmarks" / "recorded.json"
"""Measured once: docs/benchmarks.md."""
Head = Mapping[str, Any]


@dataclass(frozen=True)
class Target:
    """One row.

    Attributes:
        text: what is asked.
        wanted, aim: the least that is asked and what is aimed at (None: nothing beyond).
        unit: "%", "times", "µs" or "".
        measure: head of the run → the figure, or why there is none.
        down: whether less is better.
        whole: whether only a benchmark of all cases has this row, which takes runs of its own.
        device: where the benchmark ran.
    """

    text: str
    wanted: float
    aim: float | None
    unit: str
    measure: Callable[[Head], float | str]
    down: bool = False
    whole: bool = False
    device: str = "cpu"

    def met(self, figure: float, limit: float) -> bool:
        """Whether a figure reaches a limit."""
        return figure <= limit if self.down else figure >= limit

    def shown(self, figure: float | None) -> str:
        """Return a figure with its unit."""
        if figure is None:
            return "–"
        if self.unit == "%":
            return f"{100 * figure:.0f} %" if abs(figure) >= 0.1 else f"{100 * figure:.1f} %"
        return f"{f'{figure:,.0f}' if figure >= 100 else f'{figure:.3g}'} {self.unit}".strip()

    def row(self, figure: float | str) -> tuple[str, str, str, str, str]:
        """Return target, wanted, aim, measured and outcome; a text says why there is no figure."""
        asked = self.text, self.shown(self.wanted), self.shown(self.aim)
        if isinstance(figure, str):
            return *asked, "–", figure
        aimed = self.aim is not None and self.met(figure, self.aim)
        outcome = "aim met" if aimed else "met" if self.met(figure, self.wanted) else "MISSED"
        return *asked, self.shown(figure), outcome


def judged(head: Head) -> Iterator[tuple[str, str, str, str, str]]:
    """Yield the rows; of a benchmark of some cases, those that their figures answer."""
    for target in TARGETS:
        if target.device == head["device"].partition(":")[0] and not (
            head["named"] and target.whole
        ):
            figure = target.measure(head)
            if not head["named"] or not isinstance(figure, str):
                yield target.row(figure)


def taken(head: Head, case: str, dtype: str, **size: Any) -> dict[str, Any] | None:
    """Return the row of what the federation takes, at the point of this size."""
    for row in head["rows"]:
        here = (row["case"], row["dtype"]) == (case, dtype) and row["taken"]
        if here and all(row["size"].get(key) == value for key, value in size.items()):
            return dict(row)
    return None


def _of(
    key: str, case: str, dtype: str = "float64", factor: float = 1.0, **size: Any
) -> Callable[[Head], float | str]:
    """Return how a number of a row is read."""

    def measure(head: Head) -> float | str:
        row = taken(head, case, dtype, **size)
        if row is None:
            return f"not measured: case {case} was not run"
        return factor * row[key] if key in row else str(row.get("note", "its kernel has no cost"))

    return measure


def _against(peer: str, case: str, **size: Any) -> Callable[[Head], float | str]:
    def measure(head: Head) -> float | str:
        ours = taken(head, case, "float64", **size)
        for row in head["rows"]:
            same = (row["case"], row["dtype"], row["variant"]) == (case, "float64", peer)
            if ours is not None and same and row["size"] == ours["size"]:
                if "seconds" in row and "seconds" in ours:
                    return float(row["seconds"] / ours["seconds"])
                return str(row.get("note", ours.get("note")))
        return f"not measured: {peer} was not run on {case}"

    return measure


def _recorded(peer: str, key: str = "times") -> Callable[[Head], float | str]:
    """Return a recorded figure; with 64 replicates, 64 rounds of a peer against one of ours."""
    held = {row["peer"]: row for row in json.loads(RECORDED.read_text(encoding="utf-8"))}
    return lambda head: float(held[peer][key])


def _whole(work: Workload, rounds: int, left: Callable[..., Any] | None = None) -> float:
    """Return the seconds of a run."""
    began = time.perf_counter()
    ctx = sampled_context(work.problem, ("core",), replicates=work.replicates)
    run(work.problem, work.algorithm, ctx, rounds=rounds, left=left)
    return time.perf_counter() - began


def recording_share() -> float:
    """Return what recording adds to a run, as a share of it: the larger of two cases.

    The measures cost next to nothing themselves (one entry of the state), so that what is left is
    views, accumulation and traces: at each round of W1's 100 clients, d = 100, by its kernel; and
    at each of 3,000 steps of W3 through its kernel, where the states between have to be kept.
    """
    w1, w3 = (case.build for case in chosen(["w1", "w3"]))
    shares = []
    for work, rounds, left in (
        (w1(dim=100, replicates=64), 5, lambda view: average("round", view.mean("w")[0])),
        (w3(clients=64, replicates=64), 300, lambda view: each("step", view.mean("x")[0])),
    ):
        measures = of_states(left), None
        both = [[_whole(work, rounds, measure) for measure in measures] for _ in range(16)]
        with_it, without = np.min(both[1:], 0)  # others' work only adds; the first ones compile
        shares.append(max(0.0, with_it / without - 1))
    return max(shares)


def largest_exponent() -> float:
    """Return the largest exponent with which a whole run's time grows in R, K or T.

    Slopes of log time over log size for W1 at d = 10 and W3, from where the fixed cost of a run is
    small. Clients are taken over a factor of 16: a step of W3 takes a third longer where its state
    just leaves the second-level cache, which is a step and no growth.
    """
    found = []
    for case, fixed in zip(chosen(["w1", "w3"]), ({"dim": 10}, {}), strict=True):
        for name, values in {
            "replicates": (16, 32, 64),
            "clients": (50, 200, 800),
            "rounds": (100, 200, 400),
        }.items():
            sizes = [
                {"clients": 100, "replicates": 64, "rounds": 100, **fixed, name: v} for v in values
            ]
            runs = [(size.pop("rounds"), case.build(**size)) for size in sizes]
            times = [[_whole(work, rounds) for rounds, work in runs] for _ in range(4)]  # in turn
            found.append(np.polyfit(np.log(values), np.log(np.min(times, 0)), 1)[0])
    return float(max(found))


MEMORY = """
import resource
from driftproof.gpu_bench.workload import chosen
from tests.benchmarks.targets import _whole
from driftproof.toolkit.measure import States, average
case, = chosen([{case!r}])
work = case.build(clients=20, replicates=64)
axis, name = {{"w1": ("round", "w"), "w3": ("step", "x")}}[{case!r}]
def left(view: States):
    return average(axis, view.mean(name)[0])
peaks = []
for rounds in ({few}, {few}, {many}):
    _whole(work, rounds, left)
    peaks.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
print(peaks[2] / peaks[1] - 1)
"""


def memory_growth() -> float:
    """Return by how much more memory ten times the rounds take, at their peak: the larger of two.

    Each in a process of its own, with an average and its trace over all rounds (W1) or steps (W3).
    """
    found = []
    for case, few in (("w1", 20), ("w3", 300)):
        words = [sys.executable, "-c", MEMORY.format(case=case, few=few, many=10 * few)]
        ended = subprocess.run(words, capture_output=True, text=True, check=True, cwd=ROOT)
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
            case.build(dim=10, replicates=64, noise=noise, batch=8),
            seed=1,
            dtype="float64",
            rotate=False,
        )
        for noise in (0.0, 0.5)
    )
    fastest = min(generators("cpu").values(), key=lambda draw: timed(draw, budget=0.3).median)
    calls = [next(iter(made.variants().values())) for made in (noiseless, noisy)]
    quiet, drawn, alone = (t.quartiles[0] for t in timed_in_turn([*calls, fastest]))
    least = 0.02 * quiet  # less is within the spread of the two readings
    return float(noisy.cost.words / max(drawn - quiet, least) / (WORDS / alone))


LARGE = {"dim": 100, "replicates": 64}
SMALL = {"dim": 10, "replicates": 64}
TARGETS = (
    Target("W1, d = 100, R = 64, share of the limit, float64", 0.70, 0.85, "%",
           _of("share", "w1", **LARGE)),
    Target("W1, d = 100, R = 64, share of the limit, float32", 0.60, 0.75, "%",
           _of("share", "w1", "float32", **LARGE)),
    Target("W2, R = 64, share of the gather limit, float64", 0.30, 0.45, "%",
           _of("share", "w2", replicates=64)),
    Target("W3, R = 64, share of the limit, float64", 0.50, 0.70, "%",
           _of("share", "w3", replicates=64)),
    Target("W4, R = 64, share of the limit, float64", 0.50, 0.70, "%",
           _of("share", "w4", replicates=64)),
    Target("one round of W1, d = 10, R = 1", 45, 30, "µs",
           _of("seconds", "w1", factor=1e6, dim=10, replicates=1), down=True),
    Target("noisy runs, rate of draws against the fastest generator alone", 0.60, 0.80, "%",
           lambda head: draws_share(), whole=True),
    Target("W1, d = 10, R = 64, against a numpy loop over clients", 8, 100, "times",
           _against("numpy loop", "w1", **SMALL)),
    Target("W1, d = 100, R = 64, against a numpy loop over clients", 8, 20, "times",
           _against("numpy loop", "w1", **LARGE)),
    Target("W2, R = 64, against a numpy loop over clients", 8, 20, "times",
           _against("numpy loop", "w2", replicates=64)),
    Target("FedNest's update as its public code writes it, 1,000 clients", 50, 200, "times",
           _against("FedNest's public update", "fednest-minimax", clients=1000)),
    Target("Flower's simulation, W1, d = 10, R = 1 (recorded)", 100, 1000, "times",
           _recorded("flower"), whole=True),
    Target("BlazeFL, W1, d = 10, R = 1 (recorded)", 100, 150, "times",
           _recorded("blazefl"), whole=True),
    Target("BlazeFL, W1, d = 10, R = 64 (recorded)", 100, 1000, "times",
           _recorded("blazefl", "times_with_64_replicates"), whole=True),
    Target("recording of measures and traces, share of a run", 0.05, None, "%",
           lambda head: recording_share(), down=True, whole=True),
    Target("growth of time with R·K·T: the largest exponent", 1.1, None, "",
           lambda head: largest_exponent(), down=True, whole=True),
    Target("growth of peak memory as T grows tenfold", 0.02, None, "%",
           lambda head: memory_growth(), down=True, whole=True),
    Target("CUDA: W1, d = 10, R = 64, a local step", 5, 1, "µs",
           _of("seconds", "w1", factor=1e5, **SMALL), down=True, device="cuda"),
    Target("CUDA: W1, d = 100, R = 64, share of the limit, float64", 0.80, 0.95, "%",
           _of("share", "w1", **LARGE), device="cuda"),
    Target("CUDA: W2, R = 64, share of the limit, float64", 0.85, 0.92, "%",
           _of("share", "w2", replicates=64), device="cuda"),
)  # fmt: skip
"""docs/performance.md says what each row means and how it was reached."""


def main(path: Path) -> int:
    """Print the table for a benchmark.json; one of all cases has every row measured."""
    for row in judged(json.loads(path.read_text(encoding="utf-8"))):
        sys.stdout.write(f"| {' | '.join(row)} |\n")
        sys.stdout.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
