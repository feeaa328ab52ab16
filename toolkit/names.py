"""What a leaf may be called: a name goes into tables, file names and the command line."""

from __future__ import annotations

from toolkit.errors import DriftproofError

LONGEST = 80
"""Letters of a name; its plots are files of that name, which systems limit to 255 bytes."""


def check_name(kind: str, name: str, where: str = "") -> str:
    """Return a leaf's name, or raise if a file or a table could not bear it.

    >>> check_name("claim", "mine/drift")
    'mine/drift'
    """
    lead = f"{where}: " if where else ""
    if len(name) > LONGEST or len(name.encode(errors="replace")) > 2 * LONGEST:
        raise DriftproofError(
            f"{lead}the {kind}'s name {name[:20]!r}… has {len(name)} letters",
            f"a name of at most {LONGEST}: its plots are files of that name",
            "say the rest in the statement",
        )
    if not name.isprintable() or not name.strip() or name != name.strip():
        raise DriftproofError(
            f"{lead}the {kind}'s name {name!r}",
            "letters that can be printed, with none but them at both ends",
            'rename it, to "mine/drift-bound", say',
        )
    return name
