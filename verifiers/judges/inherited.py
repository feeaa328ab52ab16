"""Takes back the support of a rate whose bound is not supported: it is worth what its bound is."""

from collections.abc import Sequence

from driftproof.toolkit.verdict import Row, Verdict, overall, together
from driftproof.verifiers import baseline
from driftproof.verifiers.judges.decide import withdrawn


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
    return withdrawn(row, reason)


def verdict_of(name: str, key: str, rows: Sequence[Row]) -> Verdict | None:
    """Return the verdict of a claim's form, in these rows or else on record (None: neither)."""
    judged = [row for row in rows if row.claim == name and row.form_key == key]
    recorded = baseline.read().get(name, {}).get(key, {})
    if not recorded:
        return overall(judged) if judged else None
    # a shorter profile judges a few of the cases: the others' verdicts are those on record
    known = recorded | {row.case["key"]: row.verdict for row in judged}
    return together(map(Verdict, known.values()))
