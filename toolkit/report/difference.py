"""What changed between two verifications: verdicts, rows that came or went, tightness."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from driftproof.toolkit.groups import number
from driftproof.toolkit.report.page import document
from driftproof.toolkit.verdict import tightness

MOVED = 0.01
"""Relative change of left/right that is worth a line."""
ORDER = ("verdict", "only in the first", "only in the second", "tightness")


@dataclass(frozen=True)
class Change:
    """One row that differs.

    Attributes:
        what: one of ORDER.
        before, after: a verdict, or left/right; a dash where there is no row.
    """

    claim: str
    form: str
    case: str
    what: str
    before: str
    after: str


def difference(
    before: Sequence[Mapping[str, Any]], after: Sequence[Mapping[str, Any]]
) -> list[Change]:
    """Return the changes from one run's rows (as a ledger holds them) to another's."""
    first, second = ({_identity(row): row for row in rows} for rows in (before, after))
    changes = []
    for key in dict.fromkeys([*first, *second]):
        one, two = first.get(key), second.get(key)
        shown = one or two
        assert shown is not None
        form = shown["form"] + (f": {shown['reading']}" if shown["reading"] else "")
        where = (shown["claim"], form, shown["case"]["label"])
        if one is None or two is None:
            what = ORDER[2] if one is None else ORDER[1]
            changes.append(Change(*where, what, *(r["verdict"] if r else "–" for r in (one, two))))
        elif one["verdict"] != two["verdict"]:
            changes.append(Change(*where, ORDER[0], one["verdict"], two["verdict"]))
        elif _moved(_ratio(one), _ratio(two)):
            changes.append(Change(*where, ORDER[3], number(_ratio(one)), number(_ratio(two))))
    return sorted(changes, key=lambda change: ORDER.index(change.what))


def render_difference(
    folders: tuple[str, str], heads: tuple[Mapping[str, Any], ...], changes: Sequence[Change]
) -> str:
    """Return the page of a difference."""
    rows = [asdict(change) for change in changes]
    return document("difference.html.j2", head=heads[1], heads=heads, folders=folders, rows=rows)


def _identity(row: Mapping[str, Any]) -> tuple[str, ...]:
    return (row["claim"], row["form"], row["reading"], row["case"]["key"])


def _ratio(row: Mapping[str, Any]) -> float | None:
    return tightness((row["lhs"] or {}).get("mean"), row["rhs"])


def _moved(one: float | None, two: float | None) -> bool:
    if one is None or two is None:
        return one is not two
    return abs(one - two) > MOVED * max(abs(one), abs(two))
