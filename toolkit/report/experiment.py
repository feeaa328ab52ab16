"""The page and the plots of an experiment."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from itertools import cycle
from pathlib import Path
from typing import Any

import numpy as np

from driftproof.toolkit.report.figures import canvas, finish, save
from driftproof.toolkit.report.files import write_all
from driftproof.toolkit.report.page import document

MARKED_POINTS = 5
"""Points up to which a curve shows each of them."""
COLOURS = tuple(f"C{k}" for k in range(10))
DASHES, MARKERS = ("-", "--", ":", "-."), "osD^v"
"""Curves that lie upon each other are told apart by these."""


def write_experiment(out: Path, head: Mapping[str, Any]) -> None:
    """Write ``experiment.json``, ``index.html`` and ``plots/`` to a folder."""
    texts = {
        "experiment.json": json.dumps(head, indent=1, ensure_ascii=False, allow_nan=False),
        "index.html": document(
            "experiment.html.j2", head=head,
            panels=drawn_panels(head["panels"], partial(file_name, head)),
        ),
    }  # fmt: skip

    labels = dict.fromkeys(c["label"] for panel in head["panels"] for c in panel["curves"])
    colours = dict(zip(labels, cycle(COLOURS), strict=False))  # one for each method on all plots

    def plots(folder: Path) -> None:
        for panel in head["panels"]:
            draw(panel, file_name(head, panel), folder, colours)

    write_all(out, texts, plots)


def file_name(head: Mapping[str, Any], panel: Mapping[str, Any]) -> str:
    """Return a panel's file name without ending."""
    return f"{head['experiment']}-{panel['name']}".replace("/", "-")


def draw(panel: Mapping[str, Any], name: str, folder: Path, colours: Mapping[str, str]) -> None:
    """Write a panel as SVG and PDF, and the points of its curves as CSV."""
    points: dict[str, list[Any]] = {key: [] for key in ("curve", "x", "mean", "low", "high")}
    for curve in panel["curves"]:
        points["curve"] += [curve["label"]] * len(curve["x"])
        for key in ("x", "mean", "low", "high"):
            points[key] += curve[key]
    save(drawn(panel, colours), folder / name, points)


def drawn(panel: Mapping[str, Any], colours: Mapping[str, str]) -> Any:
    """Return a panel, drawn."""
    sheet, axes = canvas()
    for curve in panel["curves"]:
        colour = colours[curve["label"]]
        place, few = int(colour[1:]), len(curve["x"]) < MARKED_POINTS
        mean, low, high = (np.array(curve[key], dtype=float) for key in ("mean", "low", "high"))
        axes.plot(
            curve["x"], mean, color=colour, ls=DASHES[place % len(DASHES)], ms=4,
            marker=MARKERS[place % len(MARKERS)], markevery=1 if few else (0.03 * (place + 1), 0.2),
            label=curve["label"] + curve.get("told", ""),
        )  # fmt: skip
        axes.fill_between(curve["x"], low, high, color=colour, alpha=0.15, lw=0)  # None: a gap
    finish(axes, panel["title"], panel["x_label"], panel["y_label"], panel["log"])
    if note := panel.get("note"):
        sheet.subplots_adjust(bottom=0.19)
        axes.xaxis.set_label_coords(0.5, -0.09)
        sheet.text(0.01, 0.015, note, fontsize=7, color="0.35")
    return sheet


def drawn_panels(
    panels: Iterable[Mapping[str, Any]], named: Callable[[Mapping[str, Any]], str]
) -> list[dict[str, Any]]:
    """Return panels as a page draws them, each under the name of its files."""
    return [
        {
            "name": named(panel),
            "title": panel["title"],
            "note": panel.get("note", ""),
            "data": {
                "x": panel["x_label"],
                "y": panel["y_label"],
                "log": panel["log"],
                "curves": panel["curves"],
            },
        }
        for panel in panels
    ]
