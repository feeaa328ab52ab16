"""Branches of the judges that no other test takes: what they say where they cannot decide."""

import re
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import sympy
import torch
from flint import arb
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import t as student

from driftproof.synthetic.problems import BoundedComposition, OpposedClients, QuadraticMinimax
from driftproof.toolkit.algorithms import ComFedL, FedNest
from driftproof.toolkit.balls import RefusedError
from driftproof.toolkit.cases import Assumption, Case, numbers_of
from driftproof.toolkit.engines.second_moments import second_moments
from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.measure import each, sq
from driftproof.toolkit.problem import with_overrides
from driftproof.toolkit.rounded import rounding
from driftproof.toolkit.statements import ReadingVerdict, Statement, at_odds, statement
from driftproof.toolkit.statistics import Tail, replicates_needed
from driftproof.toolkit.tolerances import DUST, SLACK
from driftproof.toolkit.verdict import Evidence, Row, Verdict, tightness
from driftproof.verifiers.algebra import conditioned
from driftproof.verifiers.algebra.domains import domain_in_words, points
from driftproof.verifiers.algebra.orders import Order, exponents
from driftproof.verifiers.algebra.symbolic import vanishes
from driftproof.verifiers.claim_types.bound import bound
from driftproof.verifiers.claim_types.compared import components
from driftproof.verifiers.claim_types.derived import Derived
from driftproof.verifiers.claim_types.order_in_statement import PLACE, with_order
from driftproof.verifiers.judges import assumptions, attacked, bounds, comparisons, enclosed
from driftproof.verifiers.judges.bands import bands
from driftproof.verifiers.judges.bounds import Replicates, Sides
from driftproof.verifiers.judges.decide import Comparisons, Interval, decide
from driftproof.verifiers.judges.enclosed import Enclosed
from driftproof.verifiers.judges.evidence import Measured
from driftproof.verifiers.judges.growth import Possible, _around_slope, _interval, possible
from driftproof.verifiers.judges.slope import Grid, order_decided, with_exact
from driftproof.verifiers.verify import Settings, judge
from tests.test_claims import make
from tests.test_evidence import CASE, CLAIM, exact, sampled

SUPPORTED, INCONCLUSIVE = Verdict.SUPPORTED, Verdict.INCONCLUSIVE
T = sympy.Symbol("T", positive=True)
a, b = sympy.symbols("a b", commutative=False)


def row(**more):
    return Row("c", "f", "", "r", "bound", {"key": "k"}, Verdict.SUPPORTED, None, "", **more)


def test_a_tightness_needs_a_mean_and_a_right_side_that_is_not_0():
    assert row(lhs={"mean": 1.0}, rhs=4.0).ratio == 0.25
    assert [row(rhs=4.0).ratio, row(lhs={"mean": 1.0}).ratio] == [None, None]
    assert row(lhs={"mean": 1.0}, rhs=0.0).ratio is None
    assert row().identity == ("c", "f", "r", "k")


def test_what_is_no_number_has_no_tightness():
    assert tightness(0.0, float("nan")) is tightness(-1.0, float("nan")) is None


@given(left=st.floats(-1e9, 1e9), right=st.floats(-1e9, 1e9))
def test_a_tightness_is_above_1_exactly_where_left_exceeds_right(left, right):
    """Of either sign: of −2 ≤ −1 it is one half, and the page shows no 2 beside SUPPORTED."""
    told = row(lhs={"mean": left}, rhs=right).ratio
    if told is None:
        assert right == 0 or right < 0 <= left
    else:
        assert (told > 1) <= (left > right)
        assert (told < 1) <= (left < right)


def test_a_supported_bound_of_negative_sides_has_a_tightness_of_at_most_1():
    claim = make(
        left=lambda view: each("round", -2 - sq(view.mean("w"))), right=lambda c: -1 + 0 * c.eta
    )
    (told,) = judge([replace(claim, cases=(CASE,))], Settings())
    assert told.verdict is Verdict.SUPPORTED
    assert 0 < told.ratio <= 0.5


@pytest.mark.parametrize(
    ("relation", "met"),
    [
        (lambda c, x: c.eta <= x, {-5e-14: True, -5e-13: False, 5e-14: True}),
        (lambda c, x: c.eta >= x, {5e-14: True, 5e-13: False, -5e-14: True}),
        (lambda c, x: c.eta < x, {5e-14: False, 0.0: False, 5e-13: True}),
        (lambda c, x: c.eta > x, {-5e-14: False, 0.0: False, -5e-13: True}),
        (lambda c, x: sympy.Eq(c.eta, x), {5e-14: True, -5e-14: True, 5e-13: False, -5e-13: False}),
    ],
)
def test_an_assumption_is_met_at_its_edge_within_rounding_on_both_sides(relation, met):
    for apart, expected in met.items():
        edge = sympy.Float(0.1 * (1 + apart), 17)
        claim = make(assumes=[Assumption("odd", "", relation=lambda c, x=edge: relation(c, x))])
        assert (assumptions.unmet(claim, CASE) is None) is expected, apart


def test_a_row_names_what_it_meets_within_rounding_and_refutes_nothing_by_as_little():
    edge = Assumption("small steps", "", relation=lambda c: c.eta <= 0.1 * (1 - 5e-14))

    def told(excess):
        claim = make(
            assumes=[edge],
            left=lambda view: each("round", 0 * sq(view.mean("w")) + 1),
            right=lambda c: (1 - excess) + 0 * c.eta,
        )
        return judge([replace(claim, cases=(CASE,))], Settings())[0]

    supported, open_, refuted = told(-0.5), told(1e-10), told(1e-3)
    assert [r.verdict for r in (supported, open_, refuted)] == [
        Verdict.SUPPORTED,
        Verdict.INCONCLUSIVE,
        Verdict.REFUTED,
    ]
    for one in (supported, open_, refuted):
        assert "small steps is met within 5e-14: eta <= 0.0999" in one.reason


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
        numbers_of(case)


def test_what_left_the_region_of_the_constants_is_inapplicable(monkeypatch):
    measured = Measured("exact", ("each", "round"), np.ones((1, 1, 1)), np.ones(1), reach=5.0)
    monkeypatch.setattr(type(CASE.problem), "radius", 2.0)
    told = bounds.judge(CLAIM, CASE, CLAIM.forms[0], measured)
    assert told.verdict is Verdict.INAPPLICABLE
    assert "reached norm 5; proven for norms up to 2" in told.reason
    monkeypatch.setattr(type(CASE.problem), "radius", 5.0)  # on the edge, it still holds
    assert bounds.judge(CLAIM, CASE, CLAIM.forms[0], measured).verdict is Verdict.INCONCLUSIVE


@pytest.mark.parametrize(
    ("range_", "told"), [(None, "least=lambda c"), ((0.5, 0.5), "from 0.5 to 0.5")]
)
def test_sampling_needs_a_range_with_some_width(range_, told):
    measured = Measured("sampled", ("each", "round"), np.ones((1, 1, 4)), np.full(4, 0.25))
    judged = bounds._sampled(CLAIM, CASE, CLAIM.forms[0], Sides(measured, 1.0, 1.0, range_, {}))
    assert judged.verdict is Verdict.INCONCLUSIVE
    assert told in judged.reason
    assert sampled([[0.1] * 4096], 0.9, 0.9).evidence is Evidence.SEQUENTIAL


def test_a_rate_is_not_decided_where_no_curve_or_only_slower_ones_pass():
    claimed = Order(-1.0)
    assert order_decided(Possible(None, None, 1.0), claimed, 0.05)[0].verdict is INCONCLUSIVE
    decision, told = order_decided(Possible((-0.5, -0.4), None, 1.0), claimed, 0.05)
    assert decision.verdict is INCONCLUSIVE
    assert "slower than the claimed" in told
    for high, verdict in ((-0.96, SUPPORTED), (-0.94, INCONCLUSIVE)):
        left = Possible((-1.2, high), (0.0, 0.0), 1.0)
        assert order_decided(left, claimed, 0.05)[0].verdict is verdict


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


def test_a_relation_that_is_no_comparison_is_refused():

    odd = Assumption("odd", "1", relation=lambda c: c.eta + 1)
    claim = make(range=lambda c: 1.0, assumes=[odd])
    with pytest.raises(DriftproofError, match="the relation of 'odd'"):
        assumptions.unmet(claim, claim.cases[0], claim.forms[0])


def test_a_search_leaves_out_what_it_cannot_score(monkeypatch):
    looked_at = []

    def searched(problem, role, effort):
        looked_at.append(role)
        return SimpleNamespace(exceeded=False, tried=3)

    monkeypatch.setattr(attacked, "searched", searched)
    monkeypatch.setattr(
        attacked,
        "Scores",
        lambda problem: SimpleNamespace(has=["inner_gradient_bound", "initial_gap"].__contains__),
    )
    assert attacked.exceeded(CASE) == ({}, 6)
    assert looked_at == ["inner_gradient_bound", "initial_gap"]


LACKING = {"mu": "strong_convexity"}


@pytest.mark.parametrize(
    "assumption",
    [
        Assumption("strong", r"\mu > 0", roles=("strong_convexity",)),
        Assumption("strong", r"\mu > 0", relation=lambda c: c.mu > 0),
        Assumption("strong", r"0 < \eta < \mu", relation=lambda c: (c.eta > 0) & (c.eta < c.mu)),
    ],
)
def test_an_assumption_on_a_constant_that_a_problem_lacks_is_not_met(assumption):
    claim = make(letters=LACKING, assumes=[assumption])
    told = assumptions.outside(claim, CASE, claim.forms[0])
    assert told.startswith("strong needs strong_convexity; ")
    assert told.endswith("proves none")


def test_a_role_that_nothing_has_is_misspelt():
    claim = make(letters={"mu": "strong_convexxity"}, right=lambda c: c.mu)
    with pytest.raises(DriftproofError, match="strong_convexity"):
        assumptions.outside(claim, CASE, claim.forms[0])
    misspelt = Assumption("strong", "", relation=lambda c: c.mu > 0)
    with pytest.raises(DriftproofError, match="strong_convexity"):
        assumptions.unmet(make(letters={"mu": "strong_convexxity"}, assumes=[misspelt]), CASE)
    listed = Assumption("strong", "", roles=("strong_convexxity",))
    with pytest.raises(DriftproofError, match="strong_convexity"):
        assumptions.unmet(make(assumes=[listed]), CASE)


def test_a_right_side_with_a_constant_that_a_problem_lacks_is_inapplicable():
    claim = make(letters=LACKING, right=lambda c: c.mu + c.G_f)
    told = assumptions.outside(claim, CASE, claim.forms[0])
    assert told.startswith("the right side needs strong_convexity; ")


@pytest.mark.parametrize(
    ("relation", "told"),
    [
        (lambda c: True, None),
        (lambda c: False, "odd is False here"),
        (lambda c: (c.eta > 0) & (c.eta < 1), None),
        (lambda c: c.eta >= 1, "odd states eta >= 1, but here 0.1 and 1"),
    ],
)
def test_a_relation_may_be_a_truth_or_several_comparisons(relation, told):
    assert CASE.algorithm.step_size == 0.1
    claim = make(assumes=[Assumption("odd", "", relation=relation)])
    assert assumptions.unmet(claim, CASE) == told


@pytest.mark.parametrize(
    "relation",
    [
        lambda c: 0 < c.eta < 1,
        lambda c: c.eta > 0 and c.eta < 1,
        lambda c: max(c.eta, 1) > 1,
        lambda c: c.eta,
        lambda c: None,
    ],
)
def test_what_is_no_relation_between_letters_is_refused(relation):
    claim = make(assumes=[Assumption("odd", "", relation=relation)])
    with pytest.raises(DriftproofError, match=r"relation of 'odd'.*\n.*&.*\n.*sympy.Max"):
        assumptions.unmet(claim, CASE)


def test_a_form_has_assumptions_of_its_own():
    claim = make()
    form = replace(claim.forms[0], assumes=(Assumption("odd", "", relation=lambda c: False),))
    assert assumptions.unmet(claim, CASE, form) == "odd is False here"
    assert assumptions.unmet(claim, CASE, claim.forms[0]) is None
    elsewhere = Assumption("odd", r"\text{one client}", applies=lambda case: False)
    assert assumptions.unmet(make(assumes=[elsewhere]), CASE) == "odd needs: one client"


def test_pasts_that_rounding_leaves_open_stay_open():
    taken = np.full((1, 1, 4), 0.5)
    shadow = np.full((2, 1, 4), np.nan)
    measured = Measured(
        "sampled", ("given past", "transition"), taken, np.full(4, 0.25), shadow=shadow
    )
    row = bounds._every_past(CLAIM, CASE, CLAIM.forms[0], Sides(measured, 1.0, 1.0, None, {}))
    assert row.verdict is Verdict.INCONCLUSIVE
    assert row.reason.startswith("rounding errors could not be bounded")
    assert row.replicates == 4


@pytest.mark.parametrize(("runs", "verdict"), [(0, Verdict.SUPPORTED), (2, Verdict.INCONCLUSIVE)])
def test_samples_whose_single_runs_ended_early_support_nothing(runs, verdict):
    """Without single-precision runs, rounding errors are taken for small."""
    shadow = np.full((runs, 1, 4096), np.nan)
    measured = Measured(
        "sampled",
        ("each", "round"),
        np.full((1, 1, 4096), 0.1),
        np.full(4096, 1 / 4096),
        shadow=shadow,
    )
    sides = Sides(measured, 0.9, 0.9, (0.0, 1.0), {})
    row = bounds._sampled(CLAIM, CASE, CLAIM.forms[0], sides)
    assert row.verdict is verdict
    assert ("rounding errors could not be bounded" in row.reason) == (runs > 0)


def test_a_sampled_run_that_ended_before_any_comparison_supports_nothing():
    measured = Measured(
        "sampled", ("each", "round"), np.empty((1, 0, 64)), np.full(64, 1 / 64), bad_step=0
    )
    row = bounds.judge(CLAIM, CASE, CLAIM.forms[0], measured)
    assert row.verdict is Verdict.INCONCLUSIVE
    assert row.reason == "an iterate or the measure is not finite after step 1"
    assert row.lhs is None


def test_balls_refuse_what_is_no_run_and_noise_of_too_many_outcomes():
    claim = make()
    with pytest.raises(RefusedError, match="without a run"):
        enclosed.enclose(claim, Case(BoundedComposition()), claim.forms[0])
    noisy = Case(
        BoundedComposition(clients=64, inner_value_noise=0.5, outer_gradient_noise=0.5),
        ComFedL(batch=8, outer_batch=8),
        1,
    )
    with pytest.raises(RefusedError, match="too many outcomes"):
        enclosed.enclose(claim, noisy, claim.forms[0])


def balls(*sides):
    return [Enclosed(left=left, right=right, size=arb(8)) for left, right in sides]


def test_a_choice_that_balls_left_open_is_tried_at_more_bits(monkeypatch):
    tried = []

    def enclose(*_, bits, **__):
        tried.append(bits)
        if bits < max(enclosed.PRECISIONS):
            raise RefusedError("which is larger?", open=True)
        return balls((arb(1), arb(2)))

    monkeypatch.setattr(enclosed, "enclose", enclose)
    assert enclosed.judge(CLAIM, CASE, CLAIM.forms[0]).verdict is Verdict.SUPPORTED
    assert tried == list(enclosed.PRECISIONS)


def test_a_refusal_that_more_bits_do_not_mend_is_told_at_once(monkeypatch):
    tried = []

    def enclose(*_, bits, **__):
        tried.append(bits)
        raise RefusedError("no version for balls")

    monkeypatch.setattr(enclosed, "enclose", enclose)
    row = enclosed.judge(CLAIM, CASE, CLAIM.forms[0])
    assert (row.verdict, row.reason) == (Verdict.INCONCLUSIVE, "no version for balls")
    assert tried == [enclosed.PRECISIONS[0]]


def test_balls_that_compared_nothing_support_nothing(monkeypatch):
    monkeypatch.setattr(enclosed, "enclose", lambda *_, **__: [])
    row = enclosed.judge(CLAIM, CASE, CLAIM.forms[0])
    assert (row.verdict, row.reason) == (Verdict.INCONCLUSIVE, "nothing was compared")


def test_the_comparison_that_balls_refute_is_the_one_shown(monkeypatch):
    """The first one's middle lies farther above its right side, but it is not known to."""
    wide, apart = (arb(4, 4), arb(1)), (arb(1.5, 0.1), arb(1))
    monkeypatch.setattr(enclosed, "enclose", lambda *_, **__: balls(wide, apart))
    row = enclosed.judge(CLAIM, CASE, CLAIM.forms[0])
    assert row.verdict is Verdict.REFUTED
    assert row.lhs["low"] == pytest.approx(1.4)
    assert row.rhs == 1.0
    assert row.reason == (
        "with every assumption met, left ≥ 1.4 exceeds right = 1, in ball arithmetic; "
        "at comparison 2 of 2"
    )


class UsersAlgorithm(ComFedL):
    """An algorithm of a user's."""


def test_what_is_checked_of_a_case_is_what_a_user_wrote(monkeypatch):
    looked = []
    monkeypatch.setattr(attacked, "_audited", set())
    monkeypatch.setattr(attacked, "_attacked", {})
    for name in ("audit_problem", "audit_algorithm", "exceeded"):

        def note(*parts, name=name):
            looked.append(name)
            return attacked.Found({})

        monkeypatch.setattr(attacked, name, note)
    assert attacked.look(Case(BoundedComposition(), UsersAlgorithm(), 1)) == ({}, 0)
    assert looked == ["audit_algorithm"]
    looked.clear()
    users = type("Users", (BoundedComposition,), {"__module__": "users"})
    assert attacked.look(Case(users())) == ({}, 0)
    assert looked == ["audit_problem", "exceeded"]
    assert attacked.look(Case(users())) == ({}, 0)  # once
    assert looked == ["audit_problem", "exceeded"]


def test_a_bound_that_is_not_there_is_named():
    with pytest.raises(DriftproofError, match="theorem-2"):
        _ = Derived("comfedl/theorem-22").stated


def test_words_for_whole_numbers_and_for_what_algebra_leaves_open():
    n = sympy.Symbol("n", integer=True, nonnegative=True)
    x = sympy.Symbol("x", real=True)
    assert domain_in_words(n + x) == "n = 0, 1, …; x real"
    count = sympy.Symbol("m", integer=True, positive=True)
    assert domain_in_words(count + 1) == "m = 1, 2, …"
    held = sympy.Abs(x) - x  # 0 where x > 0, which algebra is not told
    assert vanishes(held, "", [x > 0]).why.startswith("open: neither simplified")
    of_matrices = vanishes(held * a * b, "", [x > 0])
    assert of_matrices.holds is None
    assert of_matrices.why.startswith("open: the coefficient of a*b was not decided")
    assert vanishes(held * a * b, "").holds is False


def test_an_erratum_of_another_severity_than_its_verdict_is_told():
    fails = ReadingVerdict("as printed", "literal", "", Verdict.REFUTED)
    refuted = Statement("a/b", Verdict.REFUTED, "misprint", readings=(fails,))
    assert at_odds(refuted) == "its erratum says misprint, but its verdict as printed is REFUTED"
    meant = ReadingVerdict("as meant", "intended", "", Verdict.SUPPORTED)
    held = Statement("a/b", Verdict.SUPPORTED, "false", readings=(fails, meant))
    assert at_odds(held) == "its erratum says false, but its verdict as printed is SUPPORTED"
    assert at_odds(replace(held, severity="misprint")) == ""
    assert at_odds(replace(held, severity=None)).startswith("a literal reading fails")


def apart(self, ctx, oracles, state):
    """Move each client by its own number."""
    clients = torch.arange(ctx.clients, dtype=state.x.dtype)[:, None, None]
    return FedNest.step(self, ctx, oracles, state)._replace(x=state.x + clients)


def test_a_field_in_which_clients_differ_after_a_round_is_refused():
    method = type("Apart", (FedNest,), {"step": apart})(terms=0, inner_steps=2, outer_steps=2)
    with pytest.raises(DriftproofError, match="clients that differ in x or y"):
        second_moments(Case(QuadraticMinimax(clients=3), method, 4), ("x", "y"))


@pytest.mark.parametrize(
    ("range_", "verdict"), [((0.0, 1.0), Verdict.REFUTED), ((-1.0, 1.0), Verdict.INCONCLUSIVE)]
)
def test_a_sampled_run_that_ended_refutes_if_what_is_missing_cannot_be_negative(range_, verdict):
    values = np.full((1, 1, 4096), 0.9)
    measured = Measured(
        "sampled",
        ("each", "round"),
        values,
        np.full(4096, 1 / 4096),
        shadow=np.tile(values[0], (2, 1, 1)),
        bad_step=0,
    )
    sides = Sides(measured, 0.1, 0.1, range_, {})
    row = bounds._sampled(CLAIM, CASE, CLAIM.forms[0], sides)
    assert row.verdict is verdict
    assert "not finite after step 1" in row.reason


@pytest.mark.parametrize(
    ("value", "right", "verdict"),
    [(1, 1.0, INCONCLUSIVE), (1, 1.01, SUPPORTED), (0, 1.0, SUPPORTED)],
)
def test_a_mean_of_all_that_is_possible_is_not_below_it(value, right, verdict):
    left = Replicates(np.full((1, 64), float(value)), tails=[Tail(1.0)])
    assert decide(Comparisons(left, Interval(right, right)), level=1e-5).verdict is verdict


@pytest.mark.parametrize(
    ("off", "range_", "verdict"),
    [
        (DUST * (1 - 1e-9), (0.0, 1.0), Verdict.SUPPORTED),
        (DUST * (1 + 1e-9), (0.0, 1.0), Verdict.INCONCLUSIVE),
        (1e-11, (0.0, 1.0), Verdict.INCONCLUSIVE),
        (DUST, None, Verdict.INCONCLUSIVE),  # nothing tells what is small
    ],
)
def test_dust_is_up_to_a_share_of_the_range(off, range_, verdict):
    """Both sides are 0, and single-precision runs lie ``off`` away."""
    measured = Measured(
        "exact", ("each", "round"), np.zeros((1, 1, 1)), np.ones(1), shadow=np.full((2, 1, 1), off)
    )
    row = bounds._exact(CLAIM, CASE, CLAIM.forms[0], Sides(measured, 0.0, 0.0, range_, {}))
    assert row.verdict is verdict
    assert (row.reason == bounds.BOTH_ZERO) == (verdict is Verdict.SUPPORTED)


def beyond_64(right, values, part=None):
    """Judge an exact run on which nothing happens in the first 64 atoms."""
    late = np.arange(128) >= 64
    sides = [late * values] if part is None else [late * values, late * part]
    taken = np.array(sides)[:, None, :]
    shadow = np.tile(taken.mean(2)[None], (2, 1, 1))
    measured = Measured(
        "exact",
        ("each", "round"),
        taken,
        np.full(128, 1 / 128),
        shadow=shadow,
        names=("part",) if part is not None else (),
    )
    return bounds.judge(make(right=right), CASE, make(right=right).forms[0], measured)


def test_every_atom_of_the_noise_counts():
    """Of the left side, and of what the rounding of letters does to a measured right side."""
    told = beyond_64(lambda c: 0.4 + 0 * c.eta, 1.0)
    assert (told.verdict, told.lhs["mean"]) == (Verdict.REFUTED, pytest.approx(0.5))
    assert beyond_64(lambda c: 0.6 + 0 * c.eta, 1.0).verdict is Verdict.SUPPORTED
    # 1 − 10η is 0, but −5.6e-17 as doubles have it: times what the late atoms measure
    told = beyond_64(lambda c: (1 - 10 * c.eta) * c.measured("part"), 0.0, 1e6)
    assert CASE.algorithm.step_size == 0.1
    assert told.rhs < -1e-11
    assert told.verdict is not Verdict.REFUTED


def test_every_comparison_counts():
    values = np.zeros((1, 100, 1))
    values[0, 90] = 1.0
    measured = Measured(
        "exact",
        ("each", "round"),
        values,
        np.ones(1),
        shadow=np.tile(values[:, :, 0][None], (2, 1, 1)),
    )
    claim = make(right=lambda c: 0.5 + 0 * c.eta)
    told = bounds.judge(claim, CASE, claim.forms[0], measured)
    assert told.verdict is Verdict.REFUTED
    assert "91 of 100" in told.reason


def test_an_iterate_reaches_as_far_as_before_it_is_averaged():
    """Two clients step apart by η, and their average stays where they began."""
    problem = with_overrides(OpposedClients(distance=0.0, opposition_centre=1.0), radius=1.0)
    wide = Case(problem, ComFedL(step_size=2.0), 1)
    left = bound(name="own/reach", source="", statement="", cases=[wide], right=lambda c: c.eta)(
        lambda view: each("round", "local_step", sq(view.mean("w")))
    )
    measured = bounds.measure_exactly(left, wide)
    steps = problem.oracles(torch.float64)
    y, pullback = steps.inner(torch.zeros(problem.clients, 1, 1, dtype=torch.float64), None)
    step = wide.algorithm.step_size * pullback(steps.outer_grad(y, None)).abs().max()
    assert measured.reach == pytest.approx(float(step))
    assert measured.values.max() < 1e-20
    assert step > 1
    row = bounds.judge(left, wide, left.forms[0], measured)
    assert row.verdict is Verdict.INAPPLICABLE
    assert "an iterate reached norm" in row.reason


def test_the_letter_m_of_comfedl_counts_the_cohort():
    case = Case(BoundedComposition(clients=5), ComFedL(participation=0.4), 1)
    claim = make(cases=[case])
    assert bounds.right_side(claim, case, lambda c: c.m) == (2.0, 2.0)
    assert bounds.right_side(claim, case, lambda c: c.n) == (5.0, 5.0)


def test_a_replicate_above_its_range_by_rounding_counts_as_the_range():
    row = sampled([[1.0 + SLACK / 2] * 64], 0.9, 0.9)
    assert row.verdict is Verdict.INCONCLUSIVE
    assert row.lhs["mean"] == 1.0
    assert sampled([[-SLACK / 2] * 64], 0.9, 0.9).lhs["mean"] == 0.0
    assert "range(c) is from 0 to 1" in sampled([[1.0 + 5e-9] * 64], 0.9, 0.9).reason


@pytest.mark.parametrize("odd", [1.5, -0.5])
def test_the_replicate_that_lies_outside_its_range_is_quoted(odd):
    told = sampled([[0.2, odd] * 32], 0.9, 0.9).reason
    assert told.startswith(f"a replicate measured {odd}, but range(c) is from 0 to 1: ")
    at_its_edge = sampled([[1.0 + SLACK, -0.5] * 32], 0.9, 0.9).reason
    assert at_its_edge.startswith("a replicate measured -0.5, ")


def test_replicates_that_equal_the_right_side_are_told_so():
    measured = Measured("sampled", ("each", "round"), np.full((1, 1, 64), 0.5), np.full(64, 1 / 64))
    sides = Sides(measured, 0.5, 0.5, (0.0, 1.0), {})  # no single-precision run: no error known
    row = bounds._sampled(CLAIM, CASE, CLAIM.forms[0], sides)
    assert row.verdict is Verdict.INCONCLUSIVE
    assert row.reason.startswith("the sides agree on each of 64 replicates, within rounding")


def test_components_are_compared_at_the_size_of_the_larger_vector():
    for left, right in (([3.0, 4.0], [0.0, 0.0]), ([0.0, 0.0], [3.0, 4.0])):
        assert [c.scale for c in components("{}", left, right)] == [5.0, 5.0]


def test_a_simplex_without_mass_has_one_point():
    assert comparisons.maximum_over_simplex(np.array([1.0, 2.0]), 0.5, 0.0) == (0.0, 0.0)
    low, high = comparisons.maximum_over_simplex(np.array([1.0, 1.0]), 0.5, 2.0)
    assert low <= 2.0 - np.log(2.0) <= high  # at r = (1, 1): Σ r f − γ Σ r log(2r)
    assert high - low < 1e-6


def test_a_weight_of_0_has_no_entropy():
    """The solver leaves weights of −1e-13, which are taken for 0."""
    low, high = comparisons.maximum_over_simplex(np.array([0.0, 0.0, 0.0, 0.0, 50.0]), 0.5)
    assert low <= 50.0 - 0.5 * np.log(5.0) <= high
    assert high - low < 1e-6


def test_a_statement_says_nothing_that_is_not_known_of_it():
    of_one = Statement("a/b", Verdict.SUPPORTED).public()
    assert (of_one["one_character"], of_one["weakly_tested"]) == (False, False)
    held = statement("a/b", [ReadingVerdict("", "literal", "", Verdict.SUPPORTED)])
    assert held.weakly_tested is False
    assert held.readings[0].empty_hypothesis is False


def test_a_band_is_a_students_interval():
    x = np.array([1.0, 2.0, 4.0, 9.0])
    means, low, high = bands([x, x + 20.0], 0.01)
    spread = np.std(x, ddof=1) / 2.0
    half = student.ppf(1 - 0.01 / 2 / 2, 3) * spread
    assert means.tolist() == [4.0, 24.0]
    assert high == pytest.approx(means + half, rel=1e-8)
    assert low == pytest.approx(np.maximum(means - half, 0.0), rel=1e-8)
    _, _, small = bands([1e-12 * x, 1e-12 * (x + 20.0)], 0.01)
    assert small == pytest.approx(1e-12 * high, rel=1e-8)
    one, least, most = bands([np.array([5.0])], 0.01)  # without noise: rounding alone
    assert (most - least) / one == pytest.approx(2e-9, rel=1e-3)


@pytest.mark.parametrize(("other", "passes"), [(0.9, True), (0.25, False)])
def test_a_pair_of_horizons_that_no_transient_changes_decides_alone(other, passes):
    """At the pairs (1, 0) and, if other is 1/4, (0, 1), the condition does not depend on c."""
    one = np.array([[[0.9, 0.5], [0.25, 0.9]]])
    least, most = _interval(one, np.array([[[1.1, other], [0.5, 1.1]]]), np.array([2.0, 1.0]))
    assert (least[0] <= most[0]) == passes
    assert not passes or least[0] == pytest.approx(-0.25)


def test_rounding_that_is_unknown_excuses_no_replicate_outside_its_range():
    measured = Measured(
        "sampled",
        ("each", "round"),
        np.full((1, 1, 64), 1.5),
        np.full(64, 1 / 64),
        shadow=np.full((2, 1, 64), np.nan),
    )
    sides = Sides(measured, 0.9, 0.9, (0.0, 1.0), {})
    told = bounds._sampled(CLAIM, CASE, CLAIM.forms[0], sides).reason
    assert told.startswith("a replicate measured 1.5, but range(c) is from 0 to 1")


@pytest.mark.parametrize("exponent", [-3.0, 2.0])
def test_an_order_is_found_however_far_from_the_claimed_one(exponent):
    x = 64.0 * 2.0 ** np.arange(15)
    left = possible(x, 0.999 * x**exponent, 1.001 * x**exponent, Order(-0.5))
    assert left.exponents[0] <= exponent <= left.exponents[1]
    assert left.exponents[1] - left.exponents[0] < 0.2


def test_exact_left_sides_have_bands_of_their_rounding():
    x = np.array([10.0, 20.0])
    runs = Grid(x, np.array([2.0, 1.0]), np.array([1.9, 0.9]), np.array([2.1, 1.1]))
    grid, differs = with_exact(runs, {10: (2.0, 2.0), 20: (1.0, 1.0), 40: (0.4, 0.6)})
    assert differs == ""
    assert grid.mean.tolist() == [2.0, 1.0, 0.5]
    assert np.all(grid.low < [2.0, 1.0, 0.4])
    assert np.all(grid.high > [2.0, 1.0, 0.6])
    assert np.all(np.abs(grid.high / [2.0, 1.0, 0.6] - 1) < 1e-8)
    _, differs = with_exact(runs, {10: (2.0, 2.0), 20: (1.2, 1.2)})
    assert differs.startswith("the exact left side at T = 20 is 1.2, but the runs measure 0.9 to")
    assert with_exact(runs, {10: (2.1, 2.2), 20: (0.8, 0.9)})[1] == ""  # at the bands' ends
    assert with_exact(runs, {})[0] is runs


@pytest.mark.parametrize(("off", "agree"), [(1.5e-9, True), (3e-9, False)])
def test_sides_agree_up_to_twice_the_rounding_of_a_replicate(off, agree):
    row = sampled([[0.5 + off] * 64], 0.5, 0.5, error=1e-9)
    assert row.verdict is Verdict.INCONCLUSIVE
    assert row.reason.startswith("the sides agree on each of 64 replicates") == agree


def test_a_refutation_says_if_the_run_ended():
    ended = exact([0.9], 0.5, 0.5, bad_step=3)
    assert ended.reason.endswith("; an iterate or the measure is not finite after step 4")
    assert exact([0.9], 0.5, 0.5).reason.endswith("exceeds right = 0.5")
    assert exact([0.9, 0.95], 0.5, 0.5).reason.endswith("; at round 2")


@pytest.mark.parametrize(
    ("axes", "where"),
    [
        (("round",), "at round 3"),
        (("round", "local_step"), "at round 3, local step 3"),
        (("step",), "at step 9"),
        (("transition",), "at step 9"),
        (("round", "local_step", "client"), "at round 3, local step 3, client 0"),
        (("transition", "client"), "at step 9, client 0"),
    ],
)
def test_a_refutation_says_at_which_round_or_step(axes, where):
    def grows(view):
        x = sq(view.mean("w") - 20.0)  # w goes from 9 towards 0
        return each(*axes, x.expand(2, -1) if axes[-1] == "client" else x)

    member = BoundedComposition(clients=2, distance=9.0)
    case = Case(member, ComFedL(local_steps=3, step_size=0.5), 3)
    claim = replace(CLAIM, left=grows, cases=[case], right=lambda c: c.eta, assumes=[])
    (row,) = [x for x in judge([claim], Settings()) if x.form == "printed"]
    assert row.verdict is Verdict.REFUTED
    assert row.reason.endswith(where)


def test_a_measure_that_is_silent_at_some_moments_has_comparisons_alone():
    def later(view):
        return each("step", sq(view.mean("w") - 20.0)) if view.t else None

    claim = replace(
        CLAIM,
        left=later,
        cases=[Case(BoundedComposition(), ComFedL(), 3)],
        right=lambda c: c.eta,
        assumes=[],
    )
    (row,) = [x for x in judge([claim], Settings()) if x.form == "printed"]
    assert re.search(r"; at comparison [12] of 2$", row.reason)


def test_what_cancels_in_an_exponent_leaves_nothing_certain():
    """2^0 − 1, where terms of 10^50 cancel: 60 digits leave some 10^−10 of them."""
    p = sympy.Symbol("p", positive=True)
    large = sympy.Integer(10) ** 25
    nothing = (p + large) ** 2 - p**2 - 2 * large * p - large**2
    for third in (sympy.Rational(1, 3), sympy.Rational(22, 7)):
        assert conditioned.value(2**nothing - 1, {p: third}) == 0
    assert conditioned.value(2 ** (nothing + p) - 1, {p: sympy.Rational(1, 3)}) > 0


def test_sides_that_are_equal_at_each_pair_of_horizons_exclude_nothing():
    ones = np.ones((1, 2, 2))
    least, most = _interval(ones, ones, np.ones(2))
    assert (least.tolist(), most.tolist()) == ([-0.5], [1.0])


def test_no_fewer_than_five_horizons_are_used():
    """Each curve that passes rises from below, and leaving out horizons does not mend that."""
    x = 64.0 * 16.0 ** np.arange(6)
    mean = x**-0.5 * (1 - 0.5 * (x / x[0]) ** -0.25)
    assert possible(x, mean * (1 - 1e-9), mean * (1 + 1e-9), Order(-0.5)).first == x[1]


def test_as_many_exponents_are_tried_above_the_slope_as_below():
    x = 64.0 * 2.0 ** np.arange(15)
    tried = _around_slope(x, x**-0.5, x**-0.5, Order(-0.5))
    assert (tried[0], tried[-1]) == (pytest.approx(-0.7), pytest.approx(0.7))


@pytest.mark.parametrize(
    ("exponents_left", "attained"), [((-1.2, -1.0), False), ((-1.04, -1.0), True), (None, False)]
)
def test_an_order_is_attained_if_faster_ones_are_excluded(exponents_left, attained):
    left = Possible(exponents_left, None, 1.0)
    assert order_decided(left, Order(-1.0), 0.05)[0].attained is attained
