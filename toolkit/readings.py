"""Readings: what a form of a statement says, and how it stands to the print.

A print can often be read in more than one way. A fair referee refutes it only if every admissible
reading fails, so each reading says which kind it is:

==============  ==============================================================================
``literal``     the characters as printed
``intended``    what the paper's proof, the text beside it or a figure shows was meant (quoted)
``narrower``    a special case or one choice among many: a study of ours, not the print
``wider``       more than the print says: a study of ours, not the print
==============  ==============================================================================

Only literal and intended readings decide about the print (``toolkit.statements``).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Generic, TypeVar, overload

from driftproof.toolkit.cases import Assumption
from driftproof.toolkit.errors import DriftproofError, unknown_name

R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)
"""What a claim has as its right side: a function of the letters, a schedule, a matrix …"""


class ReadingKind(StrEnum):
    """How a reading stands to the characters that are printed."""

    LITERAL = "literal"
    INTENDED = "intended"
    NARROWER = "narrower"
    WIDER = "wider"

    @property
    def admissible(self) -> bool:
        """Whether the reading decides about the print (else it is a study of ours)."""
        return self in (ReadingKind.LITERAL, ReadingKind.INTENDED)


@dataclass(frozen=True)
class Stated(Generic[R_co]):
    """A right side that comes with a measured side, a range or assumptions of its own.

    It may stand wherever a claim has a right side: as ``right``, in ``readings``, ``corrected`` or
    ``false_siblings``. ``literal`` and its like make one for a reading.

    Attributes:
        right: the right side.
        left, range: instead of the claim's.
        assumes: in addition to the claim's.
        reading_kind: how a reading stands to the print (set by ``literal`` and its like).
        quote: for an intended reading, what in the paper shows that it was meant; for a narrower
            or wider one, in which way it is.
        part: which part of the statement it reads, where the statement has several ("" for all of
            it). A statement holds if each of its parts holds in some admissible reading. Of a
            corrected form: to what it is restricted ("σ = 0"), which is shown wherever it is.
    """

    right: R_co
    left: Callable[..., Any] | None = None
    range: Callable[..., Any] | None = None
    assumes: Sequence[Assumption] = ()
    reading_kind: ReadingKind | None = None
    quote: str = ""
    part: str = ""


@dataclass(frozen=True)
class Undecided:
    """Stands for a right side where nothing decides a reading, and says what would.

    An existence statement ("if the step sizes are chosen properly") is refuted only by a proof over
    all choices. Without one, and without a construction that works, its reading is INCONCLUSIVE.

    Attributes:
        known: what is known of it.
        by: what would decide it: a text to read, a proof or a construction to find.
    """

    known: str
    by: str

    def __str__(self) -> str:
        return f"{self.known}. To decide it: {self.by}"


@dataclass(frozen=True)
class ByProof:
    """Stands for a right side where algebra alone decides a reading, on no case.

    Attributes:
        steps: returns the steps (``verifiers.algebra.symbolic``); called where the proof is judged.
    """

    steps: Callable[[], Sequence[Any]]


@overload
def literal(right: Stated[R], *, quote: str = ..., part: str = ...) -> Stated[R]: ...
@overload
def literal(right: R, *, quote: str = ..., part: str = ...) -> Stated[R]: ...
def literal(right: Any, *, quote: str = "", part: str = "") -> Stated[Any]:
    """Return the reading of the characters as printed.

    Where the characters can be read in two ways, both are literal, and each needs a ``quote``: the
    words of the paper that can be read so.
    """
    return _reading(ReadingKind.LITERAL, right, quote, part)


@overload
def intended(right: Stated[R], *, quote: str, part: str = ...) -> Stated[R]: ...
@overload
def intended(right: R, *, quote: str, part: str = ...) -> Stated[R]: ...
def intended(right: Any, *, quote: str, part: str = "") -> Stated[Any]:
    """Return a reading that the paper shows was meant; ``quote`` says by which words and where.

    Raises:
        DriftproofError: the quote is empty.
    """
    if isinstance(quote, str) and not quote.strip():
        raise DriftproofError(
            "intended(…) with an empty quote",
            "the words of the paper's proof, text or figure that show what was meant",
            'write intended(right, quote="the proof of Lemma 3 uses …"), or narrower(…)',
        )
    return _reading(ReadingKind.INTENDED, right, quote, part)


@overload
def narrower(right: Stated[R], *, why: str, part: str = ...) -> Stated[R]: ...
@overload
def narrower(right: R, *, why: str, part: str = ...) -> Stated[R]: ...
def narrower(right: Any, *, why: str, part: str = "") -> Stated[Any]:
    """Return a reading that says less than the print: a study, which does not refute the print."""
    return _reading(ReadingKind.NARROWER, right, why, part)


@overload
def wider(right: Stated[R], *, why: str, part: str = ...) -> Stated[R]: ...
@overload
def wider(right: R, *, why: str, part: str = ...) -> Stated[R]: ...
def wider(right: Any, *, why: str, part: str = "") -> Stated[Any]:
    """Return a reading that says more than the print: a study, which does not refute the print."""
    return _reading(ReadingKind.WIDER, right, why, part)


def _reading(kind: ReadingKind, right: Any, quote: str, part: str) -> Stated[Any]:
    if not isinstance(quote, str):
        raise DriftproofError(
            f"{kind}(…) with {quote!r} for its quote or its why", "words", 'write why="…"'
        )
    stated: Stated[Any] = right if isinstance(right, Stated) else Stated(right)
    return replace(stated, reading_kind=kind, quote=quote, part=part)


SEVERITIES = {
    "false": "no admissible reading holds",
    "incomplete": "needs a condition that is not stated; holds with it",
    "misprint": "the intended reading holds",
    "overstated": "true in its setting, false in the generality of its words",
}
"""What kind of mistake a print has, worst first."""

DEPENDS = {
    "theorem": "a theorem, or another result that the paper announces, fails or needs a condition",
    "constant": "a result keeps its order, with another constant or one more term",
    "step": "a step of a proof, whose conclusion is reached in another way",
    "nothing": "nothing that the paper concludes",
}
"""What depends on a mistake, most first."""


@dataclass(frozen=True)
class Erratum:
    """What is wrong with a statement as printed.

    Attributes:
        severity: false, incomplete, misprint or overstated (``SEVERITIES``).
        changes: what it changes for somebody who relies on the statement.
        depends: what depends on the mistake: theorem, constant, step or nothing (``DEPENDS``; "":
            not said, or said where it is counted).
        same_as: the claim under which the same mistake is counted, if it stands in several.
        one_character: whether the finding rests on one character that the conversion of the
            paper to text may have changed.
    """

    severity: str
    changes: str
    depends: str = ""
    same_as: str = ""
    one_character: bool = False

    def __post_init__(self) -> None:
        if self.severity not in SEVERITIES:
            raise unknown_name("severity of an erratum", self.severity, SEVERITIES)
        if self.depends and self.depends not in DEPENDS:
            raise unknown_name("dependence of an erratum", self.depends, DEPENDS)
        if not self.changes.strip():
            raise DriftproofError(
                "an erratum without changes",
                "what it changes for somebody who relies on the statement",
                'write Erratum("misprint", changes="nothing: the proof uses Σ p_i = 1")',
            )
