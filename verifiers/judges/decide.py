"""Decides what comparisons of a left side with a right side say: here every verdict is made.

A judge encloses both sides of every comparison that a statement makes, and ``decide`` reads off the
verdict. The left side is enclosed by what was computed (floats that hold their rounding errors,
ends of balls, exact fractions), or by what a test of samples says (``Samples``).
"""

from dataclasses import dataclass, replace
from math import inf
from typing import Any, Literal, Protocol

import numpy as np

from driftproof.toolkit.tolerances import EXACT, Tolerance
from driftproof.toolkit.verdict import Row, Verdict

LAST = 1e-12
"""How far below the most that the left side can be a right side says no more, relatively."""


@dataclass(frozen=True)
class Interval:
    """What is known of one side of each comparison: it lies between low and high.

    Attributes:
        low, high: ends, which belong to it; −∞ and ∞ where nothing is known.
        open: whether the low end does not belong to it.
    """

    low: Any
    high: Any
    open: Any = False


class Samples(Protocol):
    """Samples of each comparison's left side, and a test of its mean."""

    def tested(self, right: Interval, level: float) -> Interval:
        """Return what tests at the right side say: it is an end of where the mean lies.

        One false comparison among many true ones refutes, and support needs every comparison. So
        the level is divided among the comparisons where a mean is called above the right side, and
        not where it is called below, and either error has probability ``level`` at most.
        """


@dataclass(frozen=True)
class Comparisons:
    """The comparisons that one form makes on one case.

    Attributes:
        left, right: enclosures of both sides.
        size: what distances between the sides are relative to.
        zero: where the left side may be 0 (a bound of 0 that is met is not called attained).
        relation: what is claimed of left and right.
        most: the largest value that the left side can have without any dynamics (None: unknown).
    """

    left: Interval | Samples
    right: Interval
    size: Any = 0.0
    zero: Any = False
    relation: Literal["<=", "=="] = "<="
    most: float | None = None


@dataclass(frozen=True)
class Decision:
    """What comparisons say together.

    Attributes:
        verdict: REFUTED if one is, SUPPORTED if all are.
        worst: which one is shown: of the refuting ones that with the largest excess (of an identity
            the first), else of the undecided ones, else of all, the one that comes closest to
            failing for its size (None: there is none).
        attained: whether some bound is met with equality, as far as can be told.
        vacuous: whether every right side is as large as the left side can be anyway.
    """

    verdict: Verdict
    worst: int | None = None
    attained: bool = False
    vacuous: bool = False


@np.errstate(all="ignore")  # ∞ − ∞ equals nothing, and says nothing
def decide(made: Comparisons, tolerance: Tolerance = EXACT, level: float | None = None) -> Decision:
    """Return the verdict on comparisons.

    Args:
        tolerance: see ``Tolerance``; fractions need none.
        level: of samples.

    >>> from fractions import Fraction
    >>> half = Comparisons(Interval(Fraction(1, 3), Fraction(1, 2)), Interval(0.5, 0.5), size=0.5)
    >>> decide(half).verdict.value, decide(half).attained
    ('SUPPORTED', False)
    >>> decide(Comparisons(Interval(0.6, inf), Interval(0.5, 0.5))).verdict.value
    'REFUTED'
    """
    left = made.left
    if not isinstance(left, Interval):
        assert level is not None
        left = left.tested(made.right, level)
    ends = np.broadcast_arrays(left.low, left.high, made.right.low, made.right.high, made.size)
    low, high, right_low, right_high, size = map(np.atleast_1d, ends)
    if not len(low):
        return undecided()
    # no tolerance is 0, not 0.0: fractions stay fractions
    slack, equal = (share * size if np.any(share) else 0 for share in tolerance.both)
    # of fractions numpy compares objects, of which ~ says something else than not
    above = ((low > right_high + slack) | (left.open & (low >= right_high))).astype(bool)
    below = (high < right_low - slack).astype(bool)
    known = ((high < inf) & (low <= high + slack)).astype(bool)
    wide, excess = (high - low) + (right_high - right_low), low - right_high
    alike = known & ~above & ~below & (wide <= equal) & (abs(right_high) < inf)
    refuted = (above | below) if made.relation == "==" else above
    held = alike if made.relation == "==" else alike | (known & (high <= right_low + slack))
    held = held.astype(bool) & ~refuted
    verdict = Verdict.SUPPORTED if held.all() else Verdict.INCONCLUSIVE
    if refuted.any():
        verdict = Verdict.REFUTED
    met = (high + slack >= right_low) & (-excess <= np.maximum(slack, equal))
    attained = verdict is Verdict.SUPPORTED and (
        made.relation == "==" or bool(np.any(met & ~np.asarray(made.zero)))
    )
    vacuous = made.most is not None and bool(np.all(right_low >= made.most - LAST * abs(made.most)))
    if made.relation == "==":
        excess = np.fmax(np.fmax(excess, right_low - high), wide)
    if refuted.any() and made.relation == "==":  # where an identity first fails
        worst = int(np.argmax(refuted))
    else:
        worst = _worst(_doubles(excess), _doubles(size), refuted, held)
    return Decision(verdict, worst, attained, vacuous and not attained)


def _doubles(numbers: np.ndarray) -> np.ndarray:
    """Return numbers as doubles: a fraction that none can hold is ±∞."""

    def double(number: Any) -> float:
        try:
            return float(number)
        except OverflowError:
            return inf if number > 0 else -inf

    return np.array([double(number) for number in numbers], float)


def _worst(excess: np.ndarray, size: np.ndarray, refuted: np.ndarray, held: np.ndarray) -> int:
    """Return which comparison is shown: what refutes by most, or comes closest for its size."""
    relative = np.where(size > 0, excess / size, np.where(excess > 0, inf, -inf))
    deciding, by = ~held if not held.all() else held, relative
    if refuted.any():
        deciding, by = refuted, excess
    if not np.any(deciding & (by > -inf)):  # nothing is known of them: the first
        return int(np.argmax(deciding))
    return int(np.argmax(np.where(deciding & ~np.isnan(by), by, -inf)))


def undecided() -> Decision:
    """Return that nothing was compared, or that what was compared decides nothing."""
    return Decision(Verdict.INCONCLUSIVE)


def inapplicable() -> Decision:
    """Return that a statement says nothing of a case."""
    return Decision(Verdict.INAPPLICABLE)


def settled(holds: bool | None) -> Decision:
    """Return what a proof decides: that a statement holds, that it fails, or nothing.

    >>> [settled(holds).verdict.value for holds in (True, False, None)]
    ['SUPPORTED', 'REFUTED', 'INCONCLUSIVE']
    """
    low, high = {True: (-inf, 0.0), False: (0.0, inf), None: (-inf, inf)}[holds]
    return decide(Comparisons(Interval(low, high, open=True), Interval(0.0, 0.0)))


def withdrawn(row: Row, reason: str) -> Row:
    """Return a row that decides nothing after all.

    Args:
        reason: its whole reason.
    """
    return replace(row, verdict=Verdict.INCONCLUSIVE, evidence=None, attained=False, reason=reason)
