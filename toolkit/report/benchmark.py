"""The table, the page and the plots of a benchmark."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from itertools import cycle
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

from toolkit.errors import DriftproofError
from toolkit.report.experiment import COLOURS, draw, drawn_panels
from toolkit.report.files import write_all
from toolkit.report.page import document

COLUMNS = (
    "case", "way", "ms a round (half of the readings)", "client-steps/s", "limit, set by",
    "agrees to",
)  # fmt: skip
OTHERS = ("results.json", "experiment.json", "ledger.sqlite")
"""Files that show that a folder holds another command's report."""
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
    """Return a row of the table; what was not measured says why in its third cell."""
    way = f"{row['variant']}, {row['dtype']}{' *' if row['taken'] else ''}"
    first = [f"{row['case']} {size_of(row)}", way]
    if "seconds" not in row:
        return [*first, str(row["note"]), "", "", ""]
    spread = f"{1e3 * row['low']:.3g}–{1e3 * row['high']:.3g}"
    if len(row["readings"]) == 1:
        spread = "one reading"
    mark = " †" if row.get("disturbed") else ""
    agrees = f"{row['error']:.0e}" if row["error"] else "0"
    return [
        *first, f"{1e3 * row['seconds']:.3g} ({spread}){mark}",
        f"{row['client_steps_per_second']:.2e}",
        f"{100 * row['share']:.0f} %, {row['bound']}" if "share" in row else "–",
        "reference" if row.get("reference") and not row["error"] else agrees,
    ]  # fmt: skip


def ceiling_lines(head: Head) -> list[str]:
    """Return what marks and limits mean, and the ceilings in words."""
    ceilings = head["ceilings"]
    products = ", ".join(f"{1e-9 * v:.0f} Gflop/s ({k})" for k, v in ceilings["product"].items())
    words = ", ".join(f"{1e-6 * v:.0f} M/s ({k})" for k, v in ceilings["words"].items())
    lines = [
        "* what the federation takes. Limit: the least time that the ceilings below allow, as a "
        "share of the measured one.",
        f"Ceilings, in this run: copy {1e-9 * ceilings['copy']:.1f} GB/s; matrix product "
        f"{products}; 64-bit random words {words}; smallest operation "
        f"{1e6 * ceilings['launch']:.2g} µs.",
    ]
    if any(row.get("disturbed") for row in head["rows"]):
        lines.insert(1, DISTURBED)
    return lines


DISTURBED = (
    "† the machine was busy with something else as well: the upper quartile of the readings is "
    "more than twice the lower one, or the share is beyond what arithmetic allows. Measure again "
    "before relying on it."
)


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


def write_benchmark(out: Path, head: Head, exported: Mapping[str, Any]) -> None:
    """Write ``benchmark.json`` (pytest-benchmark's format), ``index.html`` and ``plots/``."""
    made = list(panels(head))
    texts = {
        "benchmark.json": json.dumps(exported, indent=1, ensure_ascii=False, allow_nan=False),
        "index.html": document(
            "benchmark.html.j2", head=head, columns=COLUMNS,
            rows=[(cells(row), "seconds" in row) for row in head["rows"]],
            lines=ceiling_lines(head), panels=drawn_panels(made, file_name),
            repeat=command_line(head),
        ),
    }  # fmt: skip
    labels = dict.fromkeys(c["label"] for panel in made for c in panel["curves"])
    colours = dict(zip(labels, cycle(COLOURS), strict=False))

    def plots(folder: Path) -> None:
        for panel in made:
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
        costs = row.get("flops") and row.get("bytes") and "seconds" in row
        if row["taken"] and row["dtype"] == dtype and costs:
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
