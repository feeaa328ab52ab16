"""One plot by its name: of a claim, which is judged for it, or of an experiment, which is run."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from driftproof.toolkit.discover import leaves
from driftproof.toolkit.errors import DriftproofError, MissingError, unknown_name
from driftproof.toolkit.report import panels
from driftproof.toolkit.report.canvas import rendered
from driftproof.toolkit.report.figures import Figure, headline
from driftproof.toolkit.report.results_table import csv_of
from driftproof.toolkit.verdict import Row
from driftproof.verifiers.experiment import Plan, run_experiment
from driftproof.verifiers.running.jobs import loaded
from driftproof.verifiers.verify import Settings, judge, select

KINDS = ("svg", "pdf", "pgf", "png")
"""What a plot is written as, by the ending of its file."""
ROUNDS = "rounds"
Drawn = tuple[str, Any, Mapping[str, Sequence[Any]]]
"""A title, a sheet of matplotlib's, and the columns of its data."""


def of_claim(
    claim: str, *, case: int | None = None, form: str = "*", x: str = "", profile: str = "quick"
) -> dict[str, Figure]:
    """Return a claim's plots by what ends their names.

    Args:
        claim: as the command takes it.
        case: the number of the one case to judge, from 1 on; None: all.
        form: a glob of the form to draw, as tables name it.
        x: below a bound's plot, "rounds" in place of local steps, or a letter: both sides of each
            case over what the letter is there. "": what the report has.

    Raises:
        DriftproofError: several claims, a case or a form that there is not, or an x that does not
            vary.
    """
    sources = select([claim])
    if len(sources) > 1:
        names = ", ".join(source.name for source in sources[:5])
        raise DriftproofError(f"plots of {len(sources)} claims", "one", f"name one of {names}")
    chosen = loaded(sources[0])
    if case is not None:
        cases = chosen.cases_for(profile) or chosen.judged_on
        if not 1 <= case <= len(cases):
            raise DriftproofError(
                f"--case {case} of {chosen.name}, which has {len(cases)}", f"1 to {len(cases)}",
                "driftproof show lists the cases",
            )  # fmt: skip
        chosen = chosen.on(cases[case - 1])
    whole = chosen if case is not None else sources[0]
    made = judge([whole], Settings(profile=profile))
    rows = [row for row in made if row.form != "sibling" and fnmatchcase(row.form_key, form)]
    if not rows:
        keys = dict.fromkeys(row.form_key for row in made if row.form != "sibling")
        raise unknown_name(f"form of {chosen.name}", form, keys)
    slug = chosen.name.replace("/", "-")
    figures = [_along(rows, x)] if x and x != ROUNDS else headline(rows)
    if x == ROUNDS:
        figures = [_by_rounds(figure) for figure in figures]
    return {figure.name.removeprefix(f"{slug}-"): figure for figure in figures if figure.is_line}


def drawn(name: str, which: str = "", **options: Any) -> Drawn:
    """Return one plot, drawn.

    Args:
        name: a claim, or an experiment where ``which`` names one of its panels.
        which: what ends the plot's name ("": the first).
        options: of ``of_claim``.
    """
    leaf = leaves("experiment").get(name)
    if leaf is not None and not options and not which[:1].isdigit():
        with TemporaryDirectory() as folder:
            run_experiment(leaf.load(), Plan(), Path(folder), typed=name)
            text = (Path(folder) / "experiment.json").read_text(encoding="utf-8")
        known = {panel["name"]: panel for panel in json.loads(text)["panels"]}
        if which in known:
            panel = known[which]
            colours = panels.colours_of(known.values())
            return panel["title"], panels.drawn(panel, colours), panels.points(panel)
    plots = of_claim(name, **options)
    if not plots or (which and which not in plots):
        raise unknown_name(f"plot of {name}", which or "first", plots)
    figure = plots[which] if which else next(iter(plots.values()))
    return figure.title, *figure.drawn()


def write(made: Drawn, out: Path, *, title: bool = True) -> Path:
    """Write a plot, and its data as CSV beside it; return the CSV's path.

    Matplotlib's own settings apply (a matplotlibrc in the folder, say).

    Raises:
        DriftproofError: the file's ending is none of KINDS.
        MissingError: PGF is asked for where there is no LaTeX.
    """
    _, sheet, points = made
    kind = out.suffix.removeprefix(".")
    if kind not in KINDS:
        raise DriftproofError(
            f"--out {out}", f"a file that ends in {', '.join(KINDS)}", f"--out {out.stem}.pdf, say"
        )
    if not title:
        for axes in sheet.axes:
            axes.set_title("")
    out.parent.mkdir(parents=True, exist_ok=True)
    try:
        out.write_bytes(rendered(sheet, kind))
    except (FileNotFoundError, RuntimeError) as error:
        if kind != "pgf":
            raise
        raise MissingError(
            f"--out {out}: {error}", "LaTeX, with which PGF measures its text",
            "install xelatex, or write a pdf",
        ) from error  # fmt: skip
    beside = out.with_suffix(".csv")
    beside.write_text(csv_of(points), encoding="utf-8")
    return beside


def _by_rounds(figure: Figure) -> Figure:
    """Return a plot over local steps with rounds below it."""
    steps = (figure.row.case.get("algorithm") or {}).get("local_steps", 1)
    if figure.x_label != "local steps":
        raise DriftproofError(
            f"--x rounds of a plot over “{figure.x_label}”", "a bound on a run", "leave out --x"
        )
    series = {**figure.series, "x": [x / steps for x in figure.series["x"]]}
    return replace(figure, row=replace(figure.row, series=series), x_label="rounds")


def _along(rows: Sequence[Row], letter: str) -> Figure:
    """Return both sides of each case of the first form over a letter."""
    own = [row for row in rows if row.form_key == rows[0].form_key and row.lhs and row.rhs]
    values = {row.identity: row.instance.get(letter) for row in own}
    if len({value for value in values.values() if value is not None}) < 2:
        vary = sorted(
            name for name in {n for row in own for n in row.instance}
            if len({row.instance.get(name) for row in own}) > 1
        )  # fmt: skip
        raise unknown_name(f"letter that varies over the cases of {rows[0].claim}", letter, vary)
    own.sort(key=lambda row: float(row.instance[letter]))
    series = {
        "x": [float(row.instance[letter]) for row in own],
        "mean": [(row.lhs or {})["mean"] for row in own],
        "bound": [row.rhs for row in own],
    }
    slug = rows[0].claim.replace("/", "-")
    title = f"{rows[0].claim}, {rows[0].form_key}: a point a case"
    row = replace(own[0], series=series, case={"label": ""})
    return Figure(f"{slug}-{letter}", row, title, letter, "both sides", "xy")
