"""The page: one HTML file with everything in it, made from a run's head and rows."""

from __future__ import annotations

import re
from base64 import b64encode
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import Any

from driftproof.toolkit.readings import SEVERITIES, ReadingKind
from driftproof.toolkit.report.class_lines import over_class
from driftproof.toolkit.report.figures import (
    NOTHING,
    POINTS,
    Figure,
    cell,
    distance,
    equates,
    headline,
)
from driftproof.toolkit.report.latex_table import Told, latex_table
from driftproof.toolkit.report.mathml import font_face
from driftproof.toolkit.report.papers import Reference, by_paper, findings, references
from driftproof.toolkit.report.typeset import (
    described,
    displayed,
    inline,
    letter,
    letters,
    spelled,
    typeset,
)
from driftproof.toolkit.statements import (
    ReadingVerdict,
    Statement,
    by_severity,
    sentences,
    statement,
)
from driftproof.toolkit.verdict import Evidence, Row, Verdict, form_key, overall

FAR = 0.05
"""Left over right below which a case hardly tests a bound."""


@dataclass(frozen=True)
class Group:
    """The rows of one form and reading of one claim."""

    claim: str
    form: str
    reading: str
    edition: str
    rows: Sequence[Row]

    @property
    def verdict(self) -> Verdict:
        """The verdict on this form."""
        return overall(self.rows)

    @property
    def evidence(self) -> str:
        """The kinds of evidence that decided, each once."""
        rows = [row for row in self.rows if row.verdict is self.verdict]
        return ", ".join(dict.fromkeys(row.evidence for row in rows if row.evidence))

    @property
    def cases(self) -> str:
        """How many cases there are, and to how many of them the statement applies."""
        applied = [row for row in self.rows if row.verdict is not Verdict.INAPPLICABLE]
        if len(applied) in (0, len(self.rows)):
            return str(len(self.rows))
        return f"{len(applied)} of {len(self.rows)}"

    @property
    def tightest(self) -> float | None:
        """The largest ratio of left to right among rows that are not vacuous."""
        kinds = ("bound", "existence")
        bounds = [row for row in self.rows if row.kind in kinds and not row.vacuous]
        if equates(self.rows):
            return None
        ratios = [row.ratio for row in bounds if row.ratio is not None]
        return max(ratios, default=None)

    @property
    def tightness(self) -> str:
        """How tight the form is, in the terms of its kind."""
        row = next((row for row in self.rows if row.lhs is not None), self.rows[0])
        if row.kind == "rate" and row.lhs is not None:
            return f"slope {number(row.lhs['mean'], 3)}"
        if equates(self.rows) and self.verdict is Verdict.SUPPORTED:
            apart = max(map(distance, self.rows))
            return f"within {number(apart, 2)}" if apart > NOTHING else "equal"
        return number(self.tightest, 3)

    @property
    def reading_kind(self) -> str:
        """How a printed form's reading stands to the print ("" of other forms)."""
        return self.rows[0].reading_kind or ""

    @property
    def as_reading(self) -> ReadingVerdict:
        """The form as one reading of the print, with its verdict."""
        kind = self.reading_kind or ReadingKind.LITERAL
        return ReadingVerdict(self.reading, kind, self.rows[0].part, self.verdict, self.empty)

    @property
    def title(self) -> str:
        """Form and reading, as tables name them."""
        return form_key(self.form, self.reading)

    @property
    def attained(self) -> bool:
        """Whether it is a supported inequality or rate, and equality was met on some case."""
        supported = self.verdict is Verdict.SUPPORTED and self.rows[0].kind in ("bound", "rate")
        return supported and any(row.attained for row in self.rows)

    @property
    def of_classes(self) -> bool:
        """Whether its rows are of whole classes of functions, which letters alone tell apart."""
        return any(map(over_class, self.rows))

    @property
    def weakly_tested(self) -> bool:
        """Whether what is supported was hardly tested.

        Of an inequality: on every case that is not vacuous the left side is below ``FAR`` of the
        right one, or most cases are vacuous: their right sides exceed what the left could be
        anyway. Of a rate, which speaks of all problems: slopes on one family are all its evidence.
        """
        if self.verdict is not Verdict.SUPPORTED or equates(self.rows):
            return False
        if {row.evidence for row in self.rows if row.verdict is Verdict.SUPPORTED} == {
            "asymptotic"
        }:
            return True
        supported = [row for row in self.rows if row.verdict is Verdict.SUPPORTED and row.lhs]
        supported = [row for row in supported if row.kind in ("bound", "existence")]
        telling = [row for row in supported if not row.vacuous]
        ratios = [row.ratio for row in telling if row.ratio is not None]
        # a right side of 0 that is met has no ratio, and no room either
        far = len(ratios) == len(telling) and max(ratios, default=FAR) < FAR
        return bool(supported) and (far or 2 * len(telling) < len(supported))

    @property
    def empty(self) -> bool:
        """Whether no instance can meet the hypothesis."""
        return any(row.empty_hypothesis for row in self.rows)

    @property
    def changed(self) -> bool:
        """Whether some verdict is not the one on record."""
        return any(row.expected not in (None, row.verdict) for row in self.rows)

    @property
    def reason(self) -> str:
        """Why, in the words of the row that decided."""
        if self.verdict is Verdict.INCONCLUSIVE and all(
            row.verdict is Verdict.SUPPORTED for row in self.rows
        ):
            return "supported, but vacuous on every case that was run; a larger profile has others"
        said = self.deciding.reason if self.verdict is self.deciding.verdict else ""
        exact = sum(row.evidence in (Evidence.EXACT, Evidence.ENCLOSED) for row in self.rows)
        if exact and self.deciding.alpha and self.verdict is Verdict.INCONCLUSIVE:
            said += (
                f"; {exact} of {len(self.rows)} cases need no sampling, and were decided exactly"
            )
        return said

    @property
    def deciding(self) -> Row:
        """The first row that has the form's verdict (the first of all, if none has)."""
        return next((row for row in self.rows if row.verdict is self.verdict), self.rows[0])


def grouped(rows: Sequence[Row]) -> dict[str, list[Group]]:
    """Return each claim's forms with their rows, in the order of the rows."""
    by_form: dict[tuple[str, str, str, str], list[Row]] = {}
    for row in rows:
        by_form.setdefault((row.claim, row.form, row.reading, row.edition), []).append(row)
    by_claim: dict[str, list[Group]] = {}
    for (claim, form, reading, edition), members in by_form.items():
        group = Group(claim, form, reading, edition, members)
        by_claim.setdefault(claim, []).append(group)
    return by_claim


def lead(groups: Sequence[Group], printed: Statement | None) -> Verdict:
    """Return the verdict that stands for a claim: on its print, else on what it states."""
    if printed is not None:
        return printed.verdict
    own = [group for group in groups if group.form == "corrected"] or groups
    return own[0].verdict


def told(rows: Sequence[Row]) -> list[Told]:
    """Return what a table in a paper tells of each form."""
    return [
        Told(claim, group.form, group.reading, group.title, str(group.verdict),
             group.evidence or "–", group.cases, group.tightness)
        for claim, groups in grouped(rows).items()
        for group in groups
    ]  # fmt: skip


def statements(head: Mapping[str, Any], rows: Sequence[Row]) -> list[Statement]:
    """Return the printed statements of a run, with the verdict on each."""
    judged = []
    for claim, groups in grouped(rows).items():
        printed = [group for group in groups if group.form == "printed"]
        about = head["claims"].get(claim, {})
        told = about.get("counted", {}) | {"weakly_tested": _weakly_tested(printed)}
        readings = [group.as_reading for group in printed]
        judged.append(statement(claim, readings, about.get("erratum"), **told))
    return [one for one in judged if one is not None]


def _weakly_tested(printed: Sequence[Group]) -> bool:
    """Say whether all that supports a print was hardly tested."""
    admissible = [group for group in printed if group.as_reading.admissible]
    supported = [group for group in admissible if group.verdict is Verdict.SUPPORTED]
    return bool(supported) and all(group.weakly_tested for group in supported)


def figures(rows: Sequence[Row]) -> dict[str, list[Figure]]:
    """Return each claim's plots."""
    return {
        claim: headline([row for group in groups for row in group.rows])
        for claim, groups in grouped(rows).items()
    }


def render(head: Mapping[str, Any], rows: Sequence[Row]) -> str:
    """Return the page of a verification."""
    claims = grouped(rows)
    printed = statements(head, rows)
    known = {one.claim: one for one in printed}
    counts = dict.fromkeys(Verdict, 0) | Counter(one.verdict for one in sentences(printed))
    drawn = {name: [_drawn(f) for f in of_claim] for name, of_claim in figures(rows).items()}
    return document(
        "page.html.j2", head=head, claims=claims, counts=counts, figures=drawn,
        table=latex_table(told(rows)), printed=known,
        findings=findings(printed), severities=SEVERITIES, by_severity=by_severity(printed),
        papers=by_paper(head, claims, printed), references=references(head),
        reference=Reference, leads={name: lead(of, known.get(name)) for name, of in claims.items()},
    )  # fmt: skip


def document(template: str, **facts: Any) -> str:
    """Return one self-contained HTML file: styles, scripts and the glyphs it needs are in it."""
    scripts = asset("uPlot.iife.min.js") + asset("page.js")
    page = filled(
        template,
        style=_safe(asset("uPlot.min.css") + asset("page.css")),
        scripts=_safe(scripts),
        policy=_policy(scripts),
        **facts,
    )
    return page.replace("/*font*/", font_face([page]), 1)


def filled(template: str, **facts: Any) -> str:
    """Return a template with facts in it; what they hold of HTML is escaped."""
    import jinja2

    loader = jinja2.FunctionLoader(asset)
    environment = jinja2.Environment(
        autoescape=True, trim_blocks=True, lstrip_blocks=True, loader=loader
    )
    environment.policies["json.dumps_kwargs"] = {"allow_nan": False, "sort_keys": True}
    environment.filters |= {
        "number": number, "cell": cell, "inline": inline, "block": displayed, "slug": _slug,
        "letter": letter, "letters": letters, "typeset": typeset, "described": described,
        "gist": first_sentence, "spelled": spelled,
    }  # fmt: skip
    return environment.get_template(template).render(**facts)


def _policy(scripts: str) -> str:
    """Return what a browser may do with a page: run these scripts alone, and fetch nothing.

    Names and statements are escaped. If one were not, its script would still not be run.
    """
    told = b64encode(sha256(scripts.encode()).digest()).decode()
    return (
        f"default-src 'none'; script-src 'sha256-{told}'; style-src 'unsafe-inline'; "
        "img-src 'self' file: data:; font-src data:; base-uri 'none'; form-action 'none'"
    )


def _drawn(figure: Figure) -> dict[str, Any]:
    left_out = ("how", "what", "map", "x_label", "size", "labels")
    series = {key: value for key, value in figure.series.items() if key not in left_out}
    if figure.map is not None:
        return {"name": figure.name, "title": figure.title, "row": figure.row, "map": figure.map}
    if not figure.is_line:
        names = (key for key in POINTS if key in series and key in figure.labels)
        point = {figure.labels[key]: series[key][0] for key in names}
        return {"name": figure.name, "title": figure.title, "row": figure.row, "point": point}
    return {
        "name": figure.name,
        "title": figure.title,
        "row": figure.row,
        "data": {
            "x": figure.x_label,
            "y": figure.y_label,
            "log": figure.log,
            "labels": figure.labels,
            "series": series,
        },
    }


@cache
def asset(name: str) -> str:
    """Return a file of the page's assets."""
    return files("driftproof.toolkit.report").joinpath("assets", name).read_text(encoding="utf-8")


def number(value: float | None, digits: int = 4) -> str:
    """Return a number for a table: short, never rounded to a lie of 1.

    >>> number(0.25), number(1.0000001), number(123456.0), number(None)
    ('0.25', '1.0000001', '1.235e+05', '–')
    """
    if value is None:
        return "–"
    text = f"{value:.{digits}g}"
    if text == "1" and value != 1.0:
        return f"{value:.8g}"
    return text


def first_sentence(text: str) -> str:
    """Return a text up to its first full stop that a capital follows.

    >>> first_sentence("It holds, e.g. for d = 1.5. Not for more.")
    'It holds, e.g. for d = 1.5.'
    """
    return re.split(r"(?<=[.!?]) (?=[A-Z“])", text, maxsplit=1)[0]


def _safe(text: str) -> Any:
    from markupsafe import Markup

    return Markup(text)


def _slug(name: str) -> str:
    return "".join(c if c.isalnum() or c == "." else "-" for c in name)
