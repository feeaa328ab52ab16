"""What a leaf may be called: a name goes into tables, file names and the command line."""

import re

from driftproof.toolkit.errors import DriftproofError

NAME_LETTERS = 80
"""Letters of a name; its plots are files of that name, which systems limit to 255 bytes."""


def check_name(kind: str, name: str, where: str = "") -> str:
    """Return a leaf's name, or raise if a file or a table could not bear it.

    >>> check_name("claim", "mine/drift")
    'mine/drift'
    """
    lead = f"{where}: " if where else ""
    if len(name) > NAME_LETTERS or len(name.encode(errors="replace")) > 2 * NAME_LETTERS:
        raise DriftproofError(
            f"{lead}the {kind}'s name {name[:20]!r}… has {len(name)} letters",
            f"a name of at most {NAME_LETTERS}: its plots are files of that name",
            "say the rest in the statement",
        )
    if not name.isprintable() or not name.strip() or name != name.strip():
        raise DriftproofError(
            f"{lead}the {kind}'s name {name!r}",
            "letters that can be printed, with none but them at both ends",
            'rename it, to "mine/drift-bound", say',
        )
    return name


ESCAPED = re.compile(r"[\a\b\f\r\t\v]|\n(?=abla|eq\b|u\b)")
r"""What Python makes of the beginning of \bar, \tau or \nabla in a string that is not raw."""


def check_latex(name: str, statement: str) -> str:
    r"""Return a statement in LaTeX, or raise if Python took backslashes of it for its own.

    >>> print(check_latex("mine/drift", r"\bar w \le \tau"))
    \bar w \le \tau
    """
    taken = ESCAPED.search(statement)
    if taken is not None:
        near = statement[max(0, taken.start() - 8) : taken.end() + 8]
        raise DriftproofError(
            f"the statement of {name} has {taken[0]!r} in {near!r}, which Python made of a "
            "backslash and a letter",
            'a raw string, in which a backslash stays one: statement=r"…"',
            "write r before its first quotation mark",
        )
    return statement
