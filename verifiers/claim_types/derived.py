r"""Derived rates: one that follows from a bound is worth what the bound's own verdict is worth.

A rate names the claim and the form that it is derived from. The right side is taken from that
form, never copied; and the rate's symbolic row is SUPPORTED only if the form is, in the same run
or on record (``judges.inherited``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from driftproof.toolkit.discover import leaves
from driftproof.toolkit.errors import DriftproofError, unknown_name
from driftproof.toolkit.verdict import form_key
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
