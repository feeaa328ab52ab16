"""Results as a notebook shows them: one piece of HTML, whose styles touch nothing beside it.

A plot is an SVG image whose text is in the page. As an image it can run nothing and fetch nothing,
and its ids are its own, however many plots a notebook has.
"""

import re
from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from driftproof.toolkit.report.canvas import svg
from driftproof.toolkit.report.claim_view import views
from driftproof.toolkit.report.figures import Figure
from driftproof.toolkit.report.forms_table import notes
from driftproof.toolkit.report.page import asset, filled
from driftproof.toolkit.report.page import figures as figures_of
from driftproof.toolkit.report.panels import drawn
from driftproof.toolkit.report.sides import sides
from driftproof.toolkit.verdict import Row

CLAIMS_IN_FULL = 3
"""So many claims are shown with formula and plots; more are a table."""


def shown_verdicts(
    rows: Sequence[Row], entries: Mapping[str, Mapping[str, Any]], sentences: Iterable[str]
) -> str:
    """Return what was judged, as HTML.

    Args:
        entries: what is known of a claim before it is judged: statement, kind, source and forms.
        sentences: what a reader has to know of all the verdicts.
    """
    claims = views({"claims": entries}, rows)
    plots = {}
    for claim, figures in figures_of(rows).items() if len(claims) <= CLAIMS_IN_FULL else ():
        over_cases = sides([row for group in claims[claim].forms for row in group.rows])
        plots[claim] = [*map(plot, figures)]
        if over_cases is not None:
            plots[claim].insert(0, {"title": claim, "address": address(svg(over_cases))})
    return _filled(
        "verdicts.html.j2",
        claims=claims.values(),
        in_full=bool(entries),
        notes=notes,
        plots=plots,
        sentences=list(sentences),
    )


def shown_run(
    told: str, table: Sequence[Mapping[str, Any]], panels: Iterable[Mapping[str, Any]]
) -> str:
    """Return what was recorded along a run, as HTML.

    Args:
        told: what was run.
        table: of each measure its name, replicates, and first and last mean, low and high.
        panels: of each measure that has curves, as those of an experiment are.
    """
    plots = [{"title": x["title"], "address": address(svg(drawn(x)))} for x in panels]
    return _filled("run.html.j2", told=told, table=table, plots=plots)


def plot(figure: Figure) -> dict[str, str]:
    """Return a plot's title, its case in words, and its image as an address."""
    label = str(figure.row.case.get("label", ""))
    return {"title": figure.title, "label": label, "address": address(figure.svg())}


def address(svg: str) -> str:
    """Return an SVG file as a data URL.

    >>> address("<svg/>")
    'data:image/svg+xml;base64,PHN2Zy8+'
    """
    return f"data:image/svg+xml;base64,{b64encode(svg.encode()).decode()}"


def _filled(template: str, **facts: Any) -> str:
    """Return a template of a notebook, with the page's own colours."""
    from markupsafe import Markup

    colours = re.search(r":root(\{.*?\})", asset("page.css"), re.DOTALL)
    assert colours is not None
    style = f".driftproof{colours[1]}{asset('notebook.css')}"
    return filled(template, style=Markup(style), **facts)
