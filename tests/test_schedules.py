"""Schedules, constructions and misprints: what decides about a statement, and what does not."""

from __future__ import annotations

import dataclasses

import pytest
import sympy
from sympy import sqrt, symbols

from synthetic.problems import BoundedComposition
from tests.test_claims import drift
from toolkit.algorithms import ComFedL
from toolkit.cases import Assumption, Case, grid
from toolkit.discover import leaves
from toolkit.measure import average, sq
from toolkit.parameters import sweep
from toolkit.readings import Erratum, intended, literal
from toolkit.statements import at_odds, statement
from toolkit.verdict import Evidence, Verdict, overall
from verifiers import record
from verifiers.asserting import assert_claim
from verifiers.claim_types.bound import bound
from verifiers.claim_types.derived import Derived
from verifiers.claim_types.rate import RateClaim, Schedule, rate
from verifiers.judges.followed import broken_assumption, off_schedule
from verifiers.verify import Settings, judge

T = symbols("T", positive=True)
SUPPORTED, REFUTED, INCONCLUSIVE = Verdict.SUPPORTED, Verdict.REFUTED, Verdict.INCONCLUSIVE
HORIZONS = (16, 64, 256)


def rated(step_size, schedule, derived=None):
    """Return a rate whose cases have these step sizes, as functions of T."""
    decorate = rate(
        name="own/rate", source="–", statement=r"x = O(\order)", horizon=T,
        cases=[
            Case(BoundedComposition(), ComFedL(local_steps=1, step_size=step_size(t)), t)
            for t in HORIZONS
        ],
        right=Schedule({"eta": schedule}, 1 / sqrt(T)),
        derived=None if derived is None else Derived(derived, "printed"),
    )  # fmt: skip
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
        name="own/bound", source="–", statement="x",
        assumes=[Assumption("small step", r"\eta \le 1/L", relation=relation)],
        cases=grid(BoundedComposition(), ComFedL(), rounds=2),
        right=lambda c: c.eta**2 * c.G_f**2 * c.G_g**2 + c.F_gap / (c.eta * c.T),
    )  # fmt: skip
    return decorate(drift)


@pytest.mark.parametrize(
    ("schedule", "breaks"), [(1 / sqrt(T), False), (sympy.Rational(1, 2), False), (T, True)]
)
def test_a_schedule_that_breaks_the_bounds_assumption_gives_no_rate(schedule, breaks):
    assumes = small_steps(lambda c: c.eta <= 1 / c.L)
    made = rated(lambda t: 0.1, schedule, assumes)
    told = broken_assumption(made, made.forms[0].right, made.notation(made.cases[0]))
    assert ("breaks for all large T" in told) == breaks


def test_every_rate_of_the_papers_follows_its_schedule():
    for name, leaf in leaves("claim").items():
        held = leaf.load()
        if not isinstance(held, RateClaim):
            continue
        for form in held.forms:
            if form.form != "sibling" and isinstance(form.right, Schedule):
                measured = form is [f for f in held.forms if isinstance(f.right, Schedule)
                                    and f.form != "sibling"][-1]  # fmt: skip
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
    assert record.as_expected(rows)
    with pytest.raises(AssertionError, match="as meant: REFUTED"):
        assert_claim(about_drift(readings=readings(lambda c: exactly(c) / 2, lambda c: 0)))
    held = about_drift(readings=readings(exactly, twice), erratum=MISPRINT)
    readable = [dataclasses.replace(row, expected=None) for row in judge([held], Settings())]
    assert record.as_expected(readable)


def test_an_erratum_that_the_verdicts_contradict_is_told():
    from toolkit.report.page import grouped

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
