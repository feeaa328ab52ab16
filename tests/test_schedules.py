"""Schedules, constructions and misprints: what decides about a statement, and what does not."""

import dataclasses

import numpy as np
import pytest
import sympy
from sympy import sqrt, symbols

from driftproof.synthetic.problems import BoundedComposition
from driftproof.toolkit.algorithms import ComFedL
from driftproof.toolkit.cases import Assumption, Case, grid
from driftproof.toolkit.discover import leaves
from driftproof.toolkit.measure import average, sq
from driftproof.toolkit.parameters import sweep
from driftproof.toolkit.readings import Erratum, intended, literal
from driftproof.toolkit.statements import at_odds, statement
from driftproof.toolkit.verdict import Evidence, Verdict, overall
from driftproof.verifiers import baseline
from driftproof.verifiers.asserting import assert_claim
from driftproof.verifiers.claim_types.bound import bound
from driftproof.verifiers.claim_types.derived import Derived
from driftproof.verifiers.claim_types.rate import Floor, RateClaim, Schedule, rate
from driftproof.verifiers.judges import slope
from driftproof.verifiers.judges.rates import judge_schedule
from driftproof.verifiers.judges.schedule_check import (
    broken_assumption,
    measured_exponents,
    off_schedule,
)
from driftproof.verifiers.verify import Settings, judge
from tests.test_claims import drift

T = symbols("T", positive=True)
SUPPORTED, REFUTED, INCONCLUSIVE = Verdict.SUPPORTED, Verdict.REFUTED, Verdict.INCONCLUSIVE
HORIZONS = (16, 64, 256)


def rated(step_size, schedule, derived=None):
    """Return a rate whose cases have these step sizes, as functions of T."""
    decorate = rate(
        name="own/rate",
        source="–",
        statement=r"x = O(\order)",
        horizon=T,
        cases=[
            Case(BoundedComposition(), ComFedL(local_steps=1, step_size=step_size(t)), t)
            for t in HORIZONS
        ],
        right=Schedule({"eta": schedule}, 1 / sqrt(T)),
        derived=None if derived is None else Derived(derived, "printed"),
    )
    return decorate(lambda view: average("round", sq(view.gradient(view.round_start("w")))))


@pytest.mark.parametrize(
    ("step_size", "schedule", "follows"),
    [
        (lambda t: t**-0.5, 1 / sqrt(T), True),
        (lambda t: 0.3 * t**-0.5, 1 / sqrt(T), True),  # an order has a constant
        (lambda t: 0.25, 1 / sqrt(T), False),
        (lambda t: 0.25, 100 * T, False),
        (lambda t: t**-0.6, 1 / sqrt(T), False),
    ],
)
def test_the_cases_of_a_rate_have_to_follow_its_schedule(step_size, schedule, follows):
    made = rated(step_size, schedule)
    told = off_schedule(made, made.forms[0], made.cases)
    assert (told == "") == follows
    assert follows or "the schedule is eta" in told


def small_steps(relation):
    decorate = bound(
        name="own/bound",
        source="–",
        statement="x",
        assumes=[Assumption("small step", r"\eta \le 1/L", relation=relation)],
        cases=grid(BoundedComposition(), ComFedL(), rounds=2),
        right=lambda c: c.eta**2 * c.G_f**2 * c.G_g**2 + c.F_gap / (c.eta * c.T),
    )
    return decorate(drift)


@pytest.mark.parametrize(
    ("schedule", "breaks"), [(1 / sqrt(T), False), (sympy.Rational(1, 2), False), (T, True)]
)
def test_a_schedule_that_breaks_the_bounds_assumption_gives_no_rate(schedule, breaks):
    assumes = small_steps(lambda c: c.eta <= 1 / c.L)
    made = rated(lambda t: 0.1, schedule, assumes)
    told = broken_assumption(made, made.forms[0].right, made.notation(made.cases[0]))
    assert ("breaks for all large T" in told) == breaks


ROOT = 1 / sqrt(T)
FLOOR = Floor("one client", lambda letters: letters["eta"] / 4)


def decided(schedule, derived=None, assumes=None, **fields):
    """Judge a schedule of a rate that follows from F_gap/(ηT) + η²G_f²G_g² (``small_steps``)."""
    if derived is not None:
        fields["derived"] = Derived(small_steps(assumes or (lambda c: c.eta <= 1)), "printed")
    made = dataclasses.replace(rated(lambda t: 0.5 * t**-0.5, ROOT), **fields)
    form = dataclasses.replace(made.forms[0], right=schedule)
    return judge_schedule(made, form, schedule, made.notation(made.cases[0]))


def test_a_schedule_that_turns_each_term_into_one_of_the_order_is_supported():
    row = decided(Schedule({"eta": ROOT}, ROOT), derived=True)
    assert (row.verdict, row.evidence, row.comparisons) == (SUPPORTED, Evidence.SYMBOLIC, 2)
    assert row.case["derived"] == {"claim": "own/bound", "form": "printed"}
    said = [text for text, holds, _ in row.series.steps if holds is True]
    assert len(said) == 4  # two terms, which exponents give the rate, and its cost in samples
    assert said[-1].startswith("N = O(T^{1})")
    by_rounds = decided(Schedule({"eta": ROOT}, ROOT), derived=True, size=lambda case: case.rounds)
    assert len(by_rounds.series.steps) == 2  # rounds are no samples


def test_a_term_of_the_bound_that_is_not_of_the_order_leaves_a_rate_open():
    row = decided(Schedule({"eta": 1 / T ** sympy.Rational(1, 4)}, 1 / T), derived=True)
    assert row.verdict is INCONCLUSIVE
    assert row.reason.startswith("the bound of own/bound (printed) has a term (")
    assert "which is not of the order" in row.reason
    assert decided(Schedule({"eta": ROOT}, 1 / T), derived=True).verdict is INCONCLUSIVE
    slower = decided(Schedule({"eta": ROOT}, 1 / T ** sympy.Rational(1, 4)), derived=True)
    assert slower.verdict is SUPPORTED  # 𝒪 is an upper bound


def test_a_schedule_without_a_bound_or_a_floor_is_open():
    row = decided(Schedule({"eta": ROOT}, ROOT))
    assert row.verdict is INCONCLUSIVE
    assert row.reason == "no bound is named that implies the rate, and no floor refutes it"


@pytest.mark.parametrize("derived", [None, True])
@pytest.mark.parametrize(
    ("order", "refuted"), [(1 / T, True), (ROOT, False), (ROOT / sympy.log(T), True)]
)
def test_a_floor_that_outgrows_the_order_refutes_a_rate(derived, order, refuted):
    row = decided(
        Schedule({"eta": ROOT}, order), derived=derived if order.is_Pow else None, floors=[FLOOR]
    )
    assert (row.verdict is REFUTED) == refuted
    assert not refuted or row.reason == "one client: left ≥ 1/(4·sqrt(T)) for large T"
    silent = Floor("two clients", lambda letters: None)
    assert decided(Schedule({"eta": ROOT}, order), floors=[silent]).verdict is INCONCLUSIVE
    assert decided(Schedule({"eta": ROOT}, order), floors=[silent, FLOOR]).verdict is (
        REFUTED if refuted else INCONCLUSIVE
    )


def test_a_minibatch_below_one_sample_is_an_empty_hypothesis():
    """And an empty hypothesis comes before a floor: it speaks of nothing that could be refuted."""
    row = decided(
        Schedule({"eta": ROOT, "b": 1 / T}, ROOT, counts=("b",)),
        derived=True,
        floors=[Floor("one client", lambda letters: T)],
    )
    assert (row.verdict, row.empty_hypothesis) == (Verdict.INAPPLICABLE, True)
    assert row.reason.startswith("b = 1/T is below 1 for every T > 1")
    assert "would grow like T^(-1/2)" in row.reason
    one = decided(Schedule({"eta": ROOT, "b": T**0}, ROOT, counts=("b",)), derived=True)
    assert one.verdict is SUPPORTED


def test_a_schedule_that_breaks_the_bounds_assumption_is_open():
    row = decided(Schedule({"eta": ROOT}, ROOT), derived=True, assumes=lambda c: c.eta >= 1)
    assert row.verdict is SUPPORTED  # 1 − η is bounded: the cases have to do
    row = decided(Schedule({"eta": ROOT}, ROOT), derived=True, assumes=lambda c: c.T <= 1 / c.L)
    assert row.verdict is INCONCLUSIVE
    assert "which this schedule breaks for all large T" in row.reason


def test_replicates_that_vary_exceed_a_bound_only_with_a_range():
    made = rated(lambda t: t**-0.5, ROOT, small_steps(lambda c: c.eta <= 1))
    limits, over = slope._bounds(made, made.cases, [np.zeros(64)] * 3)
    assert limits[0] > 1.5 * limits[1] > limits[2]
    assert over == []
    noisy = [np.tile([0.9 * limits[1], 1.5 * limits[1]], 2048)] * 3
    assert slope._bounds(made, made.cases, noisy) == (limits, [])
    ranged = dataclasses.replace(made, range=lambda c: 2 * limits[0] + 0 * c.eta)
    assert slope._bounds(ranged, made.cases, noisy) == (limits, [64, 256])
    constant = [np.full(64, at * factor) for at, factor in zip(limits, (1, 1.1, 0.9), strict=True)]
    assert slope._bounds(made, made.cases, constant) == (limits, [64])
    assert slope._bounds(rated(lambda t: t**-0.5, ROOT), made.cases, noisy) == ([], [])


def test_a_free_exponent_is_solved_from_the_cases_and_a_letter_is_none():
    power, letter = symbols("a m", positive=True)
    free = rated(lambda t: t**-0.5, T**-power)
    assert measured_exponents(free) == {power: sympy.Rational(1, 2)}
    assert measured_exponents(rated(lambda t: t**-0.5, letter / T)) == {}
    assert measured_exponents(rated(lambda t: t**-0.5, 1 / sqrt(T))) == {}


def test_every_rate_of_the_papers_follows_its_schedule():
    for name, leaf in leaves("claim").items():
        held = leaf.load()
        if not isinstance(held, RateClaim):
            continue
        for form in held.forms:
            if form.form != "sibling" and isinstance(form.right, Schedule):
                measured = (
                    form
                    is [
                        f
                        for f in held.forms
                        if isinstance(f.right, Schedule) and f.form != "sibling"
                    ][-1]
                )
                assert not measured or off_schedule(held, form, held.cases) == "", name


def twice(c):
    return 2 * exactly(c)


def exactly(c):
    return (c.tau * c.eta * c.G_g * c.G_f) ** 2


def about_drift(kind="bound", **fields):
    cases = grid(BoundedComposition(distance=50.0), ComFedL(local_steps=sweep(2, 3)), rounds=2)
    return bound(name="own/drift", kind=kind, source="–", statement="x", cases=cases, **fields)(
        drift
    )


MISPRINT = Erratum("misprint", changes="twice the bound is what the proof gives")


def readings(first, second):
    return {"as printed": literal(first), "as meant": intended(second, quote="the proof")}


def test_a_misprint_whose_intended_reading_holds_is_no_failure():
    made = about_drift(readings=readings(lambda c: exactly(c) / 2, exactly), erratum=MISPRINT)
    assert_claim(made)
    rows = judge([made], Settings())
    assert baseline.as_expected(rows)
    with pytest.raises(AssertionError, match="as meant: REFUTED"):
        assert_claim(about_drift(readings=readings(lambda c: exactly(c) / 2, lambda c: 0)))
    held = about_drift(readings=readings(exactly, twice), erratum=MISPRINT)
    readable = [dataclasses.replace(row, expected=None) for row in judge([held], Settings())]
    assert baseline.as_expected(readable)


def test_an_erratum_that_the_verdicts_contradict_is_told():
    from driftproof.toolkit.groups import grouped

    made = about_drift(readings=readings(exactly, twice), erratum=MISPRINT)
    printed = [g.as_reading for g in grouped(judge([made], Settings()))["own/drift"]]
    one = statement("own/drift", printed, vars(MISPRINT))
    assert at_odds(one) == "its erratum says misprint, but no literal reading fails"
    wrong = statement("own/drift", printed, vars(MISPRINT) | {"severity": "false"})
    assert at_odds(wrong)
    assert at_odds(statement("own/drift", printed, None)) == ""


def test_one_construction_that_fails_does_not_refute_an_existence_statement():
    """The bound holds for two local steps and not for three."""
    right = literal(lambda c: (2 * c.eta * c.G_g * c.G_f) ** 2)
    rows = judge([about_drift("existence", readings={"some τ": right})], Settings())
    assert {row.verdict for row in rows} == {SUPPORTED, REFUTED}
    assert overall(rows) is SUPPORTED
    refuted = [row for row in rows if row.verdict is REFUTED]
    assert overall(refuted) is INCONCLUSIVE
    proof = [dataclasses.replace(row, evidence=Evidence.SYMBOLIC) for row in refuted]
    assert overall(proof) is REFUTED
    assert overall([dataclasses.replace(row, kind="bound") for row in rows]) is REFUTED
