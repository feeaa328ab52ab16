"""Errata: statements on record that do not hold as printed, by severity."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from driftproof.toolkit.discover import leaves
from driftproof.toolkit.groups import statements as printed
from driftproof.toolkit.readings import ReadingKind
from driftproof.toolkit.statements import ReadingVerdict, Statement, statement, worst_first
from driftproof.toolkit.verdict import Row, Verdict, together
from driftproof.verifiers import record
from driftproof.verifiers.claim_types.claim import Claim

PUBLISHED = "literature/"
"""Statements whose errors others have published: none of them is a finding of ours."""


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
    told["weakly_tested"] = claim.asymptotic and claim.prove is None
    told["published"] = claim.name.startswith(PUBLISHED)
    return statement(claim.name, readings, erratum, **told)


def of_papers() -> list[Statement]:
    """Return the printed statements but those whose errors others have published."""
    return [one for one in statements() if not one.published]


def errata() -> list[dict[str, Any]]:
    """Return the papers' statements that have an erratum, worst first, with what holds instead."""
    recorded = record.read()
    return [
        _entry(one, leaves("claim")[one.claim].load(), recorded[one.claim].get("corrected", {}))
        for one in worst_first(of_papers())
    ]


def of_run(
    claims: Iterable[Claim[Any]], head: Mapping[str, Any], rows: Sequence[Row]
) -> list[dict[str, Any]]:
    """Return the same of a run on one's own claims; a refuted print counts without an erratum."""
    known = {claim.name: claim for claim in claims}
    corrected: dict[str, dict[str, str]] = {}
    for row in rows:
        if row.form == "corrected":
            corrected.setdefault(row.claim, {})[row.case["key"]] = row.verdict
    judged = printed(head, rows)
    refuted = [s for s in judged if s.severity is None and s.verdict is Verdict.REFUTED]
    return [
        _entry(one, known[one.claim], corrected.get(one.claim, {}))
        for one in [*refuted, *worst_first(judged)]
    ]


def _entry(one: Statement, claim: Claim[Any], corrected: Mapping[str, str]) -> dict[str, Any]:
    return one.public() | {
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
