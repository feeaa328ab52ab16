"""How near a claim's form is to being broken on one case: left / right, in doubles."""

from __future__ import annotations

from typing import Any

import numpy as np

from driftproof.toolkit.cases import Case
from driftproof.toolkit.draws import TooManyAtoms
from driftproof.toolkit.engines.enumerated import Drew
from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.federation import Outcome, run, run_exactly, sampled_context
from driftproof.verifiers.claim_types.bound import BoundClaim
from driftproof.verifiers.claim_types.claim import Claim, Form
from driftproof.verifiers.claim_types.comparison import ComparisonClaim
from driftproof.verifiers.judges import bounds
from driftproof.verifiers.search.generic import in_total_expectation, largest_ratio, ratio

OUTCOMES_ALONE = 1024
"""Outcomes that are enumerated; beyond them 64 replicates are sampled."""
CLEARLY = 1e3
"""How many times what counts as equal two computed sides must be apart (1e-3 of their size).

Far from the cases that a claim was written for, its own arithmetic may lose digits.
"""
OUTSIDE = -1.0
"""The score of a case on which the form says nothing."""


def score(claim: Claim[Any], form: Form, case: Case, seed: int = 0) -> float:
    """Return the largest left / right on a case; ``OUTSIDE`` if it breaks an assumption.

    Of an identity, the distance of its sides in units of one that is clearly no rounding. So a
    score above 1 is a violation, whatever the statement.
    """
    try:
        if bounds.unmet(claim, case, form) is not None:
            return OUTSIDE
        if isinstance(claim, ComparisonClaim):
            return _compared(claim, form, case)
        if isinstance(claim, BoundClaim):
            return _bound(claim, form, case, seed)
    except (DriftproofError, Drew, ArithmeticError, ValueError, RuntimeError, IndexError):
        # no such constant, no number on the right side, a side that is none, noise where the
        # statement speaks of a run without, or a shape that the claim's function was not made for
        return OUTSIDE
    except Exception:
        if not isinstance(claim, ComparisonClaim):
            raise
        return OUTSIDE  # its function computes both sides, by solvers that may fail far away
    return OUTSIDE


def _compared(claim: ComparisonClaim[Any], form: Form, case: Case) -> float:
    worst, compared = 0.0, [c for c in claim.compared(case, form.right) if not c.unmeasured]
    # what is tiny beside another comparison may be what its rounding left
    dust = 1e-9 * max((c.size for c in compared if np.isfinite(c.size)), default=0.0)
    for c in compared:
        if claim.kind == "bound":
            worst = max(worst, float(ratio(np.array([[c.low]]), np.array([[c.value]]))[0]))
        elif c.slack:
            enough = c.slack if c.count or claim.kind == "complexity" else CLEARLY * c.slack
            worst = max(worst, c.apart / max(enough, dust))
        elif c.apart:
            worst = np.inf
    return worst


def _bound(claim: BoundClaim, form: Form, case: Case, seed: int) -> float:
    if bounds.lacking_constants(claim, case, form.right):
        return OUTSIDE
    right = bounds.right_side(claim, case, form.right)[1]
    outcome = measured(claim, form, case, seed)
    radius = case.problem.radius
    if radius is not None and outcome.reach > radius:
        return OUTSIDE
    if not outcome.taken.shape[1]:
        return 0.0
    means = (outcome.taken @ outcome.weights)[..., None]
    factors = bounds.coefficients(claim, case, form.right)
    return float(largest_ratio(means, outcome.names, right, factors)[0])


def measured(claim: BoundClaim, form: Form, case: Case, seed: int) -> Outcome:
    """Return what a run gave: with every outcome of its noise where these are few.

    Expectations are over the whole run. Given the past a bound says more, which takes a run from
    each past: that is left to the judge.
    """
    left = in_total_expectation(form.left or claim.left)
    try:
        return run_exactly(
            case.problem, case.algorithm, rounds=case.rounds, left=left, limit=OUTCOMES_ALONE
        )
    except TooManyAtoms:
        context = sampled_context(case.problem, (str(seed), "search", case.key))
        return run(case.problem, case.algorithm, context, rounds=case.rounds, left=left)
