"""One plot by its name: of a claim, which is judged for it, or of an experiment, which is run."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from driftproof.toolkit.discover import leaves, text_of
from driftproof.toolkit.errors import DriftproofError, MissingError, unknown_name
from driftproof.toolkit.groups import clearest
from driftproof.toolkit.report import panels
from driftproof.toolkit.report.canvas import below, rendered
from driftproof.toolkit.report.class_lines import LETTERS, longest
from driftproof.toolkit.report.figures import Figure, headline
from driftproof.toolkit.report.results_table import csv_of
from driftproof.toolkit.series import Curve, Points, Recurrence
from driftproof.toolkit.verdict import Row, Verdict, together
from driftproof.verifiers.claim_types.sources import Source, loaded
from driftproof.verifiers.experiment import Plan, run_experiment
from driftproof.verifiers.verify import Settings, judge, select
from driftproof.verifiers.worst_case.check import RefusedCertificateError
from driftproof.verifiers.worst_case.checking import UNREADABLE
from driftproof.verifiers.worst_case.pictured import LINE, picture, remark
from driftproof.verifiers.worst_case.spiral import spiral

KINDS = ("svg", "pdf", "pgf", "png")
"""What a plot is written as, by the ending of its file."""
POINTS = 12
"""Numbers of rounds at which a case is judged where it is measured once."""
Judged = dict[tuple[str, int | None, str], list[Row]]
"""Rows by claim, case and profile."""
Drawn = tuple[str, Any, Mapping[str, Sequence[Any]]]
"""A title, a sheet of matplotlib's, and the columns of its data."""


def of_claim(
    claim: str,
    *,
    case: int | None = None,
    form: str = "*",
    x: str = "",
    profile: str = "quick",
    judged_before: Judged | None = None,
) -> dict[str, Figure]:
    """Return a claim's plots by what ends their names.

    Args:
        claim: as the command takes it.
        case: the number of the one case to judge, from 1 on; None: all.
        form: a glob of the form to draw, as tables name it.
        x: below a bound's plot, "rounds" in place of local steps, or a letter: both sides of each
            case over what the letter is there. "": what the report has; or if every case is
            measured once, both sides over each letter that varies, the longest line first.
        judged_before: rows that are not judged again; those that are judged are put there.

    Raises:
        DriftproofError: several claims, a case or a form that there is not, or an x that does not
            vary.
    """
    one, *others = select([claim])
    chosen, source = loaded(one), one
    typed = one.typed if one.module else f"{one.typed}::{one.name}"
    if others or (case is not None and not 1 <= case <= len(chosen.judged_on)):
        raise DriftproofError(
            f"plots of {len(others) + 1} claims" if others else f"case {case} of {one.name}",
            "one claim" if others else f"1 to {len(chosen.judged_on)}",
            f"driftproof plot {typed}; driftproof show {typed} has its cases",
        )
    judged: Source = source if case is None else chosen.on(chosen.judged_on[case - 1])
    judged_before = {} if judged_before is None else judged_before
    key = one.name, case, profile
    if key not in judged_before:
        judged_before[key] = judge([judged], Settings(profile=profile))
    made = [row for row in judged_before[key] if row.form != "sibling"]
    rows = [row for row in made if fnmatchcase(row.form_key, form)]
    if not rows:
        raise unknown_name(f"form of {one.name}", form, {row.form_key for row in made})
    figures = headline(rows) if x in ("", "rounds") else [_along(rows, x)]
    if not x and not any(figure.is_line for figure in figures):
        figures = [_along(rows, letter) for letter in _varying(rows)]
        refuted = clearest(row for row in _two_sided(rows) if row.verdict is Verdict.REFUTED)
        showing = [figure for figure in figures if figure.row.verdict is Verdict.REFUTED]
        keys = {of.key: number for number, of in enumerate(chosen.judged_on, 1)}
        number = keys.get(str(refuted[0].case.get("key"))) if refuted else None
        shorter = None if showing or (figures and not refuted) else _shorter(chosen, case or number)
        if shorter:
            made = judge([shorter], Settings(profile=profile))
            rows = [
                row for row in made if row.form != "sibling" and fnmatchcase(row.form_key, form)
            ]
            showing = [_along(rows, letter) for letter in _varying(rows)]
        named = {figure.name for figure in showing}
        figures = [*showing, *(figure for figure in figures if figure.name not in named)]
    if x == "rounds":
        figures = [_by_rounds(figure) for figure in figures if figure.x_label == "local steps"]
    if case is not None:
        figures = [replace(figure, title=f"{figure.title} on case {case}") for figure in figures]
    slug = one.name.replace("/", "-")
    return {figure.name.removeprefix(f"{slug}-"): figure for figure in figures if figure.is_line}


def _geometric(points: Points) -> bool:
    """Whether both sides are nearer to powers c^x than to powers x^c: a log x-axis bends them."""

    def bent(x: Any) -> float:
        fits = (np.polyfit(x, np.log(y), 1, full=True)[1] for y in (points.mean, points.bound))
        return sum(float(residual.sum()) for residual in fits)

    return len(points.x) > 2 and bent(points.x) < bent(np.log(points.x))


def _shorter(claim: Any, number: int | None) -> Any:
    """Return a claim on its first case and shorter ones: what is measured once has then a line."""
    if not (claim.measures and claim.cases):
        return None
    case = claim.judged_on[(number or 1) - 1]
    if case.over_class or case.algorithm is None:
        return None
    rounds = sorted({round(case.rounds ** (k / POINTS)) for k in range(POINTS + 1)})
    cases = tuple(replace(case, rounds=fewer) for fewer in rounds)
    return replace(claim, cases=cases, full=()) if len(cases) > 1 else None


def drawn(name: str, which: str = "", **options: Any) -> Drawn:
    """Return one plot, drawn.

    Args:
        name: a claim, an experiment where ``which`` names one of its panels, or a certificate.
        which: what ends the plot's name ("": the first).
        options: of ``of_claim``.
    """
    if name.endswith(".json") and not (which or options):
        try:
            return picture(text_of(Path(name)))
        except (OSError, RefusedCertificateError, *UNREADABLE) as error:
            raise DriftproofError(f"{name}: {error}", "a file that holds", "judge again") from None
    if Path(name).is_dir():
        raise DriftproofError(
            f"{name}, a folder",
            "a claim, an experiment, or a file of functions",
            f"driftproof counterexample {name} prints what a search found; its case, added to the "
            "claim, is plotted with it",
        )
    leaf, judged = leaves("experiment").get(name), dict[Any, Any]()
    if leaf is not None and which and not which.isdigit():
        with TemporaryDirectory() as folder:
            run_experiment(leaf.load(), Plan(), Path(folder), typed=name)
            text = (Path(folder) / "experiment.json").read_text(encoding="utf-8")
        known = {panel["name"]: panel for panel in json.loads(text)["panels"]}
        if which not in known:
            raise unknown_name(f"plot of {name}", which, known)
        sheet = panels.drawn(known[which], panels.colours_of(known.values()))
        return known[which]["title"], sheet, panels.points(known[which])
    plots = of_claim(name, **{"judged_before": judged, **options})
    if not (plots or which):
        every = [row for rows in judged.values() for row in rows]
        for row in every:
            if isinstance(row.series, Recurrence) and row.series.root[1]:
                return spiral(f"{row.claim}, {row.form_key}: {row.verdict}", row.series)
        if files := [text for row in every for text in row.proofs.values()]:
            return picture(files[0])
    if not plots:
        raise DriftproofError(
            f"{name}, of which no row has a curve",
            "a claim that is judged along rounds, horizons or a letter",
            "cases that are measured once are drawn over what differs in them: rounds=sweep(10, 20)"
            ", say",
        )
    if which and which not in plots:
        raise unknown_name(f"plot of {name}", which, plots)
    figure = plots[which] if which else next(iter(plots.values()))
    sheet, points = figure.drawn()
    if label := figure.row.case.get("label"):
        remark(sheet, f"drawn: {label}")
    return figure.title, sheet, points


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
        raise unknown_name("ending of a plot's file", kind, KINDS)
    for axes in sheet.axes if not title else ():
        axes.set_title("")
    for text in list(sheet.texts) if not title else ():  # remarks below the plot
        below(sheet, -LINE * len(text.get_text().splitlines()))
        text.remove()
    out.parent.mkdir(parents=True, exist_ok=True)
    try:
        out.write_bytes(rendered(sheet, kind))
    except (FileNotFoundError, RuntimeError) as error:  # PGF measures its text with LaTeX
        raise MissingError(f"{out}: {error}", "LaTeX", "install xelatex, or write pdf") from error
    beside = out.with_suffix(".csv")
    beside.write_text(csv_of(points), encoding="utf-8")
    return beside


def _by_rounds(figure: Figure) -> Figure:
    """Return a plot over local steps with rounds below it."""
    steps = (figure.row.case.get("algorithm") or {}).get("local_steps", 1)
    points = replace(figure.points, x=[x / steps for x in figure.points.x])
    return replace(figure, points=points, x_label="rounds")


def _two_sided(rows: Sequence[Row]) -> list[Row]:
    return [row for row in rows if row.form_key == rows[0].form_key and row.lhs and row.rhs]


def _varying(rows: Sequence[Row]) -> list[str]:
    """Return the letters in which cases differ that were measured once: alone, if there are some.

    What is compared or certified has plots of its own, or sides that are the same.
    """
    own = [x for x in _two_sided(rows) if isinstance(x.series, Curve | None) and not x.proofs]
    values = {name: {row.instance.get(name) for row in own} for row in own for name in row.instance}
    alone = {name: len(longest(own, name)) for name, of in values.items() if len(of) > 1}
    ranked = sorted(alone, key=lambda name: (-alone[name], -len(values[name])))
    return [name for name in ranked if alone[name] > 1] or ranked[:1]


def _along(rows: Sequence[Row], letter: str) -> Figure:
    """Return both sides of each case of the first form over a letter."""
    own = _two_sided(rows)
    names = own[0].instance if own else {}
    values = {name: {row.instance.get(name) for row in own} for name in names}
    if len(values.get(letter, ())) < 2:
        vary = [name for name, of in values.items() if len(of) > 1]
        if not vary:
            raise DriftproofError(
                f"--x {letter} of {rows[0].claim}, where no letter varies beside two sides",
                "a bound or a comparison with cases of several values",
                "leave --x out",
            )
        raise unknown_name(f"letter that varies over the cases of {rows[0].claim}", letter, vary)
    line, told = longest(own, letter), "all else equal"
    alike = [name for name in names if len({row.instance.get(name) for row in line}) == 1]
    said = ", ".join(f"{row.instance[letter]:g}" for row in line)
    said = f"{letter} = {said}; else as {line[0].case['label']}, with " if line else ""
    said += ", ".join(f"{name} = {line[0].instance[name]:g}" for name in alike)
    if len(line) < 2:  # it does not vary alone
        tightest: dict[float, Row] = {}
        for row in sorted(own, key=lambda row: (row.instance[letter], row.ratio or 0.0)):
            tightest[row.instance[letter]] = row
        line, told = list(tightest.values()), "the tightest case at each"
        said = "; ".join(
            f"{letter} = {row.instance[letter]:g}: {row.case['label']}" for row in line
        )
    points = Points(
        x=[float(row.instance[letter]) for row in line],
        mean=[(row.lhs or {})["mean"] for row in line],
        bound=[row.rhs for row in line],
    )
    sides = {"x": points.x, "y": [*points.mean, *points.bound]}
    log = "".join(axis for axis, of in sides.items() if min(of) > 0)
    if log == "xy" and all(x.is_integer() for x in points.x) and _geometric(points):
        log = "y"
    verdict, whole = (together([row.verdict for row in of]) for of in (line, own))
    title = f"{rows[0].claim}, {rows[0].form_key}, {told}: {verdict}"
    if whole is not verdict:
        title += f" on these {len(line)} of {len(own)} cases, {whole} on all"
    shown = next((row for row in line if row.verdict is Verdict.REFUTED), line[0])
    row = replace(shown, case={"label": said})
    name = f"{rows[0].claim}-{letter}".replace("/", "-")
    return Figure(
        name,
        row,
        title,
        LETTERS.get(letter, letter),
        "both sides",
        log,
        points,
        {"mean": "left side"},
        apart=True,
    )
