"""Letters have the sign of their role, and assumptions are evaluated with numbers at each case."""

from __future__ import annotations

import pytest
import sympy

from driftproof.toolkit.cases import Assumption
from driftproof.toolkit.constants import ROLES, RUN_ROLES, SIGNS, Letters, Notation, evaluate
from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.measure import each
from driftproof.toolkit.verdict import Verdict
from tests.calibration.line import Line, verdict

SUPPORTED, REFUTED, INAPPLICABLE = Verdict.SUPPORTED, Verdict.REFUTED, Verdict.INAPPLICABLE


def size(view):
    return each("transition", view.mean("w").abs().sum(0))


def judged(right, at=-3.0, step_size=0.1, **body):
    """Judge |x_1| ≤ right after one step of gradient descent on x²/2 from x_0 = ``at``."""
    return verdict(Line(at=at), step_size, 1, size, right, **body)


def test_a_start_may_be_negative():
    """|x_0| + 1 became x_0 + 1 = −2 when every letter was taken to be positive."""
    assert judged(lambda c: sympy.Abs(c.x_0) + 1) is SUPPORTED
    assert judged(lambda c: sympy.sqrt(c.x_0**2) + 1) is SUPPORTED
    assert judged(lambda c: sympy.Max(c.x_0, -c.x_0)) is SUPPORTED
    assert judged(lambda c: sympy.Abs(c.x_0) / 2) is REFUTED
    assert judged(lambda c: c.x_0 + 1) is REFUTED


@pytest.mark.parametrize(
    "relation",
    [
        lambda c: c.x_0 >= 0,
        lambda c: c.x_0**3 > 0,
        lambda c: sympy.And(c.x_0 > -1, c.eta > 0),
        lambda c: sympy.Max(c.x_0, -9) > c.eta,
    ],
)
def test_an_assumption_is_evaluated_with_numbers(relation):
    def row(start):
        from driftproof.toolkit.algorithms import FedAvg
        from driftproof.toolkit.cases import Case
        from driftproof.verifiers.verify import Settings, judge
        from tests.test_claims import make

        made = make(
            cases=[Case(Line(at=start), FedAvg(), 1)], left=size, right=lambda c: 0 * c.eta,
            assumes=[Assumption("A", "x", relation=relation)],
        )  # fmt: skip
        (found,) = judge([made], Settings())
        return found

    broken = row(-3.0)
    assert broken.verdict is INAPPLICABLE
    assert "-3" in broken.reason or "-27" in broken.reason
    assert row(3.0).verdict is REFUTED  # the assumption is met, and the right side is 0


def test_every_role_has_a_sign_and_parameters_are_what_their_class_requires():
    assert set(SIGNS) == {*ROLES, *RUN_ROLES}
    notation = Notation(
        {"L": "objective_smoothness", "K": "clients", "x_0": "at", "eta": "step_size"},
        Line().required_signs | {"step_size": "positive"},
    )
    c = Letters(notation)
    assert c.L.is_nonnegative
    assert c.L.is_positive is None  # a smoothness constant may be 0
    assert c.K.is_positive
    assert c.K.is_integer
    assert c.x_0.is_real
    assert c.x_0.is_nonnegative is None
    assert c.eta.is_positive
    bare = Letters(notation, bare=True)
    assert bare.L.is_real is None


@pytest.mark.parametrize(
    ("role", "value", "wanted"),
    [("objective_smoothness", -1.0, "0 or more"), ("clients", 0, "above 0"),
     ("rounds", 2.5, "whole")],
)  # fmt: skip
def test_a_constant_of_another_sign_is_refused(role, value, wanted):
    notation = Notation({"x": role})
    with pytest.raises(DriftproofError, match=wanted) as told:
        evaluate(Letters(notation).x + 1, notation, {role: value})
    assert role in told.value.got
    assert evaluate(Letters(notation).x + 1, notation, {role: 3}) == 4
