"""Errors a user can act on: what was got, what was wanted, what to do."""

from __future__ import annotations

import difflib
import errno
from collections.abc import Iterable


class DriftproofError(Exception):
    """A foreseeable mistake; the command line prints it without a traceback.

    Args:
        got: what was found, with its value.
        wanted: what was expected instead.
        remedy: what the user can do about it.

    >>> print(DriftproofError("step_size = -1", "a positive number", "pass step_size > 0"))
    got:    step_size = -1
    wanted: a positive number
    remedy: pass step_size > 0
    """

    exit_code = 2
    claim: str | None = None
    """The claim that it keeps from being judged, if it is of one."""

    def __init__(self, got: str, wanted: str, remedy: str) -> None:
        super().__init__(got, wanted, remedy)
        self.got, self.wanted, self.remedy = got, wanted, remedy

    def __str__(self) -> str:
        lines = (("got:", self.got), ("wanted:", self.wanted), ("remedy:", self.remedy))
        return "\n".join(f"{head:<7} {text}" for head, text in lines)

    @property
    def told(self) -> str:
        """The error in one line, as the reason of a row."""
        return f"{self.got}; wanted: {self.wanted}; remedy: {self.remedy}"


class UndecidableError(DriftproofError):
    """What keeps a case from being judged: it costs its row, which is INCONCLUSIVE and says why."""


class MissingError(DriftproofError):
    """Something needed is not on this machine: a data set, a device, a package."""

    exit_code = 3


def after_system_error(error: OSError) -> str:
    """Return what to do where the system refused to read or write a file."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return "free some space, or name another --out; finished units are kept"
    if error.errno == errno.ENAMETOOLONG:
        return "shorten the name"
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return "take a folder that you may write to: another --out, or a copy of this one"
    return "check the path, or name another --out"


LISTED_KINDS = (
    "claim",
    "problem",
    "algorithm",
    "dataset",
    "network",
    "split",
    "experiment",
    "kernel",
)
NAMES_LISTED = 24
"""So many names may stand in a message."""


def unknown_name(
    kind: str, name: str, known: Iterable[str], *, or_file: bool = False
) -> DriftproofError:
    """Return the error for a name that does not exist, with the nearest ones offered.

    Args:
        or_file: a file of one's own would do too.
    """
    names = sorted(set(known))
    # first a name of which a part was left out, as in lemma-2 for comfedl/lemma-2
    near = [known for known in names if known.rpartition("/")[2].lower() == name.lower()]
    near += [x for x in difflib.get_close_matches(name, names, n=3, cutoff=0.4) if x not in near]
    if near:
        offer = f"did you mean {' or '.join(near[:3])}?"
    elif kind == "role":
        offer = "driftproof show roles tells all of them"
    else:
        offer = f"driftproof list {kind}s" if kind in LISTED_KINDS else "take one of them"
    few = ", ".join(names) if len(names) <= NAMES_LISTED else f"one of {len(names)} known names"
    if or_file:
        few += ", or a file of your own: FILE.py, or FILE.py::NAME"
        offer += " If none of them, give a file of your own" * bool(near)
    return DriftproofError(f"unknown {kind} {name!r}", few, offer)
