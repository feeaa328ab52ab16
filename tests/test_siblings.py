"""Generated controls: what is changed, what could be refuted at all, and what survives."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from textwrap import dedent

import numpy as np
import pytest
import sympy
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from driftproof.toolkit.constants import Letters, Notation
from driftproof.toolkit.discover import leaves, leaves_in
from driftproof.toolkit.verdict import Verdict
from driftproof.verifiers import siblings as kinds
from driftproof.verifiers.generated import check
from driftproof.verifiers.siblings import apart, controls_of, generated, values_of
from driftproof.verifiers.verify import Settings, judge
from tests.commands import driftproof

NOTATION = Notation({
    "L_f": "inner_smoothness", "L_g": "outer_smoothness", "G_f": "inner_gradient_bound",
    "sigma_1": "inner_gradient_noise", "sigma_2": "inner_value_noise", "tau": "local_steps",
    "eta": "step_size", "b": "batch",
}, dict.fromkeys(["local_steps", "batch"], "positive integer"))  # fmt: skip
c = Letters(NOTATION)


def changes(right):
    """Return the generated right sides by their kinds."""
    by_kind = {}
    for sibling in generated(right, NOTATION):
        by_kind.setdefault(sibling.kind, set()).add(sympy.expand(sibling.right))
    return by_kind


def test_each_kind_of_change_on_a_small_right_side():
    made = changes(2 * c.L_f * c.eta * c.tau + c.L_g**2)
    first, second = 2 * c.L_f * c.eta * c.tau, c.L_g**2
    assert made == {
        kinds.DROPPED: {first, second},
        kinds.HALVED: {(first + second) / 2, first / 2 + second, first + second / 2},
        kinds.EXPONENT: {
            2 * c.eta * c.tau + second, 2 * c.L_f**2 * c.eta * c.tau + second,
            2 * c.L_f * c.tau + second, 2 * c.L_f * c.eta**2 * c.tau + second,
            2 * c.L_f * c.eta + second, 2 * c.L_f * c.eta * c.tau**2 + second,
            first + c.L_g, first + c.L_g**3,
        },
        kinds.SWAPPED: {2 * c.L_g * c.eta * c.tau + c.L_f**2},
        kinds.SIGN: {second - first, first - second},
        kinds.LOCAL_STEP: {first - 2 * c.L_f * c.eta + second},
    }  # fmt: skip


def test_sums_inside_others_and_maxima_are_changed_too():
    largest = sympy.Max(c.sigma_1, c.sigma_2)
    made = changes(c.eta * sympy.sqrt(c.L_f + c.L_g) * largest)
    assert c.eta * sympy.sqrt(c.L_f) * largest in made[kinds.DROPPED]
    assert c.eta * sympy.sqrt(c.L_f + c.L_g) * c.sigma_1 in made[kinds.DROPPED]
    assert c.eta * sympy.sqrt(c.L_f + c.L_g / 2) * largest in made[kinds.HALVED]
    # L_f and L_g, σ_1 and σ_2 stand alike: swapped they are the same right side
    assert kinds.SWAPPED not in made


def test_what_is_measured_keeps_its_name_and_its_exponent():
    right = (1 - c.eta) * c.measured("past") + c.eta**2
    made = generated(right, NOTATION)
    assert made
    for sibling in made:
        stated = kinds.InLetters(sibling.right, None)(Letters(NOTATION))
        assert sympy.simplify(stated - sibling.right) == 0
        assert sympy.Poly(sibling.right, c.measured("past")).degree() <= 1


def monomials():
    letters = st.sampled_from(sorted(NOTATION))
    powers = st.dictionaries(letters, st.sampled_from([-2, -1, 1, 2]), max_size=3)
    number = st.sampled_from([1, 2, 5, sympy.Rational(1, 2)])
    return st.tuples(number, powers).map(
        lambda drawn: drawn[0] * sympy.prod(getattr(c, x) ** p for x, p in drawn[1].items())
    )


@settings(max_examples=15)
@given(st.lists(monomials(), min_size=1, max_size=3), st.integers(0, 2**16))
def test_a_sibling_differs_from_the_claim_and_from_each_other(terms, seed):
    right = sympy.Add(*terms)
    assume(right.free_symbols)
    siblings = generated(right, NOTATION)
    random = np.random.default_rng(seed)
    points = {x: np.exp(random.normal(size=50)) for x in NOTATION}
    values = values_of([right, *(s.right for s in siblings)], points)
    # ten digits: a change of a term that is tiny at one point is large at another
    different = {tuple(f"{x:.10g}" for x in row) for row in values}
    assert len(different) == len(siblings) + 1
    assert {s.kind for s in siblings} <= set(kinds.KINDS)


def test_the_command_prints_shares_and_survivors(tmp_path):
    (leaf,) = mine(tmp_path, "0.1")
    of_it = ("controls", str(leaf.path), "--generated", "--quiet")
    shown = driftproof(*of_it, "--workers", "2")
    assert shown.returncode == 0, shown.stderr
    assert re.search(r"mine/drift +an exponent off by one +\d+ +\d+", shown.stdout)
    assert re.search(r"Siblings that differ on a case: \d+ of \d+ refused \(\d+%\)", shown.stdout)
    assert "survived: mine/drift, printed: an exponent off by one, eta → 1" in shown.stdout
    assert "True forms wrongly refused: 0 of 1" in shown.stdout
    as_json = driftproof(*of_it, "--workers", "1", "--json")
    outcome = json.loads(as_json.stdout)
    survivors = [s for s in outcome["siblings"] if not s["refused"]]
    assert shown.stdout.count("survived:") == len(survivors)


@pytest.mark.parametrize(
    ("sibling", "expected"),
    [
        (c.eta / 2, [True, True]),  # smaller
        (2 * c.eta, [False, False]),  # implied by the claim
        (c.eta * c.L_f, [True, False]),  # smaller where L_f < 1
        (c.eta, [False, False]),  # the claim
        (c.eta - sympy.sqrt(1 - c.L_f), [True, False]),  # no real number where L_f > 1
        (c.eta + c.eta * c.measured("past"), [True, True]),  # which is smaller depends on it
    ],
)
def test_where_a_sibling_could_be_refuted(sibling, expected):
    numbers = {"eta": np.array([0.1, 0.1]), "L_f": np.array([0.5, 2.0])}
    assert apart(sibling, c.eta, numbers).tolist() == expected


def test_a_sibling_that_the_claim_implies_is_no_control():
    claim = leaves("claim")["comfedl/lemma-2"].load()
    (form,) = {form.key for form in claim.forms if form.form == "printed"}
    controls = controls_of(claim)
    letters = Letters(claim.notation(claim.cases[0]))
    assert len({control.name for control in controls}) == len(controls)
    for control in controls:
        smaller = [case for case in claim.cases if control.stated.assumes[-1].applies(case)]
        assert len(smaller) == control.cases
        assert control.form == form
    changed = {str(control.stated.right(letters)): control.cases for control in controls}
    assert changed["G_f**2*G_g**2*eta**2*tau**2/2"] == len(claim.cases)
    # η² → η is larger wherever η < 1, as on every case, but not at all letters
    assert changed["G_f**2*G_g**2*eta*tau**2"] == 0


MINE = """
    from driftproof import Assumption, bound, each, grid, sq, sweep
    from driftproof.algorithms import ComFedL
    from driftproof.problems import BoundedComposition

    SMALL = Assumption("step size", r"\\eta \\le 0.1", relation=lambda c: c.eta <= 0.1)

    @bound(
        name="mine/drift", source="a test", statement="drift", assumes=[SMALL],
        cases=grid(
            BoundedComposition(clients=2, distance=20.0),
            ComFedL(local_steps=sweep(1, 3), step_size=sweep(0.1, 0.5)), rounds=2,
        ),
        right=lambda c: FACTOR * c.tau**2 * c.eta * c.G_f**2 * c.G_g**2,
    )
    def drift(view):
        return each("round", "local_step", sq(view.mean("w") - view.round_start("w")))
"""


def mine(folder, factor):
    path = folder / "mine.py"
    path.write_text(dedent(MINE).replace("FACTOR", factor))
    return list(leaves_in(path, "claim"))


def test_the_controls_of_a_claim_of_ones_own(tmp_path):
    outcome = check(mine(tmp_path, "0.1"), seed=0, workers=1)
    refused = {(s.kind, s.change) for s in outcome.siblings if s.refused}
    assert (kinds.LOCAL_STEP, "tau → tau - 1") in refused
    assert (kinds.UNASSUMED, r"step size: \eta \le 0.1") in refused
    assert kinds.HALVED in {kind for kind, _ in refused}
    for sibling in outcome.siblings:
        assert bool(sibling.refused) != bool(sibling.reason)
        assert not sibling.refused or sibling.cases
    assert (outcome.forms, outcome.wrong, outcome.unrecorded) == (1, [], [])
    assert outcome.promised == 0.0  # its cases are exact
    assert not replace(outcome, wrong=[("mine/drift", "printed")]).good
    assert outcome.good


def test_a_false_claim_has_no_controls_and_is_told(tmp_path):
    outcome = check(mine(tmp_path, "0.05"), seed=0, workers=1)
    assert (outcome.wrong, outcome.unrecorded) == ([], [("mine/drift", "printed")])
    assert not outcome.good
    assert outcome.siblings == []


def test_a_claim_with_siblings_is_judged_as_without_them():
    claim = leaves("claim")["comfedl/theorem-2"].load()
    plain = judge([claim], Settings(profile="smoke"))
    changed = [(control.name, control.stated) for control in controls_of(claim)][:5]
    beside = judge(
        [replace(claim, false_siblings=changed)], Settings(profile="smoke", siblings=True)
    )
    own = [row for row in beside if row.form != "sibling"]
    assert [(row.form_key, row.verdict, row.lhs) for row in own] == [
        (row.form_key, row.verdict, row.lhs) for row in plain
    ]
    assert {row.verdict for row in plain} == {Verdict.SUPPORTED}
