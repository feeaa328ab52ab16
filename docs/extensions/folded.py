"""Long pages are folded: of a section that is named like a claim, the heading and a line are seen.

Where a page is wide, and the browser can, the style sheet shows all of it (``site.css``).
"""

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform

PAGES = ("errata", "gallery")
OPEN = '<details class="folded"><summary>more</summary>'


class Folded(SphinxPostTransform):
    """Folds what stands below the first paragraph of a section whose title has a slash."""

    default_priority = 901
    formats = ("html",)

    def run(self, **kwargs: Any) -> None:
        """Put each such section's rest between the tags."""
        if self.env.docname not in PAGES:
            return
        for section in self.document.findall(nodes.section):
            if "/" in section[0].astext():
                first = section.first_child_matching_class(nodes.paragraph)
                assert first is not None
                section.insert(first + 1, nodes.raw("", OPEN, format="html"))
                section += nodes.raw("", "</details>", format="html")


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the transform."""
    app.add_post_transform(Folded)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
