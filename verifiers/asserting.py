"""Claims judged in a test suite: two functions that raise AssertionError."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from driftproof.toolkit.case_text import expression, repetition
from driftproof.toolkit.cases import Case
from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.groups import Group, clearest, grouped, number
from driftproof.toolkit.statements import ReadingVerdict, verdict_on
from driftproof.toolkit.verdict import Verdict
from driftproof.verifiers.baseline import unsound
from driftproof.verifiers.claim_types.claim import Claim, Form
from driftproof.verifiers.judges.decide import settled
from driftproof.verifiers.search.finding import FAILED, Finding, remade
from driftproof.verifiers.search.search import Effort, falsify
from driftproof.verifiers.verify import Settings, judge

FRESH = 2**32
"""Added to a seed, it gives the draws of the second test that a sampled refutation has to pass."""


def assert_claim(
    claim: Claim[Any], *, profile: str = "quick", seed: int = 0, search: float = 0.0
) -> None:
    """Raise AssertionError, with the verdicts as a table, unless the claim holds on every case.

    The print (in the best of its literal and intended readings) and the corrected form have to be
    SUPPORTED on each case that they apply to, and on one case without being vacuous. Runs in this
    process, on one thread.

    Args:
        claim: a claim, as its decorator made it.
        profile: "smoke", "quick" or "full".
        seed: of every draw.
        search: for how many seconds a bound or a comparison is searched for a counterexample
            after that, all its forms together. What is found is confirmed by the judge.
    """
    __tracebackhide__ = True  # pytest shows the test's line, not ours
    wrong = failure(claim, profile=profile, seed=seed, search=search)
    if wrong:
        raise AssertionError(wrong)


def assert_holds(claim: Claim[Any], case: Case, *, profile: str = "quick", seed: int = 0) -> None:
    """Raise AssertionError if a claim is refuted on one case, with both sides and how to repeat it.

    Exact where the noise can be enumerated. Elsewhere a refutation has to be found twice, each
    time at level 10⁻⁵ and the second time from fresh draws: a true claim fails with probability
    10⁻¹⁰ at most, so that a test of 100,000 cases keeps to 10⁻⁵. A case on which nothing was
    established passes.

    Args:
        claim: a bound or a comparison.
        case: what it is judged on, whatever its own cases are.
        profile: how many replicates may be sampled, "smoke", "quick" or "full".
        seed: of every draw.

    Raises:
        DriftproofError: the claim is a rate or a proof, or the case is outside its assumptions.
    """
    __tracebackhide__ = True
    _check_one("claim", claim, Claim)
    _check_one("case", case, Case)
    if claim.asymptotic or not claim.judged_on:
        raise DriftproofError(
            f"claim {claim.name}, a {claim.way}, on one case",
            "a @bound or a @comparison",
            "assert_claim judges rates and proofs",
        )
    alone = _admissible(claim).on(case)
    groups = grouped(judge([alone], Settings(profile=profile, seed=seed)))[claim.name]
    if all(group.verdict is Verdict.INAPPLICABLE for group in groups):
        raise DriftproofError(
            f"{claim.name} on {case}: {groups[0].reason}",
            "a case inside the assumptions, with constants that hold",
            "change the case; driftproof.strategies.instances draws such cases",
        )
    bad = _refuted(groups)
    if any(row.evidence and row.evidence.by_chance for group in bad for row in group.rows):
        again = grouped(judge([alone], Settings(profile=profile, seed=seed + FRESH)))[claim.name]
        bad = _refuted(again)
    if bad:
        lines = [
            f"{claim.name} is REFUTED on {expression(case)}",
            *_table(bad),
            *_repeated(claim, case),
        ]
        raise AssertionError("\n".join(lines))


def _check_one(what: str, given: object, kind: type) -> None:
    if not isinstance(given, kind):
        raise DriftproofError(
            f"{given!r:.60} as the {what}",
            f"one {what}",
            f"pass them one after the other: for {what} in {what}s, say",
        )


def failure(claim: Claim[Any], *, profile: str, seed: int, search: float) -> str:
    """Return in words why a claim does not hold: on its cases, or on one that a search found.

    Returns:
        "" if it holds on its cases and the search has found nothing.
    """
    _check_one("claim", claim, Claim)
    bad = unsound(judge([claim], Settings(profile=profile, seed=seed)))
    if bad:
        lines = [f"{claim.name} does not hold as stated:", *_table(bad)]
        refuted = (clearest(r for r in g.rows if r.verdict is Verdict.REFUTED) for g in bad)
        keys = [r.case["key"] for rows in refuted for r in rows]
        cases = {case.key: case for case in claim.cases_for(profile)}
        worst = next((cases[key] for key in keys if key in cases), None)
        return "\n".join(lines + (_repeated(claim, worst) if worst is not None else []))
    if search <= 0 or claim.is_existence:
        return ""  # a construction that fails does not refute that there is one
    return _searched(claim, seed, search)


def _searched(claim: Claim[Any], seed: int, seconds: float) -> str:
    """Return the counterexample that a search finds in so many seconds, in words ("": none)."""
    own = _admissible(claim)
    forms = {form.key: form for form in own.forms if form.form != "sibling"}
    effort = Effort(seconds=seconds / max(1, len(forms)), seed=seed, controls=False)
    findings = falsify([own], effort)
    for finding in findings:
        if finding.status == FAILED:
            raise DriftproofError(
                f"the search of {claim.name}, {finding.form}: {finding.reason}",
                "a claim whose functions return on whatever case meets the assumptions",
                "mend that, or assume what they need",
            )
    printed = {f.form: forms[f.form] for f in findings if forms[f.form].form == "printed"}
    decided = [_as_reading(f, printed[f.form]) for f in findings if f.form in printed]
    false_print = bool(decided) and verdict_on(decided) is Verdict.REFUTED
    bad = [f for f in findings if f.found and (false_print or f.form not in printed)]
    if not bad:
        return ""
    lines = [f"{claim.name} does not hold as stated: a search refuted it"]
    for finding in bad:
        sides = f"left {number((finding.lhs or {}).get('mean'))}, right {number(finding.rhs)}"
        lines.append(f"  {finding.form}: REFUTED, {finding.status}, {finding.evidence}")
        lines.append(f"    {sides}  {finding.label}  {finding.reason}")
    return "\n".join(lines + _repeated(claim, remade(bad[0], claim)))


def _as_reading(finding: Finding, form: Form) -> ReadingVerdict:
    decision = settled(False if finding.found else None)
    return ReadingVerdict(form.reading, str(form.reading_kind), form.part, decision.verdict)


def _admissible(claim: Claim[Any]) -> Claim[Any]:
    """Return a claim without the readings that decide nothing, and without false siblings."""
    readings = {
        name: stated
        for name, stated in claim.readings.items()
        if stated.reading_kind is not None and stated.reading_kind.admissible
    }
    return replace(claim, readings=readings, false_siblings=())


def _refuted(groups: Sequence[Group]) -> list[Group]:
    """Return the forms by which a claim is refuted: a print's, if no fair reading of it is not."""
    printed = [group for group in groups if group.form == "printed"]
    false_print = bool(printed) and verdict_on(g.as_reading for g in printed) is Verdict.REFUTED
    return [
        group
        for group in groups
        if group.verdict is Verdict.REFUTED and (false_print or group.form != "printed")
    ]


def _table(groups: Sequence[Group]) -> list[str]:
    """Return a line for each form and for each of its cases."""
    lines = []
    for group in groups:
        lines.append(f"  {group.title}: {group.verdict}")
        for row in group.rows:
            sides = f"left {number((row.lhs or {}).get('mean'))}, right {number(row.rhs)}"
            lines.append(f"    {row.verdict:<12} {sides}  {row.case['label']}  {row.reason}")
    return lines


def _repeated(claim: Claim[Any], case: Case) -> list[str]:
    """Return how to repeat a case in Python, where the claim is a function of one."""
    function = getattr(claim, "left", None) or getattr(claim, "compare", None)
    if function is None:
        return []
    return ["to repeat it:", *(f"    {line}" for line in repetition(function, case))]
