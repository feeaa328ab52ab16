"""Branches of the judges that no other test takes: what they say where they cannot decide."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
import sympy
from flint import arb

from synthetic.problems import BoundedComposition
from tests.test_claims import make
from tests.test_evidence import CASE, CLAIM, sampled
from toolkit.algorithms import ComFedL
from toolkit.cases import Assumption, Case
from toolkit.errors import DriftproofError
from toolkit.statistics import replicates_needed
from toolkit.verdict import Evidence, Row, Verdict
from verifiers.algebra.domains import points
from verifiers.algebra.orders import Order, exponents
from verifiers.algebra.symbolic import vanishes
from verifiers.claim_types.order_in_statement import PLACE, with_order
from verifiers.judges import bounds, comparisons, declared
from verifiers.judges.bounds import Sides
from verifiers.judges.enclosed import Comparison as Enclosed
from verifiers.judges.evidence import Measured, rounding
from verifiers.judges.growth import Possible, possible
from verifiers.judges.slope import decide

T = sympy.Symbol("T", positive=True)
a, b = sympy.symbols("a b", commutative=False)


def row(**more):
    return Row("c", "f", "", "r", "bound", {"key": "k"}, Verdict.SUPPORTED, None, "", **more)


def test_a_tightness_needs_a_mean_and_a_right_side_that_is_not_0():
    assert row(lhs={"mean": 1.0}, rhs=4.0).ratio == 0.25
    assert [row(rhs=4.0).ratio, row(lhs={"mean": 1.0}).ratio] == [None, None]
    assert row(lhs={"mean": 1.0}, rhs=0.0).ratio is None
    assert row().identity == ("c", "f", "r", "k")


def test_no_number_of_replicates_shows_a_mean_above_what_none_is_below():
    assert replicates_needed(np.ones(4), 0.0, 1e-5) is None


def test_shadows_of_another_length_bound_no_rounding():
    assert np.isinf(rounding(np.ones(3), np.ones((2, 4)), 1.0)).all()


def test_a_damaged_unit_is_named():
    with pytest.raises(DriftproofError, match="damaged"):
        Measured.unpack(b"PK nothing")


def test_one_name_has_one_meaning():
    algorithm = ComFedL()
    object.__setattr__(algorithm, "values", lambda: {"clients": 3, "word": "x"})
    case = Case(BoundedComposition(clients=4), algorithm, rounds=1)
    with pytest.raises(DriftproofError, match="clients is 4"):
        bounds.numbers_of(case)


def test_what_left_the_region_of_the_constants_is_inapplicable(monkeypatch):
    measured = Measured("exact", ("each", "round"), np.ones((1, 1, 1)), np.ones(1), reach=5.0)
    monkeypatch.setattr(type(CASE.problem), "radius", 2.0)
    told = bounds.judge(CLAIM, CASE, CLAIM.forms[0], measured)
    assert told.verdict is Verdict.INAPPLICABLE
    assert "reached norm 5; proven for norms up to 2" in told.reason
    monkeypatch.setattr(type(CASE.problem), "radius", 5.0)  # on the edge, it still holds
    assert bounds.judge(CLAIM, CASE, CLAIM.forms[0], measured).verdict is Verdict.INCONCLUSIVE


@pytest.mark.parametrize(("range_", "told"), [(None, "no range"), ((0.5, 0.5), "from 0.5 to 0.5")])
def test_sampling_needs_a_range_with_some_width(range_, told):
    measured = Measured("sampled", ("each", "round"), np.ones((1, 1, 4)), np.full(4, 0.25))
    judged = bounds._sampled(CLAIM, CASE, CLAIM.forms[0], Sides(measured, 1.0, 1.0, range_, {}))
    assert judged.verdict is Verdict.INCONCLUSIVE
    assert told in judged.reason
    assert sampled([[0.1] * 4096], 0.9, 0.9).evidence is Evidence.SEQUENTIAL


def test_nothing_is_above_nothing():
    assert Enclosed(left=arb(0), right=arb(0), size=arb(0)).excess == 0.0
    assert Enclosed(left=arb(3), right=arb(1), size=arb(4)).excess == 0.5


def test_a_rate_is_not_decided_where_no_curve_or_only_slower_ones_pass():
    claimed = Order(-1.0)
    assert decide(Possible(None, None, 1.0), claimed, 0.05)[0] is Verdict.INCONCLUSIVE
    slower = Possible((-0.5, -0.4), None, 1.0)
    verdict, told = decide(slower, claimed, 0.05)
    assert verdict is Verdict.INCONCLUSIVE
    assert "slower than the claimed" in told
    assert decide(Possible((-1.2, -0.96), (0.0, 0.0), 1.0), claimed, 0.05)[0] is Verdict.SUPPORTED
    assert decide(Possible((-1.2, -0.94), (0.0, 0.0), 1.0), claimed, 0.05)[0] is not (
        Verdict.SUPPORTED
    )


def test_two_horizons_leave_every_order_between_the_bands():
    x = np.array([10.0, 1000.0])
    left = possible(x, 0.9 / x, 1.1 / x, Order(-1.0))
    assert left.first == 10.0
    assert left.exponents[0] < -1.0 < left.exponents[1]


def test_matrices_are_not_decided_where_their_coefficients_are_not():
    x = sympy.Symbol("x", real=True)
    assert "not a polynomial" in vanishes(sympy.exp(a) * b - b * sympy.exp(a), "").why
    hidden = sympy.Function("f")(x) * sympy.Integral(1, (x, 0, 1)) * a
    assert vanishes(a * b - b * a, "").holds is False
    assert vanishes(hidden - hidden, "").holds is True


def test_only_powers_of_the_horizon_have_exponents():
    assert exponents(2 / T, T) == {-1: 2}
    with pytest.raises(ValueError, match="not a power of T"):
        exponents(sympy.exp(T), T)


def test_a_rate_whose_printed_forms_have_no_order_is_refused():
    statement = rf"x = \mathcal O({PLACE})"
    with pytest.raises(DriftproofError, match="no printed form"):
        with_order("a/b", statement, [1.0])


def test_points_are_found_on_the_kinks_of_a_maximum_and_of_what_has_no_roots():
    x = sympy.Symbol("x", real=True)
    count = sympy.Symbol("n", integer=True, nonnegative=True)
    found = [p[x] for p in points(sympy.Max(x, 7))]
    assert {6, 7, 8} <= set(found)
    assert 0 in [p[count] for p in points(count - 1)]
    assert list(points(sympy.Abs(sympy.exp(x) - 5)))  # no polynomial: other points


def test_a_map_without_places_is_none():
    assert comparisons._map([comparisons.Comparison("w", 0.0, 1.0, 2.0)]) == {}


def test_a_relation_that_is_no_comparison_is_refused():

    odd = Assumption("odd", "1", relation=lambda c: c.eta + 1)
    claim = make(range=lambda c: 1.0, assumes=[odd])
    with pytest.raises(DriftproofError, match="the relation of 'odd'"):
        bounds.unmet(claim, claim.cases[0], claim.forms[0])


def test_a_search_leaves_out_what_it_cannot_score_or_what_has_too_many_outcomes(monkeypatch):
    searched = []

    def attacked(problem, role, budget):
        searched.append(role)
        return SimpleNamespace(ratio=0.5)

    monkeypatch.setattr(declared, "attacked", attacked)
    scored = {"inner_gradient_bound": 5, "outer_gradient_bound": declared.MOST_OUTCOMES + 1}
    monkeypatch.setattr(declared, "Scores", lambda problem: SimpleNamespace(
        has=scored.__contains__, outcomes=scored.__getitem__
    ))  # fmt: skip
    assert declared.exceeded(CASE) == {}
    assert searched == ["inner_gradient_bound"]


def test_a_right_side_far_below_the_range_asks_for_a_sharper_range():
    told = bounds.what_to_change(np.full(64, 1e-9), 2e-9, 2e-9)
    assert "times smaller than range(c): sharpen the range" in told
    assert "farther from it" in bounds.what_to_change(np.full(64, 0.5), 0.5 + 1e-9, 0.5 + 1e-9)
