"""The right sides of a claim as formulas."""

from __future__ import annotations

from typing import Any

from driftproof.toolkit.constants import Expression, Letters, expressed
from driftproof.verifiers.claim_types.bound import BoundClaim
from driftproof.verifiers.claim_types.claim import Claim, Form


def right_sides_of(claim: Claim[Any]) -> list[tuple[Form, Expression]]:
    """Return the forms whose right side is a formula that something is bounded by, with it.

    Those of a bound, or of a comparison that is one. What an identity, a proof or a rate compares
    with is none.

    Raises:
        DriftproofError: a right side returns no formula.
    """
    if not (isinstance(claim, BoundClaim) or claim.kind == "bound") or not claim.judged_on:
        return []
    letters = Letters(claim.notation(claim.judged_on[0]))
    forms = (form for form in claim.forms if form.form != "sibling" and callable(form.right))
    return [(form, expressed(form.right, letters)) for form in forms]
