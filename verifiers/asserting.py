"""``assert_claim``: a claim as a test of a user's own suite."""

from __future__ import annotations

from typing import Any

from verifiers.claim_types.claim import Claim
from verifiers.jobs import Source
from verifiers.record import unsound
from verifiers.verify import Settings, judge


def assert_claim(claim: Claim[Any], *, profile: str = "quick", seed: int = 0) -> None:
    """Raise AssertionError, with the verdicts as a table, unless the claim holds on every case.

    The print (in the best of its literal and intended readings) and the corrected form have to be
    SUPPORTED on each case that they apply to, and on one case without being vacuous. Runs in this
    process, on one thread.

    Args:
        claim: what ``@claim`` made.
        profile: "smoke", "quick" or "full".
        seed: of every draw.
    """
    from toolkit.report.page import number

    sources: list[Source] = [claim]
    rows = judge(sources, Settings(profile=profile, seed=seed))
    bad = unsound(rows)
    if not bad:
        return
    lines = [f"{claim.name} does not hold as stated:"]
    for group in bad:
        named = f"{group.form}: {group.reading}" if group.reading else group.form
        lines.append(f"  {named}: {group.verdict}")
        for row in group.rows:
            sides = f"left {number((row.lhs or {}).get('mean'))}, right {number(row.rhs)}"
            lines.append(f"    {row.verdict:<12} {sides}  {row.case['label']}  {row.reason}")
    raise AssertionError("\n".join(lines))
