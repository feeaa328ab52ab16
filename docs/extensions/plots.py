"""Plots of claims and experiments, made as the site is built: nothing of them is kept."""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from driftproof.toolkit.report.canvas import svg
from driftproof.verifiers.plotted import drawn

FOLDER = "_plots"


class Plot(SphinxDirective):
    """``{plot} NAME`` of a claim or an experiment, with the caption as content.

    ``:figure:`` says which of its plots, by what ends the name; ``:form:`` which form.
    """

    required_arguments = 1
    has_content = True
    option_spec: ClassVar[dict[str, Any]] = {
        "figure": directives.unchanged, "form": directives.unchanged, "case": int,
    }  # fmt: skip

    def run(self) -> list[nodes.Node]:
        """Draw it into the site's folder."""
        name, options = self.arguments[0], dict(self.options)
        which = options.pop("figure", "")
        title, sheet, _ = drawn(name, which, **options)
        file = Path(self.env.app.outdir) / FOLDER / f"{name.replace('/', '-')}-{which or 1}.svg"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(svg(sheet), encoding="utf-8")
        caption = escape(" ".join(self.content))
        up = "../" * self.env.docname.count("/")
        image = f'<img src="{up}{FOLDER}/{file.name}" alt="{escape(title)}" loading="lazy">'
        text = f'<figure class="plot">{image}<figcaption>{caption}</figcaption></figure>'
        return [nodes.raw("", text, format="html")]


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directive."""
    app.add_directive("plot", Plot)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
