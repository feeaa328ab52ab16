"""Pages that are files above docs/: their links are turned, since GitHub reads them elsewhere.

``contributing.md`` of the site is CONTRIBUTING.md, and ``changelog.md`` is CHANGELOG.md. The files
of these names in docs/ say where the text is.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

OUTSIDE = ("CONTRIBUTING.md", "CHANGELOG.md")


def turned(app: Sphinx, page: str, source: list[str]) -> None:
    """Put the text of a file above docs/ in place of its page, and turn links to it."""
    for name in OUTSIDE:
        if name.lower() == f"{page}.md":
            path = Path(app.srcdir).parent / name
            app.env.note_dependency(path)
            source[0] = path.read_text(encoding="utf-8").replace("](docs/", "](")
    for name in OUTSIDE:
        source[0] = source[0].replace(f"](../{name}", f"]({name.lower()}")
        source[0] = source[0].replace(f"]({name}", f"]({name.lower()}")


def setup(app: Sphinx) -> dict[str, Any]:
    """Listen to every page that is read."""
    app.connect("source-read", turned)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
