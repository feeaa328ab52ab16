r"""Derived rates: one that follows from a bound is worth what the bound's own verdict is worth.

A rate names the claim and the form that it is derived from. The right side is taken from that
form, never copied; and the rate's symbolic row is SUPPORTED only if the form is, in the same run
or on record.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from driftproof.toolkit.discover import leaves
from driftproof.toolkit.errors import DriftproofError, unknown_name
from driftproof.toolkit.verdict import Row, Verdict, form_key, overall, together
from driftproof.verifiers import record
from driftproof.verifiers.claim_types.claim import Claim


@dataclass(frozen=True)
class Derived:
    """The form of a claim that a rate is derived from.

    Attributes:
        claim: its name, or, for a claim in the same file, the claim itself.
        form: "printed" or "corrected".
        reading: of a printed form that is read in more than one way.
    """

    claim: str | Claim[Any]
    form: str = "corrected"
    reading: str = ""

    def __str__(self) -> str:
        return f"{self.name} ({self.key})"

    @property
    def name(self) -> str:
        """The claim's name."""
        return self.claim if isinstance(self.claim, str) else self.claim.name

    @property
    def key(self) -> str:
        """The form's key in the record."""
        return form_key(self.form, self.reading)

    @property
    def stated(self) -> Claim[Any]:
        """The claim."""
        known = leaves("claim")
        if not isinstance(self.claim, str):
            if self.name in known and known[self.name].load() is not self.claim:
                raise DriftproofError(
                    f"a claim of its own called {self.name}, which a rate is derived from",
                    "a name that driftproof's own claims do not have",
                    "rename it, so that it gets a verdict of its own",
                )
            return self.claim
        if self.claim not in known:
            raise unknown_name("claim", self.claim, known)
        claim: Claim[Any] = known[self.claim].load()
        return claim

    @property
    def right(self) -> Callable[[Any], Any]:
        """The form's right side itself."""
        claim = self.stated
        for form in claim.forms:
            if form.key == self.key and callable(form.right):
                right: Callable[[Any], Any] = form.right
                return right
        raise DriftproofError(
            f"a rate derived from {self}",
            f"a form of {self.name} with a right side in letters: "
            + ", ".join(form.key for form in claim.forms if form.form != "sibling"),
            "name one of them in Derived(claim, form, reading)",
        )

    @property
    def letters(self) -> Mapping[str, str]:
        """Letters that the claim itself adds to the notation."""
        return self.stated.letters

    def public(self) -> dict[str, str]:
        """Return what a row keeps of it."""
        return {"claim": self.name, "form": self.key}


def inherit(rows: Sequence[Row]) -> list[Row]:
    """Take back the support of a derived rate whose bound is not SUPPORTED itself.

    The bound's verdict is that of the same run, or else the one on record.
    """
    return [_inherited(row, rows) if "derived" in row.case else row for row in rows]


def _inherited(row: Row, rows: Sequence[Row]) -> Row:
    name, key = row.case["derived"]["claim"], row.case["derived"]["form"]
    verdict = verdict_of(name, key, rows)
    if row.verdict is not Verdict.SUPPORTED or verdict is Verdict.SUPPORTED:
        return row
    standing = "has no verdict, in this run or on record" if verdict is None else f"is {verdict}"
    reason = (
        f"derived from {name} ({key}), which {standing}: a rate is worth what its bound is worth"
    )
    return replace(row, verdict=Verdict.INCONCLUSIVE, evidence=None, reason=reason)


def verdict_of(name: str, key: str, rows: Sequence[Row]) -> Verdict | None:
    """Return the verdict of a claim's form, in these rows or else on record (None: neither)."""
    judged = [row for row in rows if row.claim == name and row.form_key == key]
    recorded = record.read().get(name, {}).get(key, {})
    if not recorded:
        return overall(judged) if judged else None
    # a shorter profile judges a few of the cases: the others' verdicts are those on record
    known = recorded | {row.case["key"]: row.verdict for row in judged}
    return together(map(Verdict, known.values()))
