"""Claims with the verdicts on record, and errata: statements that do not hold as printed."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from driftproof.toolkit.discover import Leaf, leaves
from driftproof.toolkit.readings import Undecided
from driftproof.toolkit.report.claim_view import ClaimView, views
from driftproof.toolkit.statements import Statement, worst_first
from driftproof.toolkit.verdict import Evidence, Row, Verdict
from driftproof.verifiers import baseline
from driftproof.verifiers.claim_types.claim import Claim
from driftproof.verifiers.in_print.entry import claim_entry
from driftproof.verifiers.in_print.formulas import as_written
from driftproof.verifiers.judges.decide import Decision
from driftproof.verifiers.judges.rows import row_of

EVIDENCE = {"proof": Evidence.SYMBOLIC, "schedule": Evidence.SYMBOLIC, "slope": Evidence.ASYMPTOTIC}
"""What the record's keys that are no cases say of how a verdict was come to."""


@cache
def on_record() -> dict[str, ClaimView]:
    """Return every claim of driftproof's papers by name, with the verdicts on record."""
    return viewed(leaves("claim"))


def viewed(known: Mapping[str, Leaf]) -> dict[str, ClaimView]:
    """Return claims with the verdicts on record; ours with their right sides as they were written.

    Those of a user's file may be functions that do not go through without sympy's evaluation.
    """
    recorded = baseline.read()
    head: dict[str, Any] = {"claims": {name: claim_entry(leaf) for name, leaf in known.items()}}
    for name, entry in head["claims"].items():
        if known[name].module is not None:
            entry["forms"] |= as_written(known[name].load())
    rows = (_rows(leaf.load(), recorded.get(name, {})) for name, leaf in known.items())
    return views(head, [row for of_claim in rows for row in of_claim])


def _rows(claim: Claim[Any], recorded: Mapping[str, Mapping[str, str]]) -> Iterator[Row]:
    """Yield the rows of which the record keeps the verdicts; their sides it does not keep."""
    for form in claim.forms:
        cases = recorded.get(form.key, {})
        # only a hypothesis that nothing meets leaves a whole printed form without a case
        empty = form.form == "printed" and {*cases.values()} == {Verdict.INAPPLICABLE}
        wanted = f"to decide it: {form.right.by}" if isinstance(form.right, Undecided) else ""
        for key, verdict in cases.items():
            yield row_of(
                claim,
                form,
                {"key": key},
                Decision(Verdict(verdict)),
                EVIDENCE.get(key),
                wanted,
                empty_hypothesis=empty,
            )


def statements() -> list[Statement]:
    """Return every printed statement with the verdict that is on record."""
    return [one.printed for one in on_record().values() if one.printed is not None]


def of_papers() -> list[Statement]:
    """Return the printed statements but those whose errors others have published."""
    return [one for one in statements() if not one.published]


def errata() -> list[dict[str, Any]]:
    """Return the papers' statements that have an erratum, worst first, with what holds instead."""
    return _entries(worst_first(of_papers()), on_record())


def of_run(head: Mapping[str, Any], rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Return the same of a run on one's own claims; a refuted print counts without an erratum."""
    claims = views(head, rows)
    printed = [one.printed for one in claims.values() if one.printed is not None]
    refuted = [one for one in printed if one.severity is None and one.verdict is Verdict.REFUTED]
    return _entries([*refuted, *worst_first(printed)], claims)


def _entries(found: Iterable[Statement], claims: Mapping[str, ClaimView]) -> list[dict[str, Any]]:
    entries = []
    for one in found:
        claim = claims[one.claim]
        mended = claim.corrected
        entries.append(
            one.public()
            | {
                "source": claim.about["source"],
                "finding": claim.about["explain"],
                "restricted": mended.deciding.part if mended else "",
                "corrected": str(mended.verdict) if mended else None,
                "holds": claim.holds,
            }
        )
    return entries
