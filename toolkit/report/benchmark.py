"""The table, the page and the plots of a benchmark."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from itertools import cycle
from pathlib import Path
from typing import Any

from toolkit.report.experiment import COLOURS, draw, drawn_panels
from toolkit.report.files import write_all
from toolkit.report.page import document

COLUMNS = (
    "case", "size", "precision", "way", "ms a round", "half of the readings", "client-steps/s",
    "limit", "bound by", "agrees to",
)  # fmt: skip
AXES = {
    "replicates": "replicates R", "clients": "clients K", "dim": "the dimension d",
    "local_steps": "local steps τ",
}  # fmt: skip
GROW = "grow (flat: linear in them)"
LETTERS = {"clients": "K", "replicates": "R", "dim": "d", "local_steps": "τ", "noise": "σ"}

Head = Mapping[str, Any]
Row = Mapping[str, Any]


def size_of(row: Row) -> str:
    """Return a row's size as tables print it."""
    return " ".join(f"{LETTERS.get(key, key)}={value}" for key, value in row["size"].items())


def cells(row: Row) -> list[str]:
    """Return a row of the table; what was not measured says why."""
    way = row["variant"] + (" *" if row["taken"] else "")
    first = [row["case"], size_of(row), row["dtype"], way]
    if "seconds" not in row:
        return [*first, str(row["note"]), "", "", "", "", ""]
    spread = f"{1e3 * row['low']:.3g}–{1e3 * row['high']:.3g}"
    if len(row["readings"]) == 1:
        spread = "one reading"
    return [
        *first, f"{1e3 * row['seconds']:.3g}", spread, f"{row['client_steps_per_second']:.2e}",
        f"{100 * row['share']:.0f} %" if "share" in row else "", row.get("bound", ""),
        f"{row['error']:.0e}",
    ]  # fmt: skip


def ceiling_lines(ceilings: Mapping[str, Any]) -> list[str]:
    """Return the ceilings in words, and what a limit is."""
    products = ", ".join(f"{1e-9 * v:.0f} Gflop/s ({k})" for k, v in ceilings["product"].items())
    words = ", ".join(f"{1e-6 * v:.0f} M/s ({k})" for k, v in ceilings["words"].items())
    return [
        "* what the federation takes. Limit: the least time that the ceilings below allow, as a "
        "share of the measured one.",
        f"Ceilings, in this run: copy {1e-9 * ceilings['copy']:.1f} GB/s; matrix product "
        f"{products}; 64-bit random words {words}; smallest operation "
        f"{1e6 * ceilings['launch']:.2g} µs.",
    ]


def write_benchmark(out: Path, head: Head, exported: Mapping[str, Any]) -> None:
    """Write ``benchmark.json`` (pytest-benchmark's format), ``index.html`` and ``plots/``."""
    made = list(panels(head))
    texts = {
        "benchmark.json": json.dumps(exported, indent=1, ensure_ascii=False, allow_nan=False),
        "index.html": document(
            "benchmark.html.j2", head=head, columns=COLUMNS,
            rows=[cells(row) for row in head["rows"]],
            lines=ceiling_lines(head["ceilings"]), panels=drawn_panels(made, file_name),
        ),
    }  # fmt: skip
    labels = dict.fromkeys(c["label"] for panel in made for c in panel["curves"])
    colours = dict(zip(labels, cycle(COLOURS), strict=False))

    def plots(folder: Path) -> None:
        for panel in made:
            draw(panel, file_name(panel), folder, colours)

    write_all(out, texts, plots)


def file_name(panel: Mapping[str, Any]) -> str:
    """Return a panel's file name without ending."""
    return f"benchmark-{panel['name']}"


def panels(head: Head) -> Iterator[dict[str, Any]]:
    """Yield the roofline of each precision, then how the cost grows with each size."""
    for dtype, peak in head["ceilings"]["product"].items():
        curves = list(_points(head, dtype))
        if curves:
            ends = [x for curve in curves for x in curve["x"]]
            copy, peak = 1e-9 * head["ceilings"]["copy"], 1e-9 * peak
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
        if row["taken"] and row["dtype"] == dtype and row.get("flops") and row.get("bytes"):
            rates = [1e-9 * row["flops"] / row[key] for key in ("seconds", "high", "low")]
            label = f"{row['case']} {size_of(row)}"
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
