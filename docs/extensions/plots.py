"""Plots of claims and experiments, made as the site is built: nothing of them is kept."""

import re
from html import escape
from pathlib import Path
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from driftproof.toolkit.discover import leaves
from driftproof.toolkit.report.canvas import svg
from driftproof.verifiers.plotted import Judged, drawn, of_claim

FOLDER = "_plots"
JUDGED: Judged = {}
"""Of this build: several pages draw plots of one claim."""


class Plot(SphinxDirective):
    """``{plot} NAME`` of a claim or an experiment, with the caption as content.

    ``:figure:`` says which of its plots, by what ends the name; ``:form:`` which form.
    """

    required_arguments = 1
    has_content = True
    option_spec: ClassVar[dict[str, Any]] = {
        "figure": directives.unchanged,
        "form": directives.unchanged,
        "case": int,
    }

    def run(self) -> list[nodes.Node]:
        """Draw it into the site's folder, on the pages that ``plots_on`` names, or on all."""
        if not self.wanted:
            return []
        name, options = self.arguments[0], dict(self.options)
        which = options.pop("figure", "")
        title, sheet, _ = drawn(name, which, judged_before=JUDGED, **options)
        return [self.placed(f"{name}-{which or 1}", title, sheet, " ".join(self.content))]

    @property
    def wanted(self) -> bool:
        """Whether this page's plots are drawn."""
        only = self.config.plots_on
        return only is None or self.env.docname in only

    def placed(self, name: str, title: str, sheet: Any, caption: str) -> nodes.Node:
        """Return a plot on the page, its file written."""
        form = self.options.get("form", "")
        slug = re.sub(r"[^\w.-]+", "-", f"{name}-{form}").strip("-")
        file = Path(self.env.app.outdir) / FOLDER / f"{slug}.svg"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(svg(sheet), encoding="utf-8")
        up = "../" * self.env.docname.count("/")
        image = f'<img src="{up}{FOLDER}/{file.name}" alt="{escape(title)}" loading="lazy">'
        text = f'<figure class="plot">{image}<figcaption>{escape(caption)}</figcaption></figure>'
        return nodes.raw("", text, format="html")


class Rates(Plot):
    """``{rates}``: the plot of each measured rate, of every claim under ``@rate``, by papers."""

    required_arguments = 0

    def run(self) -> list[nodes.Node]:
        """Draw them, each with its statement's verdict and slopes in its title and legend."""
        made: list[nodes.Node] = []
        for name, leaf in sorted(leaves("claim").items()) if self.wanted else ():
            figures = (
                of_claim(name, judged_before=JUDGED).values() if leaf.decorator == "rate" else ()
            )
            measured = [figure for figure in figures if figure.lower is not None]
            for k, figure in enumerate(measured):
                caption = f"{leaf.metadata.get('source', '')}. {leaf.summary}"
                made.append(
                    self.placed(f"{name}-rate-{k}", figure.title, figure.drawn()[0], caption)
                )
        return [
            nodes.raw("", '<div class="two">', format="html"),
            *made,
            nodes.raw("", "</div>", format="html"),
        ]


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directive."""
    app.add_config_value("plots_on", None, "env", [list, type(None)])
    app.add_directive("plot", Plot)
    app.add_directive("rates", Rates)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
