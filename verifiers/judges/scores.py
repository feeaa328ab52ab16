"""How near sides come to breaking a bound: what the search climbs by. It decides nothing."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import wraps
from typing import Any

import numpy as np

from driftproof.toolkit.cases import Case
from driftproof.toolkit.engines.enumerated import Drew
from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.measure import Measure, Reduction, States, Steps
from driftproof.verifiers.claim_types.claim import Claim, Form
from driftproof.verifiers.judges.assumptions import outside
from driftproof.verifiers.judges.judge import OUTSIDE, judge_named

DUST = 1e-16
"""What is small beside the largest sides before, squares of lengths mostly."""
DIFFERENCES = 1e-13
"""The same of differences, such as F(w_{s+1}) − F(w_s): a right side that is not positive."""


def in_total_expectation(left: Callable[..., Any] | None) -> Callable[..., Any]:
    """Return a measure that takes its expectations over the whole run, not given the past."""
    assert left is not None

    @wraps(left)
    def whole(view: Any) -> Reduction | None:
        reduction: Reduction | None = left(view)
        if isinstance(reduction, Reduction) and reduction.how == "given past":
            return replace(reduction, how="each")
        return reduction

    whole.__annotations__ = {"view": States if Measure(left).of_states else Steps}
    return whole


def largest_ratio(
    taken: np.ndarray, names: Sequence[str], right: Any, factors: Mapping[str, Any]
) -> np.ndarray:
    """Return the largest left / right over the comparisons, [candidates].

    Args:
        taken: means of the measure and its parts, [1 + parts, comparisons, candidates].
        names: of the parts.
        right, factors: the right side's constant part, and what multiplies each part: numbers,
            one for each candidate or one for all.
    """
    lefts = taken[0]
    rights = np.broadcast_to(right, lefts.shape)
    for place, name in enumerate(names):
        if name in factors:
            rights = rights + factors[name] * taken[1 + place]
    return ratio(lefts, rights)


def ratio(lefts: np.ndarray, rights: np.ndarray) -> np.ndarray:
    """Return the largest left / right over comparisons [comparisons, candidates].

    Right / left of two that are negative. 0 where nothing was compared, where both sides are 0, and
    where both are dust beside what was compared before: what a run has lost, rounding errors take
    the place of.
    """
    if not len(lefts):
        return np.zeros(lefts.shape[1])
    size = np.abs(lefts) + np.abs(rights)
    with np.errstate(all="ignore"):
        quotients = np.where(rights > 0, lefts / rights, rights / lefts)
    over = np.where(lefts - rights > 1e-9 * size, 1e9, 0.0)
    quotients = np.where((rights > 0) | ((rights < 0) & (lefts < 0)), quotients, over)
    # beside a right side of nearly 0, a left side that is rounding alone says nothing
    before = np.fmax.accumulate(size, axis=0)
    dust = np.where(rights > 0, DUST, DIFFERENCES) * before
    quotients = np.where(size > np.maximum(1e-250, dust), quotients, 0.0)
    largest: np.ndarray = np.nan_to_num(quotients, nan=0.0, posinf=1e9, neginf=0.0).max(0)
    capped: np.ndarray = np.minimum(largest, 1e9)
    return capped


def score(claim: Claim[Any], form: Form, case: Case, seed: int = 0) -> float:
    """Return a judge's score of a case: above 1 is a violation (``OUTSIDE``: it says nothing)."""
    judge = judge_named(claim.searched)
    try:
        return scored(claim, form, case, seed)
    except (DriftproofError, Drew, ArithmeticError, ValueError, RuntimeError, IndexError):
        # no such constant, no number on the right side, a side that is none, noise where the
        # statement speaks of a run without, or a shape that the claim's function was not made for
        return OUTSIDE
    except Exception:
        if not judge.elsewhere:
            raise
        return OUTSIDE  # its function computes both sides, by solvers that may fail far away


def scored(claim: Claim[Any], form: Form, case: Case, seed: int) -> float:
    """Return the score, or raise what keeps it from being known."""
    if outside(claim, case, form) is not None:
        return OUTSIDE
    return judge_named(claim.searched).score(claim, form, case, seed)
