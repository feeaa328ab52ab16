"""A map of the printed statements: a tile each, a row a paper, in the verdict's colour."""

from html import escape
from itertools import groupby
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from driftproof.toolkit.report.claim_view import anchor
from driftproof.verifiers.in_print.errata import of_papers


class Map(SphinxDirective):
    """``{map-of-statements}``: each tile leads to its erratum, or to its paper's page."""

    def run(self) -> list[nodes.Node]:
        """Return the rows."""
        rows = []
        for paper, own in groupby(of_papers(), key=lambda one: one.claim.partition("/")[0]):
            tiles = []
            for one in own:
                address = f"errata.html#{anchor(one.claim)}" if one.severity else f"{paper}.html"
                told = ", ".join(f"{verdict} {how}".strip() for verdict, how in one.headline)
                title = escape(f"{one.claim}: {told}")
                colours = " ".join(str(verdict) for verdict, _ in one.headline)
                tiles.append(f'<a class="{colours}" href="{address}" title="{title}"></a>')
            rows.append(f"<tr><th>{paper}</th><td>{''.join(tiles)}</td></tr>")
        text = f'<table class="map">{"".join(rows)}</table>'
        return [nodes.raw("", text, format="html")]


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directive."""
    app.add_directive("map-of-statements", Map)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
