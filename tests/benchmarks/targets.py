"""The target table: what each row asks, what was measured, and whether that is enough.

    driftproof bench
    python -m tests.benchmarks.targets report-bench/benchmark.json

A row is measured from the benchmark's rows where it can be, else by running what a user would run,
or it is on record: figures that were measured once, elsewhere or by hand, in docs/benchmarks.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.benchmarks import core_cost
from tests.commands import DRIFTPROOF

RECORDS = Path(__file__).parents[2] / "docs" / "benchmarks"
"""recorded.json is written by tests/benchmarks/recorded; cuda.json by ``python -m gpu_bench``."""
Head = Mapping[str, Any]
LOCAL_STEPS = 10
"""τ of W1."""
NO_GPU = "not measured: no run on a GPU is on record, and this machine has none"


@dataclass(frozen=True)
class Target:
    """One row.

    Attributes:
        text: what is asked.
        wanted, aim: the least that is asked and what is aimed at (None: nothing beyond).
        unit: "%", "times", "s" or "".
        measure: head of the run → the figure, or why there is none.
        down: whether less is better.
        whole: whether it takes a measurement of its own, of seconds to minutes, which only a run
            without a named case makes.
        case: the case whose rows it is about ("": no one case's).
    """

    text: str
    wanted: float
    aim: float | None
    unit: str
    measure: Callable[[Head], float | str]
    down: bool = False
    whole: bool = False
    case: str = ""

    def met(self, figure: float, limit: float) -> bool:
        """Whether a figure reaches a limit."""
        return figure <= limit if self.down else figure >= limit

    def shown(self, figure: float | None) -> str:
        """Return a figure with its unit."""
        if figure is None:
            return ""
        if self.unit == "%":
            return f"{100 * figure:.0f} %" if abs(figure) >= 0.1 else f"{100 * figure:.1f} %"
        shown = f"{figure:,.0f}" if figure >= 100 else f"{figure:.3g}"
        return f"{shown} {self.unit}".strip()


def judged(head: Head, *, whole: bool) -> Iterator[dict[str, Any]]:
    """Yield the rows of the table with what was measured, as text and numbers.

    ``whole`` measures every row, and keeps those that cannot be, with the reason; otherwise only
    the rows of this run's cases are there.
    """
    cases = {row["case"] for row in head["rows"]}
    for target in TARGETS:
        if whole or target.case in cases:
            row = answered(target, target.measure(head))
            if whole or row["figure"] is not None:
                yield row


def answered(target: Target, figure: float | str) -> dict[str, Any]:
    """Return a row: a figure is met or missed, a text says why there is none."""
    row: dict[str, Any] = {
        "target": target.text, "wanted": target.shown(target.wanted),
        "aim": target.shown(target.aim), "figure": None, "measured": "–", "outcome": figure,
    }  # fmt: skip
    if not isinstance(figure, str):
        aimed = target.aim is not None and target.met(figure, target.aim)
        least = target.met(figure, target.wanted)
        word = "aim met" if aimed else "met" if least else "MISSED"
        row |= {"figure": figure, "measured": target.shown(figure), "outcome": word}
    return row


def taken(head: Head, case: str, dtype: str, **size: Any) -> dict[str, Any] | None:
    """Return the row of what the federation takes, at the point of this size."""
    for row in head["rows"]:
        here = (row["case"], row["dtype"]) == (case, dtype) and row["taken"]
        if here and all(row["size"].get(key) == value for key, value in size.items()):
            return dict(row)
    return None


def _share(
    case: str, dtype: str, device: str = "cpu", **size: Any
) -> Callable[[Head], float | str]:
    def measure(head: Head) -> float | str:
        row = taken(head, case, dtype, **size)
        if row is None or str(row.get("device", device)).split(":")[0] != device:
            return f"not measured: case {case} was not run"
        if "share" in row:
            return float(row["share"])
        return str(row.get("note", "not measured: its kernel states no cost"))

    return measure


def _against(peer: str, case: str, **size: Any) -> Callable[[Head], float | str]:
    def measure(head: Head) -> float | str:
        ours = taken(head, case, "float64", **size)
        if ours is None:
            return f"not measured: case {case} was not run"
        theirs = [
            row for row in head["rows"]
            if (row["case"], row["dtype"], row["variant"]) == (case, "float64", peer)
            and row["size"] == ours["size"]
        ]  # fmt: skip
        if not theirs:
            return f"not measured: {peer} does not run here"
        if "seconds" not in theirs[0] or "seconds" not in ours:
            return str(theirs[0].get("note", ours.get("note", "not measured")))
        return float(theirs[0]["seconds"] / ours["seconds"])

    return measure


def process(*words: str, repeats: int = 1) -> float | str:
    """Return the least seconds that a fresh Python process takes, or how it ended."""
    least = float("inf")
    for _ in range(repeats):
        began = time.perf_counter()
        ended = subprocess.run([sys.executable, *words], capture_output=True, check=False)
        least = min(least, time.perf_counter() - began)
        if ended.returncode:
            return f"not measured: {' '.join(words[-4:])} ended with status {ended.returncode}"
    return least


def _verify(profile: str, *claims: str, repeats: int = 1) -> Callable[[Head], float | str]:
    def measure(head: Head) -> float | str:
        with tempfile.TemporaryDirectory() as out:
            words = ("verify", *claims, "--profile", profile, "--out", out)
            return process(*DRIFTPROOF[1:], *words, repeats=repeats)

    return measure


def record(name: str) -> Any:
    """Return a record's content (None: there is none)."""
    path = RECORDS / f"{name}.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else None


def _cuda(head: Head) -> Head | None:
    """Return the run on a GPU: this one, or the recorded one (None: no GPU was at hand)."""
    return head if head["device"].startswith("cuda") else record("cuda")


def _cuda_share(case: str, **size: Any) -> Callable[[Head], float | str]:
    def measure(head: Head) -> float | str:
        held = _cuda(head)
        return _share(case, "float64", "cuda", **size)(held) if held is not None else NO_GPU

    return measure


def _cuda_step(head: Head) -> float | str:
    held = _cuda(head)
    row = taken(held, "w1", "float64", dim=10, replicates=64) if held is not None else None
    if row is None or "seconds" not in row:
        return NO_GPU
    return 1e6 * float(row["seconds"]) / LOCAL_STEPS


def _round_of_one(head: Head) -> float | str:
    row = taken(head, "w1", "float64", dim=10, replicates=1)
    if row is None or "seconds" not in row:
        return "not measured: case w1 was not run"
    return 1e6 * float(row["seconds"])


def _recorded(peer: str, key: str = "times") -> Callable[[Head], float | str]:
    """Return a recorded figure; with 64 replicates, 64 rounds of a peer against one of ours."""

    def measure(head: Head) -> float | str:
        for row in record("recorded") or []:
            if row["peer"] == peer:
                return float(row[key])
        return f"not measured: no record of {peer} in docs/benchmarks"

    return measure


TARGETS = (
    Target("W1, d = 100, R = 64, share of the limit, float64", 0.70, 0.85, "%",
           _share("w1", "float64", dim=100, replicates=64), case="w1"),
    Target("W1, d = 100, R = 64, share of the limit, float32", 0.60, 0.75, "%",
           _share("w1", "float32", dim=100, replicates=64), case="w1"),
    Target("W2, R = 64, share of the gather limit, float64", 0.30, 0.45, "%",
           _share("w2", "float64", replicates=64), case="w2"),
    Target("W3, R = 64, share of the limit, float64", 0.50, 0.70, "%",
           _share("w3", "float64", replicates=64), case="w3"),
    Target("W4, R = 64, share of the limit, float64", 0.50, 0.70, "%",
           _share("w4", "float64", replicates=64), case="w4"),
    Target("one round of W1, d = 10, R = 1", 45, 30, "µs", _round_of_one, down=True, case="w1"),
    Target("noisy runs, rate of draws against the fastest generator alone", 0.60, 0.80, "%",
           lambda head: core_cost.draws_share(), whole=True),
    Target("W1, d = 10, R = 64, against a numpy loop over clients", 8, 100, "times",
           _against("numpy loop", "w1", dim=10, replicates=64), case="w1"),
    Target("W1, d = 100, R = 64, against a numpy loop over clients", 8, 20, "times",
           _against("numpy loop", "w1", dim=100, replicates=64), case="w1"),
    Target("W2, R = 64, against a numpy loop over clients", 8, 20, "times",
           _against("numpy loop", "w2", replicates=64), case="w2"),
    Target("FedNest's update as its public code writes it, 1,000 clients", 50, 200, "times",
           _against("FedNest's public update", "fednest-minimax", clients=1000),
           case="fednest-minimax"),
    Target("Flower's simulation, W1, d = 10, R = 1 (recorded)", 100, 1000, "times",
           _recorded("flower"), case="w1"),
    Target("BlazeFL, W1, d = 10, R = 1 (recorded)", 100, 150, "times",
           _recorded("blazefl"), case="w1"),
    Target("BlazeFL, W1, d = 10, R = 64 (recorded)", 100, 1000, "times",
           _recorded("blazefl", "times_with_64_replicates"), case="w1"),
    Target("driftproof verify --profile quick, all claims", 40, 30, "s", _verify("quick"),
           down=True, whole=True),
    Target("driftproof verify --profile smoke, all claims", 7.5, 5, "s", _verify("smoke"),
           down=True, whole=True),
    Target("driftproof verify comfedl/lemma-2, the whole command", 2, 1.5, "s",
           _verify("quick", "comfedl/lemma-2", repeats=3), down=True, whole=True),
    Target("import toolkit", 0.3, None, "s",
           lambda head: process("-c", "import toolkit", repeats=5), down=True, whole=True),
    Target("driftproof list", 1.0, None, "s",
           lambda head: process(*DRIFTPROOF[1:], "list", repeats=5), down=True, whole=True),
    Target("recording of measures and traces, share of a run", 0.05, None, "%",
           lambda head: core_cost.recording_share(), down=True, whole=True),
    Target("growth of time with R·K·T: the largest exponent", 1.1, None, "",
           lambda head: core_cost.largest_exponent(), down=True, whole=True),
    Target("growth of peak memory as T grows tenfold", 0.02, None, "%",
           lambda head: core_cost.memory_growth(), down=True, whole=True),
    Target("CUDA: τ local steps of W1, d = 10, R = 64, µs a local step", 5, 1, "µs",
           _cuda_step, down=True, case="w1"),
    Target("CUDA: W1, d = 100, R = 64, share of the limit, float64", 0.80, 0.95, "%",
           _cuda_share("w1", dim=100, replicates=64), case="w1"),
    Target("CUDA: W2, R = 64, share of the limit, float64", 0.85, 0.92, "%",
           _cuda_share("w2", replicates=64), case="w2"),
)  # fmt: skip
"""docs/performance.md says what each row means and how it was reached."""


def main(path: Path) -> int:
    """Print the table for a benchmark.json; one of all cases has every row measured."""
    head = json.loads(path.read_text(encoding="utf-8"))
    for row in judged(head, whole=not head["named"]):
        told = ("target", "wanted", "aim", "measured", "outcome")
        sys.stdout.write("| " + " | ".join(row[key] or "–" for key in told) + " |\n")
        sys.stdout.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
