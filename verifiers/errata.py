"""Errata: statements on record that do not hold as printed, by severity."""

from __future__ import annotations

from typing import Any

from driftproof.toolkit.discover import leaves
from driftproof.toolkit.readings import ReadingKind
from driftproof.toolkit.statements import ReadingVerdict, Statement, statement, worst_first
from driftproof.toolkit.verdict import Verdict, together
from driftproof.verifiers import record
from driftproof.verifiers.claim_types.claim import Claim


def statements() -> list[Statement]:
    """Return every printed statement with the verdict that is on record."""
    recorded = record.read()
    judged = [
        _statement(leaf.load(), recorded.get(name, {})) for name, leaf in leaves("claim").items()
    ]
    return [one for one in judged if one is not None]


def _statement(claim: Claim[Any], forms: dict[str, dict[str, str]]) -> Statement | None:
    readings = []
    for form in claim.forms:
        verdicts = [Verdict(verdict) for verdict in forms.get(form.key, {}).values()]
        if form.form == "printed" and verdicts:
            kind = form.reading_kind or ReadingKind.LITERAL
            # only a hypothesis that nothing meets leaves a whole printed form without a case
            empty = set(verdicts) == {Verdict.INAPPLICABLE}
            readings.append(
                ReadingVerdict(form.reading, kind, form.part, together(verdicts), empty)
            )
    erratum = None if claim.erratum is None else vars(claim.erratum)
    told = {"sentence": claim.sentence, "display": claim.display}
    return statement(claim.name, readings, erratum, **told)


def errata() -> list[dict[str, Any]]:
    """Return the statements that have an erratum, worst first, with what holds instead."""
    entries = []
    for one in worst_first(statements()):
        claim: Claim[Any] = leaves("claim")[one.claim].load()
        corrected = record.read().get(one.claim, {}).get("corrected", {})
        entries.append(
            one.public()
            | {
                "source": claim.source,
                "finding": claim.explain,
                "restricted": next((f.part for f in claim.forms if f.form == "corrected"), ""),
                "corrected": str(together(map(Verdict, corrected.values()))) if corrected else None,
                "holds": [
                    reading.reading
                    for reading in one.readings
                    if reading.admissible and reading.verdict is Verdict.SUPPORTED
                ],
            }
        )
    return entries
