"""The plot of both sides over all cases: a point above the diagonal has the left side larger."""

from collections.abc import Sequence
from math import isfinite
from typing import Any

from driftproof.toolkit.report.canvas import canvas, finish
from driftproof.toolkit.verdict import Row, Verdict

FEWEST = 3
"""Fewer cases than that have plots of their own."""
LOOKS = {
    Verdict.SUPPORTED: ("C2", "o"),
    Verdict.REFUTED: ("C3", "X"),
    Verdict.INCONCLUSIVE: ("C1", "s"),
}
"""A colour and a marker for each verdict that a case with both sides may have."""


def sides(rows: Sequence[Row]) -> Any | None:
    """Return the plot of one claim's bounds, drawn, or None if too few cases have two sides.

    The axes are logarithmic. A side that is 0 has no place on them, and its case is left out.
    """
    points = [
        (row.rhs, row.lhs["mean"], row.verdict)
        for row in rows
        if row.kind == "bound" and row.verdict in LOOKS and row.lhs and row.rhs is not None
    ]
    shown = [(x, y, v) for x, y, v in points if y and min(x, y) > 0 and isfinite(x) and isfinite(y)]
    if len(shown) < FEWEST:
        return None
    sheet, axes = canvas()
    ends = [bound(side for x, y, _ in shown for side in (x, y)) for bound in (min, max)]
    ends = [ends[0] / 1.5, ends[1] * 1.5]
    axes.plot(ends, ends, color="C7", ls=":", label="left = right")
    for verdict, (colour, marker) in LOOKS.items():
        of_verdict = [(x, y) for x, y, v in shown if v is verdict]
        if of_verdict:
            axes.scatter(
                *zip(*of_verdict, strict=True),
                s=40,
                c=colour,
                marker=marker,
                alpha=0.6,
                lw=0,
                label=f"{verdict}: {len(of_verdict)}",
            )
    title = f"{rows[0].claim}, all forms: both sides on each case"
    finish(axes, title, "right side", "left side", "xy")
    return sheet
