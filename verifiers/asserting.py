"""``assert_claim``: a claim as a test of a user's own suite."""

from __future__ import annotations

from toolkit.claims import Claim
from toolkit.verdict import Verdict
from verifiers.jobs import Source
from verifiers.verify import Settings, judge


def assert_claim(claim: Claim, *, profile: str = "quick", seed: int = 0) -> None:
    """Raise AssertionError, with the verdicts as a table, unless the claim holds on every case.

    Every form (printed and corrected) has to be SUPPORTED on each case that it applies to, and on
    one case without being vacuous. Runs in this process, on one thread.

    Args:
        claim: what ``@claim`` made.
        profile: "smoke", "quick" or "full".
        seed: of every draw.
    """
    from toolkit.report.page import grouped, number

    sources: list[Source] = [claim]
    rows = judge(sources, Settings(profile=profile, seed=seed))
    groups = [group for members in grouped(rows).values() for group in members]
    bad = [group for group in groups if group.verdict is not Verdict.SUPPORTED]
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
