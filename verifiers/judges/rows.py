"""Rows of results, made from a claim's form and a case."""

from collections.abc import Mapping
from typing import Any

from driftproof.toolkit.cases import Case
from driftproof.toolkit.verdict import Evidence, Row, Verdict
from driftproof.verifiers.claim_types.claim import Claim, Form
from driftproof.verifiers.judges.decide import Decision


def row_of(
    claim: Claim[Any],
    form: Form,
    case: Mapping[str, Any],
    decision: Decision,
    evidence: Evidence | None = None,
    reason: str = "",
    **facts: Any,
) -> Row:
    """Return a row of one form; what was not decided has no evidence."""
    decided = decision.verdict in (Verdict.SUPPORTED, Verdict.REFUTED)
    facts = {"attained": decision.attained, "vacuous": decision.vacuous} | facts
    return Row(
        claim=claim.name,
        form=form.form,
        edition=form.edition,
        reading=form.reading,
        reading_kind=form.reading_kind,
        part=form.part,
        kind=claim.kind,
        case=case,
        verdict=decision.verdict,
        evidence=evidence if decided else None,
        reason=reason,
        **facts,
    )


def case_entry(case: Case) -> dict[str, Any]:
    """Return a case as a row holds it: a key, a label, and every parameter."""
    return {"key": case.key, "label": str(case), **case.parameters()}
