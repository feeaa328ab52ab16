"""Certified numbers are compared at the size of the sides, counts exactly."""

from __future__ import annotations

import numpy as np
import pytest

from synthetic.problems import BoundedComposition
from toolkit import claim, grid
from toolkit.errors import DriftproofError
from toolkit.verdict import Verdict
from verifiers.ground_truth import Comparison, components, judge

SUPPORTED, REFUTED = Verdict.SUPPORTED, Verdict.REFUTED


def judged(kind, comparisons):
    @claim(name="own/numbers", kind=kind, source="", statement="x")
    class Made:
        cases = grid(BoundedComposition())
        right = staticmethod(lambda c: 0)

    return judge(Made, Made.cases[0], Made.forms[0], comparisons)


def numbers(kind, left, right, **more):
    return judged(kind, [Comparison("", left, left, right, **more)]).verdict


@pytest.mark.parametrize("size", [1e-300, 1e-12, 1e-7, 1.0, 1e12])
def test_two_numbers_are_compared_at_their_own_size(size):
    assert numbers("identity", size, 2 * size) is REFUTED
    assert numbers("identity", size, size * (1 + 1e-5)) is REFUTED
    assert numbers("identity", size, size * (1 + 1e-8)) is SUPPORTED
    assert numbers("bound", 9 * size, size) is REFUTED
    assert numbers("bound", size, size * (1 - 1e-8)) is SUPPORTED
    assert numbers("identity", size, 0.0) is REFUTED
    assert numbers("bound", size, 0.0) is REFUTED


def test_a_variance_that_is_twice_too_large_is_refused_however_small():
    sigma = 1e-4
    assert numbers("identity", sigma**2, 2 * sigma**2) is REFUTED


def test_a_scale_says_what_counts_as_zero():
    assert numbers("identity", 1e-17, 0.0) is REFUTED
    assert numbers("identity", 1e-17, 0.0, scale=1.0) is SUPPORTED
    assert numbers("identity", 1e-5, 0.0, scale=1.0) is REFUTED
    assert numbers("identity", 0.0, 0.0) is SUPPORTED


def test_components_are_compared_at_the_size_of_their_vector():
    row = judged("identity", components("component {}", [3e9, 1e-8, 4e9], np.array([3e9, 0, 4e9])))
    assert row.verdict is SUPPORTED
    row = judged("identity", components("component {}", [3e9, 1e5, 4e9], [3e9, 0, 4e9]))
    assert row.verdict is REFUTED
    assert "component 2" in row.reason
    with pytest.raises(DriftproofError, match="two vectors of one length"):
        components("component {}", [1.0, 2.0], [1.0])


def test_counts_are_compared_exactly():
    steps, local = 240, 4
    count = float(steps + steps / local)
    assert numbers("complexity", count, count) is SUPPORTED
    assert numbers("complexity", count, count - 1e-7 * steps) is REFUTED
    assert numbers("complexity", 1e9, 1e9 + 1) is REFUTED
    assert numbers("existence", count, count - 1e-7 * steps) is SUPPORTED  # limit points, say
    assert numbers("existence", count, count - 1e-7 * steps, count=True) is REFUTED


def test_nothing_that_is_compared_supports_nothing():
    row = judged("identity", [])
    assert row.verdict is Verdict.INCONCLUSIVE
    assert "nothing was compared" in row.reason
