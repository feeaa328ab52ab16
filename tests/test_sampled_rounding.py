"""Equalities that hold almost surely are not refuted by rounding; false statements still are."""

from __future__ import annotations

import numpy as np
import pytest
import sympy

from driftproof.toolkit.constants import Letters, Notation
from driftproof.toolkit.measure import each, sq
from driftproof.toolkit.verdict import Verdict
from driftproof.verifiers.judges.bounds import inexact
from tests.calibration.bounds import LONG
from tests.calibration.line import Line, verdict

NOISY = Line(at=-3.0, noise=0.7)
SUPPORTED, REFUTED, INCONCLUSIVE = Verdict.SUPPORTED, Verdict.REFUTED, Verdict.INCONCLUSIVE


def moved(view):
    """|w̄' − (w̄ − ηu)|², which is 0: that is how the step is made."""
    before = view.before.w.mean(0)
    return each("transition", sq((view.mean("w") - before) + 0.1 * view.mean("u")))


def sampled(left, right, member=NOISY, step_size=0.1):
    return verdict(
        member, step_size, LONG + 1, left, right,
        range=lambda c: 100 * (1 + c.x_0**2),
    )  # fmt: skip


def test_an_equality_of_sampled_replicates_is_not_refuted_by_rounding():
    assert sampled(moved, lambda c: 0 * c.eta) is INCONCLUSIVE
    assert sampled(moved, lambda c: -sympy.Float(1e-9) * c.x_0**2) is REFUTED
    assert sampled(moved, lambda c: 10 * c.x_0**2) is SUPPORTED

    def apart(view):
        return each(
            "transition", sq((view.mean("w") - view.before.w.mean(0)) + 0.099 * view.mean("u"))
        )

    assert sampled(apart, lambda c: 0 * c.eta) is REFUTED


@pytest.mark.parametrize("step_size", [0.1, 0.3, 0.7])
def test_a_right_side_that_is_zero_but_for_its_letters_rounding(step_size):
    """|w_1|² ≤ (1 − ηL)|w_0|² at ηL = 1: 1 − ηL is -5.6e-17 in double precision."""

    def left(view):
        return each("transition", sq(view.mean("w")), before=sq(view.before.w.mean(0)))

    member = Line(curvature=1 / step_size, at=-3.0)
    right = lambda c: (1 - c.eta * c.L) * c.measured("before")  # noqa: E731
    wide = {"range": lambda c: 10 * c.x_0**2}
    assert verdict(member, step_size, 3, left, right, **wide) is SUPPORTED
    below = lambda c: (1 - c.eta * c.L - sympy.Float(1e-12)) * c.measured("before")  # noqa: E731
    assert verdict(member, step_size, 1, left, below, **wide) is REFUTED


def test_what_letters_are_off_by_and_the_size_before_cancelling():
    notation = Notation({"a": "one", "b": "two"})
    c, roles = Letters(notation), {"one": 0.1, "two": 10.0}
    cancelled = 1 - c.a * c.b
    made = inexact(cancelled, notation, roles)
    assert 1e-16 < made.off < 1e-15
    assert made.size == pytest.approx(2.0)
    assert inexact((c.a - c.b) ** 2, notation, roles).size == pytest.approx(10.1**2)
    assert inexact(sympy.Integer(3) + 0 * c.a, notation, roles).off == 0
    assert inexact(sympy.gamma(c.a), notation, roles) == (np.inf, np.inf)  # balls have none
    exact = Notation({"n": "clients"})
    n = Letters(exact).n
    assert inexact(n**2, exact, {"clients": 7}).off == 0


def test_margins_are_measured_on_the_first_block_of_a_row_that_would_be_refuted():
    from driftproof.toolkit.algorithms import FedAvg
    from driftproof.toolkit.cases import Case
    from driftproof.verifiers.judges.bounds import UNMEASURED, measure_block
    from driftproof.verifiers.judges.bounds import judge as judge_one
    from driftproof.verifiers.verify import Settings, judge
    from tests.test_claims import make

    case = Case(NOISY, FedAvg(), LONG + 1)
    made = make(
        cases=[case], left=lambda view: each("transition", sq(view.mean("w"))),
        right=lambda c: c.x_0**2 / 1000, range=lambda c: 100 * (1 + c.x_0**2),
    )  # fmt: skip
    (row,) = judge([made], Settings())
    assert row.verdict is REFUTED
    assert 0 < row.margin < 1e-11
    block = measure_block(made, case, 0, 0)
    assert not len(block.shadow)
    unmeasured = judge_one(made, case, made.forms[0], block)
    assert (unmeasured.verdict, unmeasured.reason) == (INCONCLUSIVE, UNMEASURED)
    shadowed = measure_block(made, case, 0, 0, shadowed=True)
    assert np.array_equal(block.values, shadowed.values)
    assert shadowed.shadow.shape == (4, 1, block.values.size)
