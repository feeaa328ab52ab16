"""A benchmark's rows in the format of pytest-benchmark, so that its compare tools read them."""

from __future__ import annotations

import os
import platform
import subprocess
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from toolkit.environment import processor
from toolkit.report.benchmark_table import size_text


def exported(head: Mapping[str, Any]) -> dict[str, Any]:
    """Return the document that ``pytest-benchmark compare FILE …`` reads, times in seconds.

    ``head`` is what ``gpu_bench.run.conduct`` returned; everything else of it stands under
    "driftproof", and each row's share of the roofline in its ``extra_info``.
    """
    return {
        "machine_info": {
            "node": "", "processor": platform.processor(), "machine": platform.machine(),
            "python_implementation": platform.python_implementation(),
            "python_version": platform.python_version(), "system": platform.system(),
            "release": platform.release(), "cpu": {"brand_raw": processor()},
        },
        "commit_info": commit(Path(__file__).parents[1]),
        "benchmarks": [_benchmark(row) for row in head["rows"] if "readings" in row],
        "datetime": datetime.now(UTC).isoformat(),
        "version": "5.1.0",
        "driftproof": {
            key: value for key, value in head.items() if key != "rows"
        } | {"not timed": [row for row in head["rows"] if "readings" not in row]},
    }  # fmt: skip


def commit(folder: Path) -> dict[str, Any]:
    """Return the commit of a folder that is a checkout's top, in pytest-benchmark's words.

    "unknown" elsewhere: a package installed below some other project's checkout is none of it.
    """
    unknown = {"id": "unknown", "dirty": None, "project": "driftproof", "branch": ""}
    top = _git(folder, "rev-parse", "--show-toplevel")
    known = _git(folder, "rev-parse", "HEAD")
    if top is None or known is None or Path(top).resolve() != folder.resolve():
        return unknown
    return unknown | {
        "id": known, "dirty": bool(_git(folder, "status", "--porcelain")),
        "branch": _git(folder, "branch", "--show-current") or "",
    }  # fmt: skip


def _git(folder: Path, *words: str) -> str | None:
    """Return what git says about a folder (None: it has none, or there is no git)."""
    outer = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    try:
        ended = subprocess.run(
            ["git", "-C", str(folder), *words], capture_output=True, text=True, check=True,
            env=outer,
        )  # fmt: skip
    except (OSError, subprocess.CalledProcessError):
        return None
    return ended.stdout.strip()


def _benchmark(row: Mapping[str, Any]) -> dict[str, Any]:
    group = f"{row['case']} {size_text(row['size'])} {row['dtype']}"
    name = f"{group} {row['variant']}"
    more = {key: value for key, value in row.items() if key not in ("readings", "size")}
    return {
        "group": group, "name": name, "fullname": f"gpu_bench::{name}",
        "params": {**row["size"], "dtype": row["dtype"], "variant": row["variant"]},
        "param": row["variant"], "extra_info": more,
        "options": {
            "disable_gc": False, "timer": "perf_counter", "min_rounds": 1, "max_time": 0.0,
            "min_time": 0.0, "warmup": True,
        },
        "stats": statistics(np.array(row["readings"])),
    }  # fmt: skip


def statistics(seconds: np.ndarray) -> dict[str, Any]:
    """Return what pytest-benchmark tells of its readings, in its words."""
    low, median, high = np.quantile(seconds, [0.25, 0.5, 0.75])
    mean = float(seconds.mean())
    deviation = float(seconds.std(ddof=1)) if len(seconds) > 1 else 0.0
    wide = 1.5 * (high - low)
    near = seconds[(seconds >= low - wide) & (seconds <= high + wide)]
    far = int((np.abs(seconds - mean) > deviation).sum())
    return {
        "min": float(seconds.min()), "max": float(seconds.max()), "mean": mean,
        "stddev": deviation, "rounds": len(seconds), "median": float(median),
        "iqr": float(high - low), "q1": float(low), "q3": float(high),
        "iqr_outliers": len(seconds) - len(near), "stddev_outliers": far,
        "outliers": f"{far};{len(seconds) - len(near)}",
        "ld15iqr": float(near.min()), "hd15iqr": float(near.max()),
        "ops": 1.0 / mean, "total": float(seconds.sum()), "iterations": 1,
        "data": seconds.tolist(),
    }  # fmt: skip
