"""Judges identities and bounds by certified optima, whose enclosures do not rest on a solver."""

import time
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from math import inf, isinf, isnan, log
from typing import Any, Literal

import numpy as np

from driftproof.synthetic.certificates.penalised import inner_maximum
from driftproof.toolkit.cases import Case, roles_of
from driftproof.toolkit.series import Compared
from driftproof.toolkit.tolerances import Tolerance
from driftproof.toolkit.verdict import Evidence, Row, Verdict
from driftproof.verifiers.claim_types.claim import Form
from driftproof.verifiers.claim_types.compared import Comparison
from driftproof.verifiers.claim_types.comparison import ComparisonClaim
from driftproof.verifiers.judges.decide import Comparisons, Decision, Interval, decide, undecided
from driftproof.verifiers.judges.evidence import instance
from driftproof.verifiers.judges.judge import ClaimTask, Judge, pack_rows
from driftproof.verifiers.judges.rows import case_entry, row_of
from driftproof.verifiers.judges.scores import ratio


def maximum_over_simplex(
    losses: np.ndarray, temperature: float, mass: float = 1.0
) -> tuple[float, float]:
    """Return an enclosure of max Σ r_i f_i − γ Σ r_i log(n r_i) over r ≥ 0 with Σ r_i = mass."""
    if mass == 0:  # r = 0 alone
        return 0.0, 0.0
    low, high = inner_maximum(losses, temperature, "kl")  # of r/mass
    less = temperature * log(mass)
    return mass * (low - less), mass * (high - less)


def judge(
    claim: ComparisonClaim[Any], case: Case, form: Form, comparisons: Sequence[Comparison]
) -> Row:
    """Return the row of an identity or a bound on one case; the worst comparison is shown."""
    row = partial(row_of, claim, form, case_entry(case))
    if not comparisons:
        reason = "compare(case, right) returned no comparison: nothing was compared"
        return row(undecided(), None, reason)
    if claim.counts:
        comparisons = [replace(c, count=True) for c in comparisons]
    bound = claim.bounds
    decision = decided(comparisons, "<=" if bound else "==")
    assert decision.worst is not None
    shown = comparisons[decision.worst]
    sides = f"[{shown.low:.10g}, {shown.high:.10g}]"
    if decision.verdict is Verdict.SUPPORTED:
        reason = ""
    elif decision.verdict is Verdict.REFUTED and bound:
        reason = f"{shown.what}: left ≥ {shown.low:.10g} exceeds right = {shown.value:.10g}"
    elif decision.verdict is Verdict.REFUTED:
        reason = f"{shown.what}: the right side, {shown.value:.10g}, lies outside the certified "
        reason += f"left side {sides}"
    elif shown.unmeasured:
        reason = shown.unmeasured
    elif bound:
        reason = f"{shown.what}: the right side, {shown.value:.10g}, lies within the certified "
        reason += f"left side {sides}"
    elif isinf(shown.value):
        reason = f"{shown.what}: the right side is infinite, and so may the left be"
    else:
        reason = f"{shown.what}: the certificate is too wide, {shown.high - shown.low:.3g}"
    facts = _facts(claim, case, comparisons, shown, bound=bound)
    return row(decision, Evidence.ENCLOSED if bound else Evidence.EXACT, reason, **facts)


def decided(comparisons: Sequence[Comparison], relation: Literal["<=", "=="]) -> Decision:
    """Return what comparisons say together; one that cannot be measured says nothing."""
    ends = [(-inf, inf) if c.unmeasured else (c.low, c.high) for c in comparisons]
    low, high = np.array(ends).T
    value = np.array([0.0 if isnan(c.value) else c.value for c in comparisons])
    tolerance = Tolerance(*np.array([c.tolerance.both for c in comparisons]).T)
    size = np.array([c.size for c in comparisons])
    made = Comparisons(
        Interval(low, high), Interval(value, value), size, zero=value == 0, relation=relation
    )
    return decide(made, tolerance)


CLEARLY = 1e3
"""How many times what counts as equal two computed sides must be apart (1e-3 of their size).

Far from the cases that a claim was written for, its own arithmetic may lose digits.
"""


def compared(claim: ComparisonClaim[Any], task: ClaimTask) -> bytes:
    """Do the task of computing both sides on a case, and of judging them."""
    case, form = task.of(claim)
    return pack_rows([judge(claim, case, form, claim.compared(case, form.right))])


class Computed(Judge):
    """Judges by both sides, which the claim's own function computes."""

    task = staticmethod(compared)
    clock = staticmethod(
        time.perf_counter
    )  # it may compute in other processes, as on the wire, which cost too

    def score(self, claim: ComparisonClaim[Any], form: Form, case: Case, seed: int) -> float:
        """Return the largest left / right of a bound.

        Of an identity, the distance of its sides in units of one that is clearly no rounding.
        """
        worst, found = 0.0, [c for c in claim.compared(case, form.right) if not c.unmeasured]
        # what is tiny beside another comparison may be what its rounding left
        dust = 1e-9 * max((c.size for c in found if np.isfinite(c.size)), default=0.0)
        for c in found:
            if claim.bounds:
                worst = max(worst, float(ratio(np.array([[c.low]]), np.array([[c.value]]))[0]))
            elif c.slack:
                enough = c.slack if c.count or claim.counts else CLEARLY * c.slack
                worst = max(worst, c.apart / max(enough, dust))
            elif c.apart:
                worst = np.inf
        return worst

    def check(self, claim: ComparisonClaim[Any], form: Form, case: Case) -> None:
        """Raise what is wrong with the function."""
        claim.compared(case, form.right)


def _facts(
    claim: ComparisonClaim[Any],
    case: Case,
    comparisons: Sequence[Comparison],
    shown: Comparison,
    *,
    bound: bool,
) -> dict[str, Any]:
    """Return what a row holds of its comparisons, one of which it shows.

    The ``mean`` of a bound is the lower end: what some point has been shown to reach.
    """
    mean = shown.low if bound else (shown.low + shown.high) / 2
    order = sorted(comparisons, key=lambda c: c.x)
    return {
        "lhs": {"mean": mean, "low": shown.low, "high": shown.high},
        "rhs": shown.value,
        "margin": shown.tolerance.equal,
        "comparisons": len(comparisons),
        "replicates": 1,
        "instance": instance(roles_of(case), claim.notation(case)),
        "series": Compared(
            x=[c.x for c in order],
            low=[c.low for c in order],
            high=[c.high for c in order],
            bound=[c.value for c in order],
            what=[c.what for c in order],
            size=[c.size for c in order],
            panels=list(claim.draws(case)) if claim.draws is not None else (),
        ),
    }


JUDGE = Computed()
