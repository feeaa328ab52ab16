"""Controls: the checks must refuse what is false, and must not refuse what is true."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from toolkit.report.page import grouped
from toolkit.verdict import Row, Verdict
from verifiers import record
from verifiers.verify import Settings, judge, select


@dataclass(frozen=True)
class Check:
    """One control and what became of it.

    Attributes:
        control: the false sibling, or the form of the claim itself.
        good: a sibling was REFUTED; the claim's own form was not, unless it is on record as false.
    """

    claim: str
    control: str
    verdict: str
    good: bool


def check(
    patterns: Sequence[str],
    *,
    seed: int,
    workers: int,
    started: Callable[[int], None] = lambda total: None,
    ended: Callable[[str], None] = lambda claim: None,
) -> list[Check]:
    """Judge the false siblings of the selected claims beside their own forms."""
    settings = Settings(seed=seed, workers=workers, siblings=True)
    return checked(judge(select(patterns), settings, started=started, ended=ended))


def checked(rows: Sequence[Row]) -> list[Check]:
    """Return the controls that some rows, with siblings among them, come to."""
    recorded, checks = record.read(), []
    for claim, groups in grouped(rows).items():
        for group in groups:
            verdict = group.verdict
            if group.form == "sibling":
                name, good = f"false: {group.reading}", verdict is Verdict.REFUTED
            else:
                name = group.rows[0].form_key
                known = recorded.get(claim, {}).get(name, {}).values()
                good = verdict is not Verdict.REFUTED or Verdict.REFUTED in known
            checks.append(Check(claim, name, str(verdict), good))
    return checks
