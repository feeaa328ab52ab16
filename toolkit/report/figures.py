"""The plots of a report: which rows are drawn, and each as SVG and PDF from the page's own data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import log, sqrt
from pathlib import Path
from typing import Any

from driftproof.toolkit.groups import (
    NOTHING,
    clearest,
    distance,
    distances_of,
    drawable,
    equated,
    over_class,
)
from driftproof.toolkit.report import panels as panels_of
from driftproof.toolkit.report.canvas import canvas, finish, save, svg, two_plots
from driftproof.toolkit.report.class_lines import lines
from driftproof.toolkit.report.plain_math import short_math
from driftproof.toolkit.series import Compared, Curve, Points, Slope
from driftproof.toolkit.verdict import Row, Verdict

LABELS = {
    "mean": "measured",
    "band": "95 % band",
    "bound": "right side",
    "fit": "fitted slope",
    "reference": "claimed slope",
}


EXACT = 1e-6
"""A band that is narrower than this, of its mean, is what rounding leaves of an exact number."""
FLATTEST = 0.03
"""A lower plot shows at least this share of its mean up and down, so that flat looks flat."""
SCALED = "-scaled"
"""Ends the name of a lower plot."""
SLOPES = 9
"""Local slopes that are written beside each other."""
LOOKS: Mapping[str, Mapping[str, Any]] = {
    "bound": {"color": "C3", "ls": "-", "lw": 4.5},
    "mean": {"color": "C0", "ls": "-"},
    "fit": {"color": "C2", "ls": "--"},
    "reference": {"color": "C7", "ls": ":"},
}
"""How curves are drawn, in this order: the right side is wide and below, so that it is seen where
the left side runs along it."""


@dataclass(frozen=True, repr=False)
class Figure:
    """One plot.

    Attributes:
        name: file name without ending.
        row: the row that is drawn.
        title, x_label, y_label: what stands on it.
        log: which axes are logarithmic, "", "y" or "xy".
        points: its columns.
        named: what its curves are called, where not as in ``LABELS``.
        order: the exponents of x and of log x that a rate claims (None: it is no rate's).
        apart: whether each point is a case of its own: every one is marked.
        panel: curves of several cases, to be drawn instead of the points.
    """

    name: str
    row: Row
    title: str
    x_label: str
    y_label: str
    log: str
    points: Points = field(default_factory=Points)
    named: Mapping[str, str] = field(default_factory=dict)
    order: Sequence[float] | None = None
    apart: bool = False
    panel: Mapping[str, Any] | None = None

    def __repr__(self) -> str:
        return f"Figure({self.name}: {self.title})"

    @property
    def labels(self) -> Mapping[str, str]:
        """What the curves are called."""
        return {**LABELS, **self.named}

    @property
    def lower(self) -> Figure | None:
        """Below a rate's plot: the left side over the claimed order, flat if that is right."""
        if self.order is None or (self.order[1] and min(self.points.x) <= 1):  # log 1 is 0
            return None
        exponent, logs = self.order
        size = self.x_label.split(",")[0]
        over = [x**exponent * log(x) ** logs for x in self.points.x]
        mean, low, high = (
            [y / by for y, by in zip(column, over, strict=True)]
            for column in (self.points.mean, self.points.low, self.points.high)
        )
        size = size if len(size) == 1 else f"({size})"
        power = {-0.5: f"√{size}", -1: size}.get(exponent, f"{size}^{-exponent:g}")
        label = "left ÷ order" if logs or not exponent else f"left · {power}"
        return Figure(
            self.name + SCALED,
            self.row,
            f"{label}: flat if the order is right",
            self.x_label,
            label,
            "x",
            Points(self.points.x, mean, low, high),
            {"mean": label, "band": self.labels["band"]},
        )

    @property
    def is_lower(self) -> bool:
        """Whether it stands below another plot, whose legend serves both."""
        return self.name.endswith(SCALED)

    @property
    def is_line(self) -> bool:
        """Whether there is a line to look at: one point on an empty grid says what numbers say."""
        return self.panel is not None or len(self.points.x) > 1

    def svg(self) -> str:
        """Return the plot as the text of an SVG file."""
        return svg(self.drawn()[0])

    def drawn(self) -> tuple[Any, Mapping[str, Sequence[Any]]]:
        """Return the plot, drawn, and the columns of its data."""
        return _drawn(self)

    _repr_svg_ = svg


def _slopes(row: Row, series: Slope) -> dict[str, str]:
    """Return a rate's curves with their numbers: how wide the band is, fitted and claimed slope."""
    left = row.lhs or {}
    fitted, low, high = (left[key] for key in ("mean", "low", "high"))
    ends = zip(series.low, series.mean, series.high, strict=True)
    wide = max((high - low) / 2 / mean for low, mean, high in ends)
    told = f"{LABELS['fit']} {fitted:.3f}"
    if low is not None and high is not None:
        told += f", the data leave {low:.3f} to {high:.3f}"
    named = {
        "mean": "measured mean" if wide > EXACT else "exact mean",
        "band": f"95 % band, at most ±{100 * wide:.2g} %"
        if wide > EXACT
        else "its enclosure, narrower than the line",
        "fit": told,
        "reference": f"{LABELS['reference']} {row.rhs:g}",
    }
    return {key: text.replace("-", "−") for key, text in named.items()}


def headline(rows: Sequence[Row]) -> list[Figure]:
    """Return the plots of one claim: its smallest and strongest refutation, its tightest support.

    Each form of what is judged by certified numbers has one plot of all its comparisons. Worst
    cases over classes are drawn along the letters in which they differ.
    """
    slug = rows[0].claim.replace("/", "-")
    along = [
        Figure(
            name=f"{slug}-{line.letter}".replace("/", "-"),
            row=line.row,
            title=f"{rows[0].claim}: {line.title}",
            x_label=line.x_label,
            y_label="both sides",
            log=line.log,
            points=line.points,
            named=line.labels,
            apart=True,
        )
        for line in lines([row for row in rows if over_class(row)])
    ]
    return along + _of_runs(slug, rows)


def _of_runs(slug: str, rows: Sequence[Row]) -> list[Figure]:
    """Return the plots of what was measured on cases."""
    drawn = [row for row in rows if isinstance(row.series, Points) and row.series.x]
    if not drawn:
        return []
    if _certified(drawn[0]):
        forms: dict[tuple[str, str], list[Row]] = {}
        for row in drawn:
            forms.setdefault((row.form, row.reading), []).append(row)
        # sides that are equal to the last digit, counts say, have nothing to draw
        forms = {form: same for form, same in forms.items() if not _agree(same)}
        merged = [figure for figure in map(_merged, forms.values()) if figure.points.x]
        by_form = [replace(one, name=f"{slug}-{k}") for k, one in enumerate(merged, 1)]
        return _panels(slug, drawn) + by_form
    refuted = clearest(row for row in drawn if row.verdict is Verdict.REFUTED)
    strongest = sorted(refuted[1:], key=lambda row: -(row.ratio or 0.0))
    supported = [row for row in drawn if row.verdict is Verdict.SUPPORTED]
    solid = [row for row in supported if not row.vacuous] or supported
    tightest = sorted(solid, key=lambda row: -(row.ratio or 0.0))
    # the first refutation is the clearest; another is worth a plot if it is a stronger one
    stronger = [row for row in strongest[:1] if (row.ratio or 0) > 1.01 * (refuted[0].ratio or 0)]
    chosen = (refuted[:1] + stronger + tightest[:1]) or drawn[:1]
    return [_figure(f"{slug}-{k}", row) for k, row in enumerate(chosen, 1)]


def _panels(slug: str, rows: Sequence[Row]) -> list[Figure]:
    """Return the panels that rows have: of equal names, all their curves are on one plot."""
    made: dict[str, dict[str, Any]] = {}
    for row in rows:
        for panel in row.series.panels if isinstance(row.series, Compared) else ():
            known = made.setdefault(panel["name"], {**panel, "curves": []})
            labels = {curve["label"] for curve in known["curves"]}  # several forms have one case
            known["curves"] += [curve for curve in panel["curves"] if curve["label"] not in labels]
    shown = replace(rows[0], lhs=None, instance={}, case={})
    return [
        Figure(
            f"{slug}-{name}",
            shown,
            panel["title"],
            panel["x_label"],
            panel["y_label"],
            panel["log"],
            panel=panel,
        )
        for name, panel in made.items()
    ]


def _certified(row: Row) -> bool:
    """Say whether a row's points are comparisons of certified numbers, not moments of a run."""
    return row.kind == "identity" or isinstance(row.series, Compared)


def _agree(rows: Sequence[Row]) -> bool:
    """Say whether the rows equate numbers that are the same."""
    return equated(rows[0]) and max(map(distance, rows)) <= NOTHING


def _merged(rows: Sequence[Row]) -> Figure:
    """Return one plot, without its name, of all comparisons of one form."""
    shown = next((row for row in rows if row.verdict is Verdict.REFUTED), rows[0])
    points = _distances(rows) if equated(shown) else _sides(rows)
    label = f"comparisons: {len(points.x)}, cases: {len(rows)}"
    row = replace(shown, case={"label": label}, instance={})
    if equated(shown):
        return Figure(
            "",
            row,
            f"{_title(row)}, certified distance between the two sides",
            "comparison, in order of distance",
            "relative distance",
            "y",
            points,
            {"mean": "distance", "bound": "margin"},
        )
    sides = [*points.low, *points.bound]
    wide = bool(sides) and min(sides) > 0 and max(sides) > 100 * min(sides)
    return Figure(
        "",
        row,
        _title(row),
        "comparison, in order of left over right",
        "both sides",
        "y" if wide else "",
        points,
        {"mean": "left side", "band": "its certified enclosure"},
        apart=True,
    )


def _distances(rows: Sequence[Row]) -> Points:
    """Return how far each certified enclosure reaches from the right side, in ascending order."""
    reach = sorted(d for row in rows for d in distances_of(row) if drawable(d))
    return Points(list(range(1, len(reach) + 1)), reach, bound=[rows[0].margin] * len(reach))


def _sides(rows: Sequence[Row]) -> Points:
    """Return the two sides of every comparison of a bound, in ascending order of their ratio."""
    points = [
        point
        for row in rows
        if isinstance(of := row.series, Compared)
        for point in zip(of.low, of.high, of.bound, strict=True)
        if all(map(drawable, point))
    ]
    points.sort(key=lambda p: p[0] / max(abs(p[2]), NOTHING))
    low, high, bound = ([p[k] for p in points] for k in range(3))
    return Points(list(range(1, len(points) + 1)), low, low, high, bound)


def _title(row: Row) -> str:
    what = f"{row.claim}, {row.form}" + (f" ({row.reading})" if row.reading else "")
    return f"{what}: {row.verdict}"


def _figure(name: str, row: Row) -> Figure:
    """Return the plot of a rate over horizons, or of both sides along a run."""
    series = row.series
    if isinstance(series, Slope):
        left = short_math(series.left) or "left side"
        x_label = series.size or "T, local steps"
        return Figure(
            name, row, _title(row), x_label, left, "xy", series, _slopes(row, series), series.order
        )
    assert isinstance(series, Curve)
    running = series.how[:1] == ["average"]  # over rounds, or over steps
    y_label = "both sides after that many steps" if running else "both sides"
    log = "xy" if running else ""
    return Figure(name, row, _title(row), "local steps", y_label, log, series)


def draw(figure: Figure, folder: Path) -> None:
    """Write a plot as SVG and PDF, and its data as CSV."""
    sheet, points = _drawn(figure)
    save(sheet, folder / figure.name, points)


def _drawn(figure: Figure) -> tuple[Any, Mapping[str, Sequence[Any]]]:
    """Return a plot, drawn, and the columns of its data."""
    if figure.panel is not None:
        return panels_of.drawn(figure.panel), panels_of.points(figure.panel)
    x, data = figure.points.x, figure.points.columns
    if (lower := figure.lower) is not None:
        sheet, axes, under = two_plots()
        _curves(axes, figure)
        finish(axes, figure.title, "", figure.y_label, figure.log)
        _curves(under, lower)
        _local_slopes(under, x, figure.points.mean)
        finish(under, "", lower.x_label, lower.y_label, lower.log)
        return sheet, data | {"scaled": lower.points.mean}
    sheet, axes = canvas()
    point = _curves(axes, figure)
    finish(axes, figure.title, figure.x_label, figure.y_label, figure.log)
    if "x" not in figure.log and all(float(value).is_integer() for value in x):
        from matplotlib.ticker import MaxNLocator

        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    if point and figure.apart:
        axes.set_xticks(x, [f"{value:g}" for value in x])
        axes.set_xticks([], minor=True)
    return sheet, data


def _curves(axes: Any, figure: Figure) -> str:
    """Draw the band and the curves of a plot, and return the mark that its points have."""
    s, x = figure.points.columns, figure.points.x
    point = "o" if len(x) < 12 else ""
    named = dict.fromkeys(figure.labels) if figure.is_lower else figure.labels
    if "low" in s:
        axes.fill_between(x, s["low"], s["high"], color="C0", alpha=0.35, lw=0, label=named["band"])
    for key, look in LOOKS.items():
        if key in s:
            # one comparison makes no line, and of worst cases each point is a case
            marker = point if key == "mean" or figure.apart else ""
            axes.plot(x, s[key], marker=marker, ms=4, label=named[key], **look)
    return point


def _local_slopes(axes: Any, x: Sequence[float], y: Sequence[float]) -> None:
    """Write the slope of each octave, or where they are many of longer steps, above its middle."""
    step = max(2.0, (x[-1] / x[0]) ** (1 / SLOPES))
    low, high = axes.get_ylim()
    middle, half = (low + high) / 2, max((high - low) / 2, FLATTEST * (low + high) / 2)
    axes.set_ylim(middle - 1.1 * half, middle + 1.6 * half)  # the slopes stand above the curve
    last = 0
    for k in range(1, len(x)):
        if x[k] >= step * x[last]:
            slope = log(y[k] / y[last]) / log(x[k] / x[last])
            axes.text(
                sqrt(x[k] * x[last]),
                0.95,
                f"{slope:.2f}".replace("-", "−"),
                fontsize=7,
                color="0.35",
                ha="center",
                va="top",
                transform=axes.get_xaxis_transform(),
            )
            last = k
    axes.plot([], [], " ", label="numbers: local slopes")
