"""Sampled pasts: what they say of a mean over pasts, and of a statement given the past."""

from __future__ import annotations

import pytest
import sympy

from driftproof.toolkit.algorithms import FedAvg
from driftproof.toolkit.cases import Case
from driftproof.toolkit.measure import given_past, sq
from driftproof.toolkit.verdict import Verdict
from driftproof.verifiers.verify import Settings, judge
from tests.calibration.bounds import LONG, _next_square, _rare_pasts
from tests.calibration.line import Line
from tests.test_claims import make

SUPPORTED, REFUTED, INCONCLUSIVE = Verdict.SUPPORTED, Verdict.REFUTED, Verdict.INCONCLUSIVE
CASE = Case(Line(at=-1.0, noise=1.0), FedAvg(), LONG)


def only(right, left=_next_square, profile="quick", **more):
    made = make(cases=[CASE], left=left, right=right, **more)
    (row,) = judge([made], Settings(profile=profile))
    return row


def recursion(c, times=1.0):
    """Return E x_{t+1}² given x_t, the noise's part ``times`` as large."""
    return (1 - c.eta * c.L) ** 2 * c.measured("before") + times * (c.eta * c.sigma) ** 2


def noise(c):
    return 2 * (c.eta * c.sigma) ** 2


def test_without_a_range_sampled_pasts_decide_nothing_about_the_mean():
    row = only(lambda c: recursion(c, 1.5))
    assert row.verdict is INCONCLUSIVE
    assert "given each of 64 sampled pasts" in row.reason
    assert "give range(c)" in row.reason


def test_with_a_range_each_past_is_a_replicate():
    row = only(lambda c: recursion(c, 1.5), range=noise)
    assert (row.verdict, row.evidence) == (SUPPORTED, "sequential")
    assert row.alpha is not None
    row = only(lambda c: recursion(c, 0.5), range=noise)
    assert (row.verdict, row.evidence) == (REFUTED, "sequential")
    assert only(recursion, range=noise).verdict is INCONCLUSIVE  # an equality


@pytest.mark.parametrize("count", [7, 12])
def test_an_inequality_that_rare_pasts_break_is_not_supported(count):
    """E 1{the first signs agree} ≤ half of it: few of 64 pasts break it, or none."""
    left = _rare_pasts(count, CASE.problem.noise)
    case = Case(Line(at=0.0, noise=1.0), FedAvg(), LONG)
    more = {"cases": [case], "left": left, "range": lambda c: 1 + 0 * c.eta}
    half = make(right=lambda c: sympy.Rational(1, 2 ** (count + 1)) + 0 * c.eta, **more)
    (row,) = judge([half], Settings())
    assert row.verdict is not SUPPORTED
    (row,) = judge([make(right=lambda c: sympy.Rational(1, 2) + 0 * c.eta, **more)], Settings())
    assert row.verdict is SUPPORTED


def test_a_statement_given_the_past_is_supported_up_to_a_stated_share_of_pasts():
    row = only(recursion, conditional=True)
    assert (row.verdict, row.evidence) == (SUPPORTED, "sequential")
    assert row.replicates >= 570
    assert "a past that breaks it has probability" in row.reason
    short = only(recursion, conditional=True, profile="smoke")  # four blocks are too few
    assert short.verdict is INCONCLUSIVE
    assert "571 pasts would" in short.reason or "570 pasts would" in short.reason


def test_one_past_refutes_a_statement_given_the_past():
    row = only(lambda c: recursion(c, 0.9), conditional=True)
    assert row.verdict is REFUTED
    assert "given one past" in row.reason

    def positive(view):
        return given_past(view.mean("w").sum(0), before=sq(view.before.w.mean(0)))

    assert only(lambda c: 0 * c.eta - 1, left=positive, conditional=True).verdict is REFUTED
