"""The largest left / right that searches met of each bound: files beside the verdicts on record.

Only ``falsify --record`` writes it. It tells how tight a bound is as far as a search saw, and
where; it proves nothing, and no verdict rests on it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cache
from typing import Any

from driftproof.toolkit.cases import Case
from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.groups import number
from driftproof.verifiers.expression import case_of, pasted
from driftproof.verifiers.record import read_files, refuted_on_record, write_files

FOUND = ("confirmed", "verified")
"""What a search says of a violation: a judge refuted it, or both sides were enclosed apart."""
BELOW, ABOVE = 1e-6, 1e-7
"""How near to 1 a ratio is for its bound to be called met; more than that above is a violation."""


@dataclass(frozen=True)
class Searched:
    """The case with the largest left / right that searches met of one form.

    Attributes:
        ratio: left / right there, the largest over the comparisons (None: right is 0).
        status: "nothing found"; of a violation "confirmed" or "verified".
        sampled: whether sides are means over 64 sampled outcomes of the noise, not over all.
        case: the case's parameters that are not their defaults, by part.
        seconds: of work on one core, of the search that met it.
        evaluations: candidates that it looked at.
        seed: of that search, and of the judge's draws.
    """

    ratio: float | None
    status: str
    sampled: bool
    case: Mapping[str, Any]
    seconds: float
    evaluations: int
    seed: int

    @property
    def found(self) -> bool:
        """Whether it is a violation."""
        return self.status in FOUND

    @property
    def told(self) -> str:
        """What a reader should know, in a sentence or two."""
        met = f"left / right = {tightness(self.ratio)}"
        if self.sampled:
            met += ", a mean over 64 sampled outcomes"
        effort = f"a search of {number(self.seconds, 2)} s, {self.evaluations:,} candidates"
        if self.found:
            return f"Violation that a search found: {met} ({effort}; {self.status} by the judge)."
        return (
            f"Tightest case that a search met: {met} ({effort}; no proof that nothing is tighter)."
        )


Record = dict[str, dict[str, Searched]]
"""claim → form and reading → what searches met."""


def tightness(ratio: float | None) -> str:
    """Return a ratio in words.

    >>> tightness(0.98234), tightness(1 - 1e-9), tightness(None)
    ('0.9823', '1, met', '∞')
    """
    if ratio is None:
        return "∞"
    return "1, met" if -BELOW < ratio - 1 < ABOVE else number(ratio)


FILE = "searched.json"


def read() -> Record:
    """Return what searches on record met."""
    return {
        claim: {form: Searched(**entry) for form, entry in forms.items()}
        for claim, forms in read_files(FILE).items()
    }


def write(recorded: Record) -> None:
    """Write the files."""
    write_files(
        FILE,
        {
            claim: {form: asdict(entry) for form, entry in forms.items()}
            for claim, forms in recorded.items()
        },
    )


def remade(parameters: Mapping[str, Any]) -> Case | None:
    """Return the case of which parameters are on record (None: there is no such case any more)."""
    try:
        return case_of(parameters)
    except (DriftproofError, KeyError, TypeError):
        return None


def shown(claim: str) -> dict[str, dict[str, Any]]:
    """Return what ``show`` and the page say of each form: a sentence, and the case as Python.

    Of a case that cannot be made any more, nothing is said.
    """
    said = {}
    entries = on_record().get(claim, {})
    refuted = refuted_on_record() if entries else ()
    for form, entry in entries.items():
        further = not entry.found and (claim, form) in refuted
        told = (
            f"{entry.told} Cases on record go further: they refute it." if further else entry.told
        )
        case = remade(entry.case)
        if case is not None:
            said[form] = asdict(entry) | {"told": told, "python": pasted(case)}
    return said


@cache
def on_record() -> Record:
    """Return what ``read`` does, read once."""
    return read()
