"""The papers that a claim's source names, as BibTeX: ``papers.bib`` in the paper's folder."""

import re
from functools import cache
from pathlib import Path

PUBLISHED = "literature/"
"""What the names of claims begin with whose errors others have published: they are no findings."""
ENTRY = re.compile(r"^% ([^\n:]+): ([^\n]+)\n(@\w+\{.*?^\})", re.MULTILINE | re.DOTALL)
"""Tag, what the document is, and the BibTeX. An entry without this line above it is no source."""


def cited(path: Path, source: str) -> list[tuple[str, str, str]]:
    """Return (tag, what it is, BibTeX) of each paper whose tag stands in a claim's source.

    A tag is a part of the sources that no other word contains: "arXiv v1" of "ComFedL, arXiv v1".

    Args:
        path: the claim's file; a user's own needs no papers.bib beside it.
        source: such as "ComFedL, arXiv v1 and v3, Lemma 2".
    """
    folder = path.parents[1] if path.parent.name == "claims" else path.parent
    entries = _entries(folder / "papers.bib")
    return [entry for entry in entries if re.search(rf"(?<!\w){re.escape(entry[0])}(?!\w)", source)]


@cache
def _entries(path: Path) -> list[tuple[str, str, str]]:
    if not path.is_file():
        return []
    text = path.read_text(encoding="utf-8")
    return [(tag, what, bibtex) for tag, what, bibtex in ENTRY.findall(text)]
