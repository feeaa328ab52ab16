"""The page and the plots of a benchmark, and the folder that they go to."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from itertools import cycle
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

from toolkit.errors import DriftproofError
from toolkit.report.benchmark_table import COLUMNS, Head, ceiling_lines, cells, size_text
from toolkit.report.experiment import COLOURS, draw, drawn_panels
from toolkit.report.files import write_all
from toolkit.report.page import document

OTHERS = ("results.json", "experiment.json", "ledger.sqlite")
"""Files that show that a folder holds another command's report."""
AXES = {
    "replicates": "replicates R", "clients": "clients K", "dim": "the dimension d",
    "local_steps": "local steps τ",
}  # fmt: skip
GROW = "grow (flat: linear in them)"


def command_line(head: Head) -> str:
    """Return the command that measures the same again.

    >>> command_line({"named": ["w1"], "device": "cuda", "peers": True})
    'driftproof bench w1 --device cuda --peers'
    """
    device = [] if head["device"] == "cpu" else ["--device", head["device"]]
    return " ".join(
        ["driftproof bench", *head["named"], *device, *(["--peers"] if head["peers"] else [])]
    )


def prepare(out: Path) -> None:
    """Make sure that a benchmark can be written to a folder, before anything is measured.

    Raises:
        DriftproofError: the folder cannot be made or written to, or holds another kind of report.
    """
    for name in OTHERS:
        if (out / name).exists():
            raise DriftproofError(
                f"--out {out}: it holds {name}, another command's report",
                "a folder that is empty, new, or a benchmark's",
                "name another --out: the page there would be overwritten",
            )
    try:
        out.mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=out) as probe:
            probe.write(b"benchmark")
    except OSError as error:
        raise _unwritable(out, error) from error


def _unwritable(out: Path, error: OSError) -> DriftproofError:
    return DriftproofError(
        f"--out {out}: {error.strerror}",
        "a folder that can be written to, with room",
        "name another --out, or free some space",
    )


def write_benchmark(out: Path, head: Head) -> None:
    """Write ``benchmark.json`` (docs/benchmarks.md lists its keys), the page and ``plots/``."""
    shown = list(panels(head))
    texts = {
        "benchmark.json": json.dumps(head, indent=1, ensure_ascii=False, allow_nan=False),
        "index.html": document(
            "benchmark.html.j2", head=head, columns=COLUMNS,
            rows=[(cells(row), "seconds" in row) for row in head["rows"]],
            lines=ceiling_lines(head), panels=drawn_panels(shown, file_name),
            repeat=command_line(head),
        ),
    }  # fmt: skip
    labels = dict.fromkeys(c["label"] for panel in shown for c in panel["curves"])
    colours = dict(zip(labels, cycle(COLOURS), strict=False))

    def plots(folder: Path) -> None:
        for panel in shown:
            draw(panel, file_name(panel), folder, colours)

    try:
        write_all(out, texts, plots)
    except DriftproofError as error:
        if isinstance(error.__cause__, OSError):  # no ledger here, so another remedy
            raise _unwritable(out, error.__cause__) from error
        raise


def file_name(panel: Mapping[str, Any]) -> str:
    """Return a panel's file name without ending."""
    return f"benchmark-{panel['name']}"


def panels(head: Head) -> Iterator[dict[str, Any]]:
    """Yield the roofline of each precision, then how the cost grows with each size."""
    for dtype, rates in head["ceilings"]["flops"].items():
        curves = list(_points(head, dtype))
        if curves:
            ends = [x for curve in curves for x in curve["x"]]
            copy, peak = 1e-9 * head["ceilings"]["copy"], 1e-9 * max(rates.values())
            x = sorted({min(ends) / 3, peak / copy, max(ends) * 3})
            roof = _curve("ceilings of this machine", x, [min(peak, copy * at) for at in x])
            yield {
                "name": f"roofline-{dtype}", "title": f"Roofline, {dtype}",
                "x_label": "flops a byte of memory traffic", "y_label": "Gflop/s",
                "log": "xy", "curves": [_at(roof, ends), *curves],
            }  # fmt: skip
    for axis, label in AXES.items():
        curves = list(_growth(head, axis))
        if curves:
            yield {
                "name": f"growth-{axis.replace('_', '-')}",
                "title": f"Cost of a client-step as {label} {'grows' if axis == 'dim' else GROW}",
                "x_label": label, "y_label": "nanoseconds a client-step", "log": "xy",
                "curves": curves,
            }  # fmt: skip


def _points(head: Head, dtype: str) -> Iterator[dict[str, Any]]:
    for row in head["rows"]:
        costs = row.get("flops") and row.get("bytes") and "seconds" in row
        if row["taken"] and row["dtype"] == dtype and costs:
            rates = [1e-9 * row["flops"] / row[key] for key in ("seconds", "high", "low")]
            label = f"{row['case']} {size_text(row['size'])}"
            at = row["flops"] / row["bytes"]
            yield {
                "label": label, "x": [at], "mean": rates[:1], "low": rates[1:2],
                "high": rates[2:],
            }  # fmt: skip


def _growth(head: Head, axis: str) -> Iterator[dict[str, Any]]:
    for case in dict.fromkeys(row["case"] for row in head["sweeps"]):
        rows = [r for r in head["sweeps"] if (r["case"], r["axis"]) == (case, axis)]
        if rows:
            each = {
                key: [1e9 * row[key] / row["client_steps"] for row in rows]
                for key in ("seconds", "low", "high")
            }
            yield {
                "label": case, "x": [row["value"] for row in rows], "mean": each["seconds"],
                "low": each["low"], "high": each["high"],
            }  # fmt: skip


def _curve(label: str, x: list[float], values: list[float]) -> dict[str, Any]:
    return {"label": label, "x": x, "mean": values, "low": values, "high": values}


def _at(roof: dict[str, Any], points: list[float]) -> dict[str, Any]:
    """Return the roof with a value wherever a point lies, so that both can be read off."""
    corner = roof["x"][1]
    peak = roof["mean"][1]
    x = sorted({*roof["x"], *points})
    return _curve(roof["label"], x, [peak * min(1.0, at / corner) for at in x])
