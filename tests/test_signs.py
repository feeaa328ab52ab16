"""Letters have the sign of their role, and assumptions are evaluated with numbers at each case."""

from fractions import Fraction

import pytest
import sympy

from driftproof.synthetic.classes import for_all, over, similar, smooth_strongly_convex
from driftproof.toolkit.algorithms.fedavg import FedAvg
from driftproof.toolkit.cases import Assumption
from driftproof.toolkit.constants import ROLES, RUN_ROLES, SIGNS, Letters, Notation, evaluate
from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.measure import each
from driftproof.toolkit.verdict import Verdict
from driftproof.verifiers.judges.theorems import region_of, right_side
from driftproof.verifiers.papers.localsgd.claims import any_state
from driftproof.verifiers.worst_case.builder import build
from driftproof.verifiers.worst_case.homogeneous import units
from driftproof.verifiers.worst_case.region import Sample, multipliers
from driftproof.verifiers.worst_case.signs import Region
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
            cases=[Case(Line(at=start), FedAvg(), 1)],
            left=size,
            right=lambda c: 0 * c.eta,
            assumes=[Assumption("A", "x", relation=relation)],
        )
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
    [
        ("objective_smoothness", -1.0, "0 or more"),
        ("clients", 0, "above 0"),
        ("rounds", 2.5, "whole"),
    ],
)
def test_a_constant_of_another_sign_is_refused(role, value, wanted):
    notation = Notation({"x": role})
    with pytest.raises(DriftproofError, match=wanted) as told:
        evaluate(Letters(notation).x + 1, notation, {role: value})
    assert role in told.value.got
    assert evaluate(Letters(notation).x + 1, notation, {role: 3}) == 4


# -- letters that set units: what is found with them at 1 holds for all of their values


CLAIM = any_state.after_a_round


def programs(**fixed):
    """Return the program of one round, its region and its bound; letters may be fixed."""
    letters = {"L": "0 < L", "mu": "0 < mu < L", "zeta": "0 < zeta", "eta": "0 < eta < 2/(L + mu)"}
    of = {name: fixed.get(name, for_all(said)) for name, said in letters.items()}
    conditions = [smooth_strongly_convex(L=of["L"], mu=of["mu"]), similar(zeta=of["zeta"])]
    (case,) = over(conditions, FedAvg(local_steps=2, step_size=of["eta"]), rounds=1)
    region = Region(region_of(CLAIM, case))
    (form,) = [form for form in CLAIM.forms if form.form == "corrected"]
    *_, last = build(case.algorithm, case.problem, rounds=1, left=CLAIM.left)
    factors = {"before": (1 - region.free["eta"] * region.free["mu"]) ** 4}
    return last.less(factors), region, right_side(CLAIM, case, form, region).of_letters(region)


def test_multipliers_in_other_units_are_those_that_are_solved_there():
    case, region, right = programs()
    found = units(case, region)
    assert found.letters == ("L", "zeta")
    assert (found.of_letter["mu"], found.of_letter["eta"]) == ((1, 0), (-1, 0))
    point = {"L": 3, "zeta": 5, "mu": Fraction(2, 3), "eta": Fraction(1, 4)}
    point = {name: Fraction(x) for name, x in point.items()}
    made = multipliers(case, region, right)
    own = Sample(case, point).multipliers(list(made))
    assert own == {k: of.at(point) for k, of in made.items()}


@pytest.mark.parametrize(
    ("fixed", "letters"),
    [
        ({"L": 1}, ("zeta",)),
        (
            {
                "eta": for_all("0 < eta <= 1/4"),
                "mu": for_all("0 < mu < L"),
                "L": for_all("0 < L <= 1"),
            },
            ("zeta",),
        ),  # ends that are numbers set units themselves
        ({"L": 1, "zeta": 1}, ()),
    ],
)
def test_what_numbers_set_no_letter_sets(fixed, letters):
    case, region, _ = programs(**fixed)
    assert units(case, region).letters == letters
