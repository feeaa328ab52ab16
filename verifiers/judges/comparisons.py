"""Judges identities and bounds by certified optima, whose enclosures do not rest on a solver."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import isinf, log
from typing import Any

import numpy as np

from driftproof.synthetic.certificates.penalised import inner_maximum
from driftproof.toolkit.cases import Case
from driftproof.toolkit.verdict import Evidence, Row, Verdict
from driftproof.verifiers.claim_types.claim import Form
from driftproof.verifiers.claim_types.compared import MARGIN, ROUNDING, Comparison
from driftproof.verifiers.claim_types.comparison import ComparisonClaim
from driftproof.verifiers.judges.bounds import roles_of, unmet
from driftproof.verifiers.judges.evidence import instance
from driftproof.verifiers.judges.rows import case_entry, row_of


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
    broken = unmet(claim, case, form)
    if broken is not None:
        return row_of(claim, form, case_entry(case), Verdict.INAPPLICABLE, None, broken)
    if not comparisons:
        reason = "compare(case, right) returned no comparison: nothing was compared"
        return row_of(claim, form, case_entry(case), Verdict.INCONCLUSIVE, None, reason)
    if claim.kind == "complexity":
        comparisons = [replace(c, count=True) for c in comparisons]
    if claim.kind == "bound":
        return _bound(claim, case, form, comparisons)
    shown = max(comparisons, key=lambda c: c.relative)
    measured = [c for c in comparisons if not c.unmeasured]
    unmeasured = [c for c in comparisons if c.unmeasured]
    outside = [c for c in measured if c.apart > c.slack]
    infinite = [c for c in measured if isinf(c.value)]
    if outside:
        verdict = Verdict.REFUTED
        c = shown = outside[0]
        reason = (
            f"{c.what}: the right side, {c.value:.10g}, lies outside the certified left side "
            f"[{c.low:.10g}, {c.high:.10g}]"
        )
    elif unmeasured:
        verdict, shown = Verdict.INCONCLUSIVE, unmeasured[0]
        reason = shown.unmeasured
    elif infinite:
        verdict, shown = Verdict.INCONCLUSIVE, infinite[0]
        reason = f"{shown.what}: the right side is infinite, and so may the left be"
    elif any(not c.high - c.low <= c.slack for c in comparisons):
        verdict = Verdict.INCONCLUSIVE
        reason = f"{shown.what}: the certificate is too wide, {shown.high - shown.low:.3g}"
    else:
        verdict, reason = Verdict.SUPPORTED, ""
    facts = _facts(claim, case, comparisons, shown, (shown.low + shown.high) / 2)
    facts["attained"] = verdict is Verdict.SUPPORTED
    return row_of(claim, form, case_entry(case), verdict, Evidence.EXACT, reason, **facts)


def _bound(
    claim: ComparisonClaim[Any], case: Case, form: Form, comparisons: Sequence[Comparison]
) -> Row:
    """Return the row of left ≤ right, where the left side is known by enclosures.

    Its ``mean`` is the lower end: what some point has been shown to reach. A right side of 0 that
    is met is not called attained.
    """

    def closeness(c: Comparison) -> float:
        size = max(abs(c.value), c.scale)
        if 0 < size < np.inf:
            return (c.low - c.value) / size
        return np.inf if c.low > c.value else -size  # far below a right side that is infinite

    measured = [c for c in comparisons if not c.unmeasured]
    over = [c for c in measured if c.low - c.value > c.slack]
    finite = [c for c in measured if c.high < np.inf]
    met = [c for c in finite if c.low - c.slack <= c.high <= c.value + c.slack]
    undecided = [c for c in comparisons if c not in over and c not in met]
    shown = max(over or undecided or met, key=closeness)
    attained = False
    if over:
        verdict = Verdict.REFUTED
        reason = f"{shown.what}: left ≥ {shown.low:.10g} exceeds right = {shown.value:.10g}"
    elif undecided:
        verdict = Verdict.INCONCLUSIVE
        reason = shown.unmeasured or (
            f"{shown.what}: the right side, {shown.value:.10g}, lies within the certified left "
            f"side [{shown.low:.10g}, {shown.high:.10g}]"
        )
    else:
        verdict, reason = Verdict.SUPPORTED, ""
        attained = any(c.value != 0 and c.low >= c.value - c.slack for c in comparisons)
    facts = _facts(claim, case, comparisons, shown, shown.low) | {"attained": attained}
    return row_of(claim, form, case_entry(case), verdict, Evidence.ENCLOSED, reason, **facts)


def _facts(
    claim: ComparisonClaim[Any],
    case: Case,
    comparisons: Sequence[Comparison],
    shown: Comparison,
    mean: float,
) -> dict[str, Any]:
    """Return what a row holds of its comparisons, one of which it shows."""
    order = sorted(comparisons, key=lambda c: c.x)
    return {
        "lhs": {"mean": mean, "low": shown.low, "high": shown.high},
        "rhs": shown.value,
        "margin": ROUNDING if shown.count else MARGIN,
        "comparisons": len(comparisons),
        "replicates": 1,
        "instance": instance(roles_of(case), claim.notation(case)),
        "series": {
            "x": [c.x for c in order],
            "low": [c.low for c in order],
            "high": [c.high for c in order],
            "bound": [c.value for c in order],
            "what": [c.what for c in order],
            "size": [c.size for c in order],
        }
        | ({"panels": list(claim.draws(case))} if claim.draws is not None else {}),
    }
