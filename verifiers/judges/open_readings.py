"""Says what is known of a reading that nothing decides, and what would decide it."""

from typing import Any

from driftproof.toolkit.readings import Undecided
from driftproof.verifiers.claim_types.claim import Claim, Form
from driftproof.verifiers.judges.decide import undecided
from driftproof.verifiers.judges.judge import ClaimTask, Group, Judge, Tasks
from driftproof.verifiers.judges.rows import row_of


class OpenReadings(Judge):
    """Judges what is left open."""

    def takes(self, claim: Claim[Any], form: Form) -> bool:
        """Return whether it is left open."""
        return isinstance(form.right, Undecided)

    def numbers(self, claim: Claim[Any], profile: str) -> None:
        """Return that it needs no case."""

    def rows(self, claim: Claim[Any], group: Group, ask: ClaimTask, profile: str) -> Tasks:
        """Return what is known."""
        yield []
        form, case = claim.forms[group.forms[0]], {"key": "open", "label": "for all choices"}
        return [row_of(claim, form, case, undecided(), None, str(form.right))]


JUDGE = OpenReadings()
