"""Plots of many curves, each with the interval of its mean: an experiment's, and some claims'."""

from collections.abc import Callable, Iterable, Mapping
from itertools import cycle
from pathlib import Path
from typing import Any

import numpy as np

from driftproof.toolkit.report.canvas import LINE, below, canvas, finish, save

MARKED_POINTS = 5
"""Points up to which a curve shows each of them."""
COLOURS = tuple(f"C{k}" for k in range(10))
DASHES, MARKERS = ("-", "--", ":", "-."), "osD^v"
"""Curves that lie upon each other are told apart by these."""


def colours_of(panels: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """Return a colour for each label: one for a method on all plots."""
    labels = dict.fromkeys(c["label"] for panel in panels for c in panel["curves"])
    return dict(zip(labels, cycle(COLOURS), strict=False))


def draw(panel: Mapping[str, Any], name: str, folder: Path, colours: Mapping[str, str]) -> None:
    """Write a panel as SVG and PDF, and the points of its curves as CSV."""
    save(drawn(panel, colours), folder / name, points(panel))


def points(panel: Mapping[str, Any]) -> dict[str, list[Any]]:
    """Return the points of a panel's curves as columns."""
    columns: dict[str, list[Any]] = {key: [] for key in ("curve", "x", "mean", "low", "high")}
    for curve in panel["curves"]:
        columns["curve"] += [curve["label"]] * len(curve["x"])
        for key in ("x", "mean", "low", "high"):
            columns[key] += curve[key]
    return columns


def drawn(panel: Mapping[str, Any], colours: Mapping[str, str] | None = None) -> Any:
    """Return a panel, drawn."""
    colours = colours or colours_of([panel])
    sheet, axes = canvas()
    for curve in panel["curves"]:
        colour = colours[curve["label"]]
        place = int(colour[1:])
        mean, low, high = (np.array(curve[key], dtype=float) for key in ("mean", "low", "high"))
        few = np.isfinite(mean).sum() < MARKED_POINTS  # 0 too: matplotlib cannot space no marks
        axes.plot(
            curve["x"],
            mean,
            color=colour,
            ls=DASHES[place % len(DASHES)],
            ms=4,
            marker=MARKERS[place % len(MARKERS)],
            markevery=1 if few else (0.03 * (place + 1), 0.2),
            label=curve["label"] + curve.get("told", ""),
        )
        axes.fill_between(curve["x"], low, high, color=colour, alpha=0.15, lw=0)  # None: a gap
    finish(axes, panel["title"], panel["x_label"], panel["y_label"], panel["log"])
    if note := panel.get("note"):
        below(sheet, LINE)
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
