"""What all plots are drawn with: the sheet, its axes and legend, and the files that it becomes."""

import io
from collections.abc import Mapping, Sequence
from itertools import chain
from math import ceil, log10
from pathlib import Path
from typing import Any

from driftproof.toolkit.report.results_table import csv_of

FLAT = 1e-9
"""A range of numbers that is narrower than this, of their size, has nothing in it to look at."""
LABEL_LETTERS = 400
"""Letters of a title or a label on a plot."""
SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
WIDTH, HEIGHT = 6.4, 3.8
"""Of a sheet, in inches, without its legend."""
LOWER = 1.1
"""Height of a lower plot, in inches."""
BESIDE, LINE = 46, 0.2
"""Letters up to which two entries of a legend stand beside each other; inches of a line of it."""


def canvas() -> tuple[Any, Any]:
    """Return an empty figure of the reports' size, and its axes.

    Margins are fixed: matplotlib's layout engines draw everything several times to find them.
    """
    from matplotlib.figure import Figure as Canvas

    sheet = Canvas(figsize=(WIDTH, HEIGHT))
    sheet.subplots_adjust(left=0.16, right=0.97, bottom=0.14, top=0.885)
    return sheet, sheet.add_subplot()


def two_plots() -> tuple[Any, Any, Any]:
    """Return an empty figure, its axes as ``canvas`` has them, and lower ones over the same x."""
    sheet, axes = canvas()
    tall = _inches(axes)
    sheet.delaxes(axes)
    below(sheet, LOWER)
    sheet.subplots_adjust(bottom=sheet.subplotpars.bottom - LOWER / (HEIGHT + LOWER))
    heights = {"height_ratios": (tall, LOWER), "hspace": 0.1}
    return sheet, *sheet.subplots(2, sharex=True, gridspec_kw=heights)


def finish(axes: Any, title: str, x_label: str, y_label: str, log: str = "") -> None:
    """Label a plot; on a logarithmic axis of several decades only powers of ten have ticks.

    Places are fixed and numbers are plain text: matplotlib would measure every label of every tick
    to find the first, and typeset the second. A legend has what all plots of the sheet label, and
    is below the last one, which is finished last.
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
    axes.xaxis.set_label_coords(0.5, -0.3 / _inches(axes))
    axes.yaxis.set_label_coords(-0.165, 0.5)
    axes.set_title(_as_it_is(title), fontsize=10, wrap=True, y=1.0)
    axes.grid(alpha=0.3)
    if axes is axes.figure.axes[-1]:
        _legend(axes)


def _inches(axes: Any) -> float:
    """Return how high a plot is."""
    return float(axes.get_position().height * axes.figure.get_size_inches()[1])


def _legend(axes: Any) -> None:
    """Put the legend below the plot, where it hides no data; the sheet grows by its lines."""
    every = [plot.get_legend_handles_labels() for plot in axes.figure.axes]
    handles, labels = (list(chain.from_iterable(x)) for x in zip(*every, strict=True))
    if not labels:
        return
    columns = 2 if max(map(len, labels)) <= BESIDE and len(labels) > 1 else 1
    below(axes.figure, LINE * ceil(len(labels) / columns))
    axes.legend(
        handles,
        list(map(_as_it_is, labels)),
        fontsize=8,
        ncols=columns,
        frameon=False,
        loc="upper center",
        bbox_to_anchor=(0.45, -0.4 / _inches(axes)),
    )


def below(sheet: Any, inches: float) -> None:
    """Make room below what is drawn, whose size stays."""
    width, height = sheet.get_size_inches()
    taller, at = height + inches, sheet.subplotpars
    sheet.set_size_inches(width, taller)
    sheet.subplots_adjust(
        bottom=(at.bottom * height + inches) / taller, top=1 - (1 - at.top) * height / taller
    )


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
    for kind in ("svg", "pdf"):
        path.with_name(f"{path.name}.{kind}").write_bytes(rendered(canvas, kind))
    path.with_name(path.name + ".csv").write_text(csv_of(points), encoding="utf-8")


def rendered(canvas: Any, kind: str) -> bytes:
    """Return a figure as the bytes of a file, the same for the same data.

    Args:
        kind: svg, pdf, pgf or png.
    """
    undated = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}
    given = {"metadata": undated[kind]} if kind in undated else {}
    file = io.StringIO() if kind == "pgf" else io.BytesIO()
    with _same_bytes():
        canvas.savefig(file, format=kind, **given)
    made = file.getvalue()
    return made.encode() if isinstance(made, str) else made


def svg(canvas: Any) -> str:
    """Return a figure as the text of an SVG file."""
    return rendered(canvas, "svg").decode()


def _same_bytes() -> Any:
    """Return a context in which the same data give the same file, with letters as letters."""
    import matplotlib as mpl

    return mpl.rc_context({"svg.hashsalt": "driftproof", "svg.fonttype": "none"})
