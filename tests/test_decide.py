"""What comparisons say together: one table, and laws of every comparison (``judges.decide``)."""

from fractions import Fraction
from math import inf, nan

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from driftproof.toolkit.statistics import Tail
from driftproof.toolkit.tolerances import BALLS, COMPUTED, COUNTED, EXACT, RUN, Tolerance
from driftproof.toolkit.verdict import Evidence, Row, Verdict
from driftproof.verifiers.judges.bounds import Replicates
from driftproof.verifiers.judges.decide import (
    Comparisons,
    Interval,
    decide,
    settled,
    undecided,
    withdrawn,
)

SUPPORTED, REFUTED, INCONCLUSIVE = Verdict.SUPPORTED, Verdict.REFUTED, Verdict.INCONCLUSIVE
HALF, THIRD = Fraction(1, 2), Fraction(1, 3)
TOLERANCES = (EXACT, RUN, BALLS, COMPUTED, COUNTED)


def said(left, right, tolerance=EXACT, relation="<=", size=1.0, **more):
    def interval(side):
        return side if isinstance(side, Interval) else Interval(*side)

    return decide(
        Comparisons(interval(left), interval(right), size, relation=relation, **more), tolerance
    )


@pytest.mark.parametrize(
    ("left", "right", "tolerance", "relation", "verdict", "attained"),
    [
        # ≤, of numbers that are exact
        ((THIRD, THIRD), (HALF, HALF), EXACT, "<=", SUPPORTED, False),
        ((HALF, HALF), (HALF, HALF), EXACT, "<=", SUPPORTED, True),
        ((HALF + Fraction(1, 10**30), HALF + 1), (HALF, HALF), EXACT, "<=", REFUTED, False),
        ((HALF, HALF + Fraction(1, 10**30)), (HALF, HALF), EXACT, "<=", INCONCLUSIVE, False),
        ((-inf, HALF), (HALF, HALF), EXACT, "<=", SUPPORTED, False),
        ((-inf, inf), (HALF, HALF), EXACT, "<=", INCONCLUSIVE, False),
        ((0, 1), (inf, inf), EXACT, "<=", SUPPORTED, False),
        ((0, inf), (inf, inf), EXACT, "<=", INCONCLUSIVE, False),
        ((nan, nan), (1, 1), RUN, "<=", INCONCLUSIVE, False),
        ((1, 1), (nan, nan), RUN, "<=", INCONCLUSIVE, False),
        # an end that a test says does not belong to it
        (Interval(0.5, inf, open=True), (0.5, 0.5), EXACT, "<=", REFUTED, False),
        (Interval(0.5, inf), (0.5, 0.5), EXACT, "<=", INCONCLUSIVE, False),
        # enclosures that overlap, with rounding errors or a right side known by its ends
        ((0.9, 1.1), (1, 1), RUN, "<=", INCONCLUSIVE, False),
        ((1 - 4e-7, 1 + 4e-7), (1, 1), RUN, "<=", SUPPORTED, True),
        ((1 - 6e-7, 1 + 6e-7), (1, 1), RUN, "<=", INCONCLUSIVE, False),
        ((1, 1), (1 - 4e-7, 1 + 4e-7), RUN, "<=", SUPPORTED, True),
        ((1, 1), (0.9, 1.1), RUN, "<=", INCONCLUSIVE, False),
        ((1 + 1e-9, 1 + 2e-9), (1, 1), RUN, "<=", REFUTED, False),
        ((1 - 4e-13, 1 + 4e-13), (1, 1), BALLS, "<=", SUPPORTED, True),
        ((1 - 4e-12, 1 + 4e-12), (1, 1), BALLS, "<=", INCONCLUSIVE, False),
        # numbers whose rounding nobody measured
        ((1 + 9e-7, 1 + 9e-7), (1, 1), COMPUTED, "<=", SUPPORTED, True),
        ((1 + 11e-7, 2), (1, 1), COMPUTED, "<=", REFUTED, False),
        ((0, 1 + 9e-7), (1, 1), COMPUTED, "<=", SUPPORTED, False),
        # =
        ((HALF, HALF), (HALF, HALF), EXACT, "==", SUPPORTED, True),
        ((THIRD, THIRD), (HALF, HALF), EXACT, "==", REFUTED, False),
        ((1 - 4e-7, 1 + 4e-7), (1, 1), COMPUTED, "==", SUPPORTED, True),
        ((1 - 6e-7, 1 + 6e-7), (1, 1), COMPUTED, "==", INCONCLUSIVE, False),
        ((1 + 11e-7, 1 + 11e-7), (1, 1), COMPUTED, "==", REFUTED, False),
        ((1 - 11e-7, 1 - 11e-7), (1, 1), COMPUTED, "==", REFUTED, False),
        ((1e9, 1e9), (1e9 + 1, 1e9 + 1), COUNTED, "==", REFUTED, False),
        ((2, 2), (inf, inf), COMPUTED, "==", REFUTED, False),
        ((inf, inf), (inf, inf), COMPUTED, "==", INCONCLUSIVE, False),
        ((0, 0), (0, 0), COMPUTED, "==", SUPPORTED, True),
    ],
)
def test_the_table(left, right, tolerance, relation, verdict, attained):
    made = said(left, right, tolerance, relation)
    assert (made.verdict, made.attained) == (verdict, attained)


def test_one_refutes_all_have_to_hold_and_nothing_says_nothing():
    low = np.array([0.1, 0.9, 0.6, 0.2])
    assert said((low, low), (0.5, 0.5), size=np.maximum(low, 0.5)).verdict is REFUTED
    assert said((low, low), (0.5, 0.5)).worst == 1  # by the largest excess
    open_ = said((low, np.array([0.1, 0.9, 1.1, 0.2])), (1, 1))
    assert (open_.verdict, open_.worst) == (INCONCLUSIVE, 2)  # what keeps it open is shown
    held = said((low, low), (1, 1))
    assert (held.verdict, held.worst) == (SUPPORTED, 1)  # what comes closest
    assert decide(Comparisons(Interval([], []), Interval(1, 1))) == undecided()


def test_a_bound_that_all_assumptions_imply_says_nothing_unless_it_is_attained():
    assert said((0.2, 0.2), (1, 1), most=1.0).vacuous
    assert not said((0.2, 0.2), (1 - 1e-9, 1 - 1e-9), most=1.0).vacuous
    assert not said((1, 1), (1, 1), most=1.0).vacuous
    assert not said((0, 0), (0, 0), zero=True).attained


def test_a_proof_is_one_comparison():
    assert [settled(x).verdict for x in (True, False, None)] == [SUPPORTED, REFUTED, INCONCLUSIVE]
    row = Row(
        "c", "f", "", "r", "bound", {"key": "k"}, SUPPORTED, Evidence.EXACT, "", attained=True
    )
    taken = withdrawn(row, "why")
    assert (taken.verdict, taken.evidence, taken.attained, taken.reason) == (
        INCONCLUSIVE,
        None,
        False,
        "why",
    )


def test_the_level_is_divided_among_refutations_alone():
    """Of n comparisons one false one refutes; all have to be tested for support anyway."""
    x = np.tile([0.0, 1.0], 400)[None]

    def verdict(count, right):
        left = Replicates(np.repeat(x, count, 0), tails=[Tail(1.0)] * count)
        return decide(Comparisons(left, Interval(right, right)), level=1e-5).verdict

    assert (verdict(1, 0.4), verdict(10_000, 0.4)) == (REFUTED, INCONCLUSIVE)
    assert verdict(1, 0.6) is verdict(50, 0.6) is SUPPORTED


numbers = st.floats(-1e6, 1e6)
widths = st.one_of(st.just(0.0), st.floats(0, 1e3), st.floats(0, 1e-6))
relations = st.sampled_from(["<=", "=="])


@st.composite
def sides(draw):
    """Draw the enclosures of both sides of some comparisons."""
    count = draw(st.integers(1, 4))

    def side():
        low = np.array(draw(st.lists(numbers, min_size=count, max_size=count)))
        return Interval(low, low + np.array(draw(st.lists(widths, min_size=count, max_size=count))))

    left = side()
    right = left if draw(st.booleans()) else side()
    return left, right


def wider(side, more):
    return Interval(side.low - more, side.high + more, side.open)


@given(sides(), relations, st.sampled_from(TOLERANCES), widths)
def test_widening_only_loses(both, relation, tolerance, more):
    """What is known less exactly turns no open verdict into one, and none into its opposite."""
    left, right = both
    before = said(left, right, tolerance, relation).verdict
    for one in ((wider(left, more), right), (left, wider(right, more))):
        after = said(*one, tolerance, relation).verdict
        near = tolerance.apart > 0 or tolerance.equal > 0
        assert after in ({before, INCONCLUSIVE} | ({SUPPORTED} if near and more < 1e-6 else set()))


@given(sides(), relations, st.sampled_from(TOLERANCES), st.integers(-40, 40))
def test_scaling_both_sides_changes_nothing(both, relation, tolerance, power):
    left, right = both
    by = 2.0**power
    scaled = [Interval(side.low * by, side.high * by) for side in both]
    assert said(left, right, tolerance, relation) == said(*scaled, tolerance, relation, size=by)


@given(sides(), relations)
def test_fractions_and_floats_of_the_same_numbers_agree(both, relation):
    exact = [
        Interval(*(np.array([Fraction(x) for x in end], object) for end in (side.low, side.high)))
        for side in both
    ]
    assert said(*both, EXACT, relation) == said(*exact, EXACT, relation)


@given(sides(), relations, st.sampled_from(TOLERANCES))
def test_a_verdict_is_true_of_every_number_in_the_enclosures(both, relation, tolerance):
    """The ends and the middles of enclosures, judged as numbers, never contradict a verdict."""
    left, right = both
    verdict = said(left, right, tolerance, relation).verdict
    assume(verdict is not INCONCLUSIVE)
    allowed = np.maximum(tolerance.apart, tolerance.equal)
    for a in (left.low, left.high, (left.low + left.high) / 2):
        for b in (right.low, right.high, (right.low + right.high) / 2):
            over = a - b if relation == "<=" else np.abs(a - b)
            assert np.any(over > 0) if verdict is REFUTED else np.all(over <= allowed)


def test_a_tolerance_may_be_one_for_each_comparison():
    left, right = (np.array([1.0, 1.0 + 1e-9]),) * 2, (1, 1)
    each = Tolerance(np.array([0.0, 1e-6]), np.array([0.0, 1e-6]))
    assert said(left, right, each).verdict is SUPPORTED
    assert said(left, right, EXACT).verdict is REFUTED
