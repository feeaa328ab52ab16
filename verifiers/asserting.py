"""Claims judged from Python: ``verify`` returns the rows, ``assert_claim`` is a test of a suite."""

from __future__ import annotations

from typing import Any

from toolkit.report.page import number
from toolkit.verdict import Row
from verifiers.claim_types.claim import Claim
from verifiers.record import unsound
from verifiers.running.jobs import Source
from verifiers.verify import Settings, judge, select


def verify(*claims: Claim[Any] | str, profile: str = "quick", seed: int = 0) -> list[Row]:
    """Judge claims and return a row for each form of a statement on each case.

    Runs in this process, on one thread, and writes no page; the command does both.

    Args:
        claims: what the decorators made, or names, globs and files as the command takes them.
        profile: "smoke", "quick" or "full".
        seed: of every draw.

    Raises:
        DriftproofError: a name that there is not, or a claim that cannot be judged.
    """
    sources: list[Source] = []
    for claim in claims:
        sources += select([claim]) if isinstance(claim, str) else [claim]
    return judge(sources, Settings(profile=profile, seed=seed))


def assert_claim(claim: Claim[Any], *, profile: str = "quick", seed: int = 0) -> None:
    """Raise AssertionError, with the verdicts as a table, unless the claim holds on every case.

    The print (in the best of its literal and intended readings) and the corrected form have to be
    SUPPORTED on each case that they apply to, and on one case without being vacuous. Runs in this
    process, on one thread.

    Args:
        claim: claims, as their decorators made them.
        profile: "smoke", "quick" or "full".
        seed: of every draw.
    """
    bad = unsound(verify(claim, profile=profile, seed=seed))
    if not bad:
        return
    lines = [f"{claim.name} does not hold as stated:"]
    for group in bad:
        named = group.rows[0].form_key
        lines.append(f"  {named}: {group.verdict}")
        for row in group.rows:
            sides = f"left {number((row.lhs or {}).get('mean'))}, right {number(row.rhs)}"
            lines.append(f"    {row.verdict:<12} {sides}  {row.case['label']}  {row.reason}")
    raise AssertionError("\n".join(lines))
