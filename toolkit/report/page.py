"""The page: one HTML file with everything in it, made from a run's head and rows."""

import re
from base64 import b64encode
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import Any

from driftproof.toolkit.groups import grouped, number
from driftproof.toolkit.readings import SEVERITIES
from driftproof.toolkit.report.claim_view import views
from driftproof.toolkit.report.figures import FLATTEST, Figure, headline
from driftproof.toolkit.report.mathml import font_face
from driftproof.toolkit.report.panels import drawn_panels
from driftproof.toolkit.report.papers import by_paper, findings, references
from driftproof.toolkit.report.typeset import (
    described,
    displayed,
    inline,
    letter,
    letters,
    safe,
    spelled,
    typeset,
)
from driftproof.toolkit.statements import by_severity, findings_among, sentences
from driftproof.toolkit.verdict import Evidence, Row, Verdict


def figures(rows: Sequence[Row]) -> dict[str, list[Figure]]:
    """Return each claim's plots."""
    return {
        claim: headline([row for group in groups for row in group.rows])
        for claim, groups in grouped(rows).items()
    }


def render(head: Mapping[str, Any], rows: Sequence[Row]) -> str:
    """Return the page of a verification."""
    claims = {name: view for name, view in views(head, rows).items() if view.forms}
    printed = {name: one.printed for name, one in claims.items() if one.printed is not None}
    own = findings_among(printed.values())
    counts = dict.fromkeys(Verdict, 0) | Counter(one.verdict for one in sentences(own))
    drawn = {name: [_drawn(f) for f in of_claim] for name, of_claim in figures(rows).items()}
    return document(
        "page.html.j2",
        head=head,
        claims=claims,
        counts=counts,
        figures=drawn,
        printed=printed,
        findings=findings(own),
        others=len(printed) - len(own),
        severities=SEVERITIES,
        by_severity=by_severity(own),
        papers=by_paper(claims.values()),
        references=references(claims.values()),
        evidence=Evidence,
    )


def document(template: str, **facts: Any) -> str:
    """Return one self-contained HTML file: styles, scripts and the glyphs it needs are in it."""
    scripts = asset("uPlot.iife.min.js") + asset("page.js")
    page = filled(
        template,
        style=safe(asset("uPlot.min.css") + asset("page.css")),
        scripts=safe(scripts),
        policy=_policy(scripts),
        **facts,
    )
    return page.replace("/*font*/", font_face(), 1)


def filled(template: str, **facts: Any) -> str:
    """Return a template with facts in it; what they hold of HTML is escaped."""
    import jinja2

    loader = jinja2.FunctionLoader(asset)
    environment = jinja2.Environment(
        autoescape=True, trim_blocks=True, lstrip_blocks=True, loader=loader
    )
    environment.policies["json.dumps_kwargs"] = {"allow_nan": False, "sort_keys": True}
    environment.filters |= {
        "number": number,
        "inline": inline,
        "block": displayed,
        "slug": _slug,
        "letter": letter,
        "letters": letters,
        "typeset": typeset,
        "described": described,
        "gist": first_sentence,
        "spelled": spelled,
    }
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
    columns = figure.points.columns
    if figure.panel is not None:
        (panel,) = drawn_panels([figure.panel], lambda panel: figure.name)
        return panel | {"row": figure.row}
    if not figure.is_line:
        point = {figure.labels[key]: columns[key][0] for key in columns if key in figure.labels}
        return {"name": figure.name, "title": figure.title, "row": figure.row, "point": point}
    return {
        "name": figure.name,
        "title": figure.title,
        "row": figure.row,
        "data": {
            "x": figure.x_label,
            "y": figure.y_label,
            "log": figure.log,
            "least": FLATTEST if figure.is_lower else 0,
            "labels": figure.labels,
            "series": columns,
        },
        "lower": None if figure.lower is None else _drawn(figure.lower),
    }


@cache
def asset(name: str) -> str:
    """Return a file of the page's assets."""
    return files("driftproof.toolkit.report").joinpath("assets", name).read_text(encoding="utf-8")


def first_sentence(text: str) -> str:
    """Return a text up to its first full stop that a capital follows.

    >>> first_sentence("It holds, e.g. for d = 1.5. Not for more.")
    'It holds, e.g. for d = 1.5.'
    """
    return re.split(r"(?<=[.!?]) (?=[A-Z“])", text, maxsplit=1)[0]


def _slug(name: str) -> str:
    return "".join(c if c.isalnum() or c == "." else "-" for c in name)
