"""Formulas are typeset while the site is built: MathML, with the font in the style sheet.

A page of the site then needs no script and no network for its formulas, and shows them when it is
opened from disk. It is what the report page does, by the same functions: of formulas in words the
indices are lowered and the powers raised.
"""

import re
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util import logging as sphinx_logging

from driftproof.toolkit.report.mathml import FONT, font_face, mathml
from driftproof.toolkit.report.typeset import formulas

logger = sphinx_logging.getLogger(__name__)
NAMES = (
    nodes.literal,
    nodes.FixedTextElement,
    nodes.math,
    nodes.raw,
    nodes.reference,
    nodes.comment,
    addnodes.desc_signature,
    addnodes.literal_strong,
    addnodes.literal_emphasis,
)
"""In these _ and ^ are part of a name, or of a formula."""


class Words(SphinxPostTransform):
    """Lowers the indices and raises the powers of formulas that stand in words."""

    default_priority = 900
    formats = ("html",)

    def run(self, **kwargs: Any) -> None:
        """Replace each text that has some."""
        for text in list(self.document.findall(nodes.Text)):
            above, inside = text.parent, False
            while above is not None and not inside:
                above, inside = above.parent, isinstance(above, NAMES)
            made = formulas(str(text))
            if not inside and re.search("<su[bp]>", made):
                text.parent.replace(text, nodes.raw("", made, format="html"))


def inline(writer: Any, node: nodes.math) -> None:
    """Write a formula in a line of text."""
    writer.body.append(_checked(node, block=False))
    raise nodes.SkipNode


def block(writer: Any, node: nodes.math_block) -> None:
    """Write a formula on lines of its own; a long one scrolls."""
    writer.body.append(f'<div class="formula">{_checked(node, block=True)}</div>')
    raise nodes.SkipNode


def _checked(node: nodes.Element, *, block: bool) -> str:
    made = mathml(node.astext().strip(), block=block)
    if not made.startswith("<math"):
        logger.warning("cannot be typeset: %s", node.astext(), location=node)
    return made


def add_font(app: Sphinx, exception: Exception | None) -> None:
    """Write the font of formulas beside the pages."""
    if exception is None and app.builder.format == "html":
        rule = f'math{{font-family:"{FONT}",math}}\n'
        css = Path(app.outdir, "_static", "formulas.css")
        css.write_text(font_face() + rule, encoding="utf-8")


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the renderer."""
    app.add_html_math_renderer("typeset", (inline, None), (block, None))
    app.add_css_file("formulas.css")
    app.add_post_transform(Words)
    app.connect("build-finished", add_font)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
