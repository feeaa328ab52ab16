"""Letters that set units: what is found with them at 1 holds for all of their values."""

from fractions import Fraction

import pytest

from driftproof.synthetic.classes import for_all, over, similar, smooth_strongly_convex
from driftproof.toolkit.algorithms.fedavg import FedAvg
from driftproof.verifiers.judges.theorems import region_of, right_side
from driftproof.verifiers.papers.localsgd.claims import any_state
from driftproof.verifiers.worst_case.builder import build
from driftproof.verifiers.worst_case.homogeneous import units
from driftproof.verifiers.worst_case.region import Sample, multipliers
from driftproof.verifiers.worst_case.signs import Region

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
        ({"eta": for_all("0 < eta <= 1/4"), "mu": for_all("0 < mu < L"),
          "L": for_all("0 < L <= 1")}, ("zeta",)),  # ends that are numbers set units themselves
        ({"L": 1, "zeta": 1}, ()),
    ],
)  # fmt: skip
def test_what_numbers_set_no_letter_sets(fixed, letters):
    case, region, _ = programs(**fixed)
    assert units(case, region).letters == letters
