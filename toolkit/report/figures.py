"""The plots of a report: which rows are drawn, and each as SVG and PDF from the page's own data."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import log10
from pathlib import Path
from typing import Any

from driftproof.toolkit.groups import NOTHING, distance, distances_of, drawable, equated, over_class
from driftproof.toolkit.report.class_lines import lines
from driftproof.toolkit.report.results_table import csv_of
from driftproof.toolkit.verdict import Row, Verdict

NOTHING_HERE = 1e-9
"""Below this a map's number is shown as ≈ 0."""
FLAT = 1e-9
"""A range of numbers that is narrower than this, of their size, has nothing in it to look at."""
DRAWN_COLUMNS = ("x", "mean", "low", "high", "bound", "fit", "reference")
"""What a plot may draw, by the names of its columns."""
LABEL_LETTERS = 400
"""Letters of a title or a label on a plot."""
SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
LABELS = {
    "mean": "measured",
    "band": "95 % band",
    "bound": "right side",
    "fit": "fitted slope",
    "reference": "claimed slope",
}


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
        most: the number that a map shades most.
    """

    name: str
    row: Row
    title: str
    x_label: str
    y_label: str
    log: str
    most: float = 1.0

    def __repr__(self) -> str:
        return f"Figure({self.name}: {self.title})"

    @property
    def map(self) -> Mapping[str, Any] | None:
        """A table of numbers to be drawn instead of curves: axes, columns, rows and cells."""
        grid = self.series.get("map")
        if not grid:
            return None
        columns, rows = (sorted({cell[k] for cell in grid["cells"]}) for k in (0, 1))
        numbers = {(x, y): z for x, y, z in grid["cells"]}
        return {
            "axes": grid["axes"],
            "columns": columns,
            "rows": [(y, [self._shaded(numbers.get((x, y))) for x in columns]) for y in rows[::-1]],
        }

    def _shaded(self, number: float | None) -> tuple[float | None, float]:
        return number, abs(number or 0.0) / self.most

    @property
    def labels(self) -> Mapping[str, str]:
        """What the curves are called."""
        if "labels" in self.series:
            return LABELS | dict(self.series["labels"])
        if equated(self.row):
            return LABELS | {"mean": "distance", "bound": "margin"}
        if "what" in self.series:
            return LABELS | {"mean": "left side", "band": "its certified enclosure"}
        return LABELS | _slopes(self.row)

    @property
    def series(self) -> Mapping[str, Any]:
        """The points: x, and any of mean, low, high, bound, fit, reference."""
        return self.row.series or {}

    @property
    def is_line(self) -> bool:
        """Whether there is a line to look at: one point on an empty grid says what numbers say."""
        return len(self.series.get("x", ())) > 1

    def svg(self) -> str:
        """Return the plot as the text of an SVG file."""
        return svg(_drawn(self)[0])

    _repr_svg_ = svg


def _slopes(row: Row) -> dict[str, str]:
    """Return a rate's slopes with their numbers: the fitted, what the data leave, the claimed."""
    if row.kind != "rate" or row.lhs is None:
        return {}
    fitted, low, high = (row.lhs[key] for key in ("mean", "low", "high"))
    told = f"{LABELS['fit']} {fitted:.3f}".replace("-", "−")
    if low is not None and high is not None:
        told += f", the data leave {low:.3f} to {high:.3f}".replace("-", "−")
    claimed = {"reference": f"{LABELS['reference']} {row.rhs:g}".replace("-", "−")}
    return {"fit": told} | (claimed if row.rhs is not None else {})


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
        )
        for line in lines([row for row in rows if over_class(row)])
    ]
    return along + _of_runs(slug, rows)


def _of_runs(slug: str, rows: Sequence[Row]) -> list[Figure]:
    """Return the plots of what was measured on cases."""
    drawn = [row for row in rows if row.series and row.series.get("x")]
    if not drawn:
        return []
    if _certified(drawn[0]):
        forms: dict[tuple[str, str], list[Row]] = {}
        for row in drawn:
            forms.setdefault((row.form, row.reading), []).append(row)
        # sides that are equal to the last digit, counts say, have nothing to draw
        forms = {form: same for form, same in forms.items() if not _agree(same)}
        merged = [row for row in map(_merged, forms.values()) if row.series and row.series["x"]]
        by_form = [_figure(f"{slug}-{k}", row) for k, row in enumerate(merged, 1)]
        return by_form + (_maps(f"{slug}-map", next(iter(forms.values()))) if forms else [])
    refuted = [row for row in drawn if row.verdict is Verdict.REFUTED]
    strongest = sorted(refuted[1:], key=lambda row: -(row.ratio or 0.0))
    supported = [row for row in drawn if row.verdict is Verdict.SUPPORTED]
    solid = [row for row in supported if not row.vacuous] or supported
    tightest = sorted(solid, key=lambda row: -(row.ratio or 0.0))
    # the first refutation is the smallest; another is worth a plot if it is a stronger one
    stronger = [row for row in strongest[:1] if (row.ratio or 0) > 1.01 * (refuted[0].ratio or 0)]
    chosen = (refuted[:1] + stronger + tightest[:1]) or drawn[:1]
    return [_figure(f"{slug}-{k}", row) for k, row in enumerate(chosen, 1)]


def _maps(name: str, rows: Sequence[Row]) -> list[Figure]:
    """Return the maps that one form's cases have."""
    mapped = [row for row in rows if (row.series or {}).get("map")]
    most = max(
        (abs(z) for row in mapped for *_, z in (row.series or {})["map"]["cells"]), default=1
    )
    return [
        Figure(
            f"{name}-{k}",
            replace(row, instance={}),
            (row.series or {})["map"]["axes"][2],
            "",
            "",
            "",
            most or 1.0,
        )
        for k, row in enumerate(mapped, 1)
    ]


def _certified(row: Row) -> bool:
    """Say whether a row's points are comparisons of certified numbers, not moments of a run."""
    return row.kind == "identity" or "what" in (row.series or {})


def _agree(rows: Sequence[Row]) -> bool:
    """Say whether the rows equate numbers that are the same."""
    return equated(rows[0]) and max(map(distance, rows)) <= NOTHING


def _merged(rows: Sequence[Row]) -> Row:
    """Return one row that stands for all comparisons of one form."""
    series = _distances(rows) if equated(rows[0]) else _sides(rows)
    label = f"comparisons: {len(series['x'])}, cases: {len(rows)}"
    shown = next((row for row in rows if row.verdict is Verdict.REFUTED), rows[0])
    return replace(shown, series=series, case={"label": label}, instance={})


def _distances(rows: Sequence[Row]) -> dict[str, Any]:
    """Return how far each certified enclosure reaches from the right side, in ascending order."""
    reach = sorted(d for row in rows for d in distances_of(row) if drawable(d))
    margin = rows[0].margin
    return {"x": list(range(1, len(reach) + 1)), "mean": reach, "bound": [margin] * len(reach)}


def _sides(rows: Sequence[Row]) -> dict[str, Any]:
    """Return the two sides of every comparison of a bound, in ascending order of their ratio."""
    keys = ("low", "high", "bound", "what")
    points = [
        point
        for row in rows
        for point in zip(*((row.series or {})[key] for key in keys), strict=True)
        if all(map(drawable, point[:3]))
    ]
    points.sort(key=lambda p: p[0] / max(abs(p[2]), NOTHING))
    columns: dict[str, Any] = {key: [p[k] for p in points] for k, key in enumerate(keys)}
    return columns | {"x": list(range(1, len(points) + 1)), "mean": columns["low"]}


def _figure(name: str, row: Row) -> Figure:
    series = row.series or {}
    what = f"{row.claim}, {row.form}" + (f" ({row.reading})" if row.reading else "")
    title = f"{what}: {row.verdict}"
    if row.kind == "rate":
        return Figure(name, row, title, series.get("x_label", "T, local steps"), "left side", "xy")
    if row.kind == "identity" or (row.kind != "bound" and set(series) == {"x", "mean", "bound"}):
        title = f"{title}, certified distance between the two sides"
        return Figure(
            name, row, title, "comparison, in order of distance", "relative distance", "y"
        )
    if "what" in series:
        sides = [*series["low"], *series["bound"]]
        wide = min(sides) > 0 and max(sides) > 100 * min(sides)
        x_label = "comparison, in order of left over right"
        return Figure(name, row, title, x_label, "both sides", "y" if wide else "")
    running = series.get("how", [""])[0] == "average"  # over rounds, or over steps
    y_label = "both sides after that many steps" if running else "both sides"
    return Figure(name, row, title, "local steps", y_label, "xy" if running else "")


def draw(figure: Figure, folder: Path) -> None:
    """Write a plot as SVG and PDF, and its data as CSV."""
    sheet, points = _drawn(figure)
    save(sheet, folder / figure.name, points)


def _drawn(figure: Figure) -> tuple[Any, Mapping[str, Sequence[Any]]]:
    """Return a plot, drawn, and the columns of its data."""
    if figure.map is not None:
        return _drawn_map(figure)
    sheet, axes = canvas()
    s, x = figure.series, figure.series["x"]
    point = "o" if len(x) < 12 else ""
    if "low" in s:
        axes.fill_between(
            x, s["low"], s["high"], color="C0", alpha=0.2, lw=0, label=figure.labels["band"]
        )
    for key, look in LOOKS.items():
        if key in s:
            # one comparison makes no line, and of worst cases each point is a case
            marker = point if key == "mean" or "what" in s or "labels" in s else ""
            axes.plot(x, s[key], marker=marker, ms=4, label=figure.labels[key], **look)
    finish(axes, figure.title, figure.x_label, figure.y_label, figure.log)
    if "x" not in figure.log and all(float(value).is_integer() for value in x):
        from matplotlib.ticker import MaxNLocator

        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    if point and "labels" in s:
        axes.set_xticks(x, [f"{value:g}" for value in x])
        axes.set_xticks([], minor=True)
    return sheet, {key: s[key] for key in DRAWN_COLUMNS if key in s}


def cell(number: float) -> str:
    """Return a map's number: three digits, and rounding errors of a limit as ≈ 0.

    >>> cell(0.123456), cell(-2e-13)
    ('0.123', '≈ 0')
    """
    return "≈ 0" if abs(number) < NOTHING_HERE else f"{number:.3g}"


def _drawn_map(figure: Figure) -> tuple[Any, Mapping[str, Sequence[Any]]]:
    """Return a map, a number and a shade in each cell, and its cells as columns."""
    grid = figure.map
    assert grid is not None
    sheet, axes = canvas()
    shades = [[share for _, share in cells] for _, cells in grid["rows"]]
    axes.imshow(shades, cmap="Oranges", vmin=0, vmax=1.4, aspect="auto")
    for i, (_, cells) in enumerate(grid["rows"]):
        for j, (number, _) in enumerate(cells):
            if number is not None:
                axes.text(j, i, cell(number), ha="center", va="center", fontsize=7)
    axes.set_xticks(range(len(grid["columns"])), [f"{x:g}" for x in grid["columns"]])
    axes.set_yticks(range(len(grid["rows"])), [f"{y:.3g}" for y, _ in grid["rows"]])
    axes.set_xlabel(grid["axes"][0])
    axes.set_ylabel(grid["axes"][1])
    label = str(figure.row.case.get("label", ""))
    axes.set_title(_as_it_is(f"{figure.title}\n{label}"), fontsize=8, wrap=True)
    cells = zip(*figure.series["map"]["cells"], strict=True)
    return sheet, dict(zip(("x", "y", "value"), cells, strict=True))


def canvas() -> tuple[Any, Any]:
    """Return an empty figure of the reports' size, and its axes.

    Margins are fixed: matplotlib's layout engines draw everything several times to find them.
    """
    from matplotlib.figure import Figure as Canvas

    sheet = Canvas(figsize=(6.4, 3.8))
    sheet.subplots_adjust(left=0.16, right=0.97, bottom=0.14, top=0.885)
    return sheet, sheet.add_subplot()


def finish(axes: Any, title: str, x_label: str, y_label: str, log: str = "") -> None:
    """Label a plot; on a logarithmic axis of several decades only powers of ten have ticks.

    Places are fixed and numbers are plain text: matplotlib would measure every label of every tick
    to find the first, and typeset the second.
    """
    from matplotlib.ticker import FuncFormatter, NullLocator

    for name, axis, limits in (("x", axes.xaxis, axes.get_xlim), ("y", axes.yaxis, axes.get_ylim)):
        if name in log:
            getattr(axes, f"set_{name}scale")("log")
            low, high = limits()
            if low > 0 and high > 30 * low:
                axis.set_major_formatter(FuncFormatter(power_of_ten))
                axis.set_minor_locator(NullLocator())
            else:
                axis.set_minor_formatter(_plain_numbers())
                axis.set_major_formatter(_plain_numbers())
        else:
            low, high = limits()
            size = max(abs(low), abs(high))
            if high - low < FLAT * size:  # two sides that are equal, but for rounding
                getattr(axes, f"set_{name}lim")(low - size / 10, high + size / 10)
    axes.set_xlabel(_as_it_is(x_label))
    axes.set_ylabel(_as_it_is(y_label))
    axes.xaxis.set_label_coords(0.5, -0.105)
    axes.yaxis.set_label_coords(-0.165, 0.5)
    axes.set_title(_as_it_is(title), fontsize=10, wrap=True, y=1.0)
    axes.grid(alpha=0.3)
    handles, labels = axes.get_legend_handles_labels()
    axes.legend(handles, list(map(_as_it_is, labels)), fontsize=8)


def _as_it_is(text: str) -> str:
    r"""Return a text that matplotlib draws letter by letter: dollar signs would be a formula.

    It is cut where it is longer than a plot is wide many times: 100,000 letters took two minutes.

    >>> _as_it_is("1 $"), len(_as_it_is("x" * 100_000))
    ('1 \\$', 400)
    """
    text = text if len(text) <= LABEL_LETTERS else f"{text[: LABEL_LETTERS - 1]}…"
    return text.replace("$", r"\$")


def _plain_numbers() -> Any:
    """Return matplotlib's choice of the ticks that have numbers, with the numbers as they are."""
    from matplotlib.ticker import LogFormatter

    class Plain(LogFormatter):
        def __call__(self, value: float, place: int | None = None) -> str:
            return f"{value:g}" if super().__call__(value, place) else ""

    return Plain()


def power_of_ten(value: float, place: int | None = None) -> str:
    """Return 10ᵏ in plain letters, which need no typesetting.

    >>> power_of_ten(1e-12), power_of_ten(1.0)
    ('10⁻¹²', '10⁰')
    """
    return "10" + f"{round(log10(value)):d}".translate(SUPERSCRIPTS)


def save(canvas: Any, path: Path, points: Mapping[str, Sequence[Any]]) -> None:
    """Write a figure as SVG and PDF, and what it draws as CSV: the same bytes for the same data."""
    with _same_bytes():
        canvas.savefig(path.with_name(path.name + ".svg"), metadata={"Date": None})
        canvas.savefig(path.with_name(path.name + ".pdf"), metadata={"CreationDate": None})
    path.with_name(path.name + ".csv").write_text(csv_of(points), encoding="utf-8")


def svg(canvas: Any) -> str:
    """Return a figure as the text of an SVG file."""
    text = io.StringIO()
    with _same_bytes():
        canvas.savefig(text, format="svg", metadata={"Date": None})
    return text.getvalue()


def _same_bytes() -> Any:
    """Return a context in which the same data give the same file, with letters as letters."""
    import matplotlib as mpl

    return mpl.rc_context({"svg.hashsalt": "driftproof", "svg.fonttype": "none"})
