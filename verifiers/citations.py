"""The papers that a claim's source names, as BibTeX: ``papers.bib`` beside the claims."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

ENTRY = re.compile(r"^% (\d{3}): ([^\n]+)\n(@\w+\{.*?^\})", re.MULTILINE | re.DOTALL)


def cited(path: Path, source: str) -> list[tuple[str, str, str]]:
    """Return (document, what it is, BibTeX) of each paper that a claim's source names.

    Args:
        path: the claim's file; a user's own needs no papers.bib beside it.
        source: such as "000, Lemma 4 (37)".
    """
    return [entry for entry in _entries(path.parent / "papers.bib") if entry[0] in source]


@cache
def _entries(path: Path) -> list[tuple[str, str, str]]:
    if not path.is_file():
        return []
    return [tuple(found) for found in ENTRY.findall(path.read_text(encoding="utf-8"))]
