"""Laws over every claim: its verdicts are those on record, and its false relatives are refused."""

import dataclasses
import json

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from driftproof.synthetic.problems import BoundedComposition
from driftproof.toolkit.algorithms import ComFedL
from driftproof.toolkit.cases import Assumption, Case, grid
from driftproof.toolkit.discover import leaves
from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.groups import grouped
from driftproof.toolkit.measure import average, each, sq
from driftproof.toolkit.readings import ByProof
from driftproof.toolkit.verdict import Verdict, overall
from driftproof.verifiers import baseline
from driftproof.verifiers.asserting import assert_claim
from driftproof.verifiers.claim_types.bound import BoundClaim, bound
from driftproof.verifiers.claim_types.order_in_statement import PLACE
from driftproof.verifiers.claim_types.rate import RateClaim
from driftproof.verifiers.controls import checked
from driftproof.verifiers.in_print.citations import PUBLISHED
from driftproof.verifiers.judges.bounds import measure_block
from driftproof.verifiers.verify import Settings, judge
from tests.leaves import claims
from tests.once import every_claim
from tests.test_counterexamples import disagreeing


@pytest.mark.parametrize("made", claims())
def test_a_claim_says_what_it_is(made):
    assert made.kind in made.kinds
    assert made.source
    assert made.statement
    assert made.judged_on or made.prove or any(isinstance(f.right, ByProof) for f in made.forms)
    if not made.name.startswith(PUBLISHED):  # half of which are false themselves
        assert len([form for form in made.forms if form.form == "sibling"]) >= 2
    for form in made.forms:
        assert form.form != "corrected" or len(form.note) > 40
    keys = [case.key for case in made.cases_for("full")]
    assert len(keys) == len(set(keys))


@pytest.mark.parametrize("made", claims())
def test_verdicts_are_those_on_record_and_siblings_are_refused(made):
    """The quick profile, with siblings: one test, because it is one run."""
    rows = judge([made], Settings(siblings=True))
    for group in grouped(rows)[made.name]:
        if group.form == "sibling":
            assert group.verdict is Verdict.REFUTED, group.reading
        elif group.verdict is Verdict.SUPPORTED:
            assert any(not row.vacuous for row in group.rows)
    own = [row for row in rows if row.form != "sibling"]
    for row in own:
        assert row.expected is not None, f"not on record: {row.claim} {row.case['label']}"
        assert row.verdict == row.expected, row.case["label"]
    held = baseline.read()[made.name]
    recorded = {(form, key) for form, cases in held.items() for key in cases}
    assert recorded == {(row.form_key, row.case["key"]) for row in own}
    assert baseline.as_expected(own)
    assert all(check.good for check in checked(rows))
    assert disagreeing(made.name, own) == []


def test_verdicts_hold_with_another_seed(tmp_path_factory):
    """Of claims with several replicates: all others draw nothing."""
    held = json.loads((every_claim(tmp_path_factory) / "results.json").read_text(encoding="utf-8"))
    drawn = sorted({row["claim"] for row in held["results"] if (row["replicates"] or 0) > 1})
    assert len(drawn) > 5
    for row in judge(
        [leaves("claim")[name].load() for name in drawn], Settings(profile="smoke", seed=12345)
    ):
        assert row.expected is None or row.verdict == row.expected, row.claim


def test_metadata_are_literals_that_need_no_import():
    for leaf in leaves("claim").values():
        loaded = leaf.load()
        assert leaf.name == loaded.name
        written, shown = leaf.metadata["statement"], loaded.statement
        assert written == shown or isinstance(loaded, RateClaim)
        assert (PLACE in written) == (isinstance(loaded, RateClaim))
        assert PLACE not in shown
        assert leaf.metadata["source"] == loaded.source


# A broken algorithm: the server forgets one client in its average and so moves further.
class _Overshooting(ComFedL):
    def step(self, ctx, oracles, state):
        made = super().step(ctx, oracles, state)
        return made._replace(w=state.w + 2.0 * (made.w - state.w))


def test_a_broken_algorithm_is_refused():
    made = leaves("claim")["comfedl/lemma-2"].load()
    broken = [
        Case(case.problem, _Overshooting(**case.algorithm.values()), case.rounds)
        for case in made.cases
    ]
    rows = judge([dataclasses.replace(made, cases=tuple(broken))], Settings())
    assert overall(rows) is Verdict.REFUTED
    noisy = [row for row in rows if row.case["problem"]["inner_value_noise"]]
    assert noisy  # sampled replicates beyond the proven range are not taken for evidence
    exact = [row for row in rows if not row.case["problem"]["inner_value_noise"]]
    assert all(row.verdict is Verdict.REFUTED for row in exact)


def drift(view):
    return each("round", "local_step", sq(view.mean("w") - view.round_start("w")))


FAR = BoundedComposition(clients=2, distance=50.0)


def make(**body):
    """Return a claim about the drift, with parts replaced."""
    parts = {
        "cases": grid(FAR, ComFedL(local_steps=3), rounds=2),
        "left": drift,
        "right": lambda c: (c.tau * c.eta * c.G_g * c.G_f) ** 2,
    }
    fields = parts | body
    left = fields.pop("left")
    return bound(name="own/drift", source="–", statement="x", **fields)(left)


def only(made):
    (row,) = judge([made], Settings())
    return row


@given(
    distance=st.floats(50, 1e4),
    step_size=st.floats(1e-3, 1.0),
    local_steps=st.integers(1, 9),
    slope=st.floats(0.1, 3.0),
)
@settings(max_examples=60)
def test_rounding_never_refutes_an_equality(distance, step_size, local_steps, slope):
    """Left and right are equal in exact arithmetic, whatever these numbers are."""
    problem = BoundedComposition(clients=2, distance=distance, inner_slope=slope)
    case = Case(problem, ComFedL(step_size=step_size, local_steps=local_steps), 1)
    assume(step_size * local_steps * slope < distance - 2 / slope)  # stays on the linear piece
    assume(step_size * slope > 1e-5 * distance)  # else single precision cannot see a step
    row = only(make(cases=[case]))
    assert row.verdict is Verdict.SUPPORTED
    assert row.attained
    assert row.margin < 1e-6 * row.rhs  # and the stated error is small


def test_a_vacuous_bound_is_said_to_be_and_does_not_make_a_claim():
    made = make(
        right=lambda c: 3 * (c.tau * c.eta * c.G_g * c.G_f) ** 2,
        range=lambda c: (c.tau * c.eta * c.G_g * c.G_f) ** 2,
    )
    row = only(made)
    assert row.verdict is Verdict.SUPPORTED
    assert row.vacuous
    assert overall([row]) is Verdict.INCONCLUSIVE
    assert not baseline.as_expected([row])


def test_divergence_is_a_verdict_with_the_first_bad_step():
    from driftproof.synthetic.problems import QuadraticMinimax
    from driftproof.toolkit.algorithms import FedAvg

    cases = grid(QuadraticMinimax(largest=2.0), FedAvg(step_size=40.0), rounds=300)
    grows = only(make(cases=cases, right=lambda c: c.eta**2))
    assert grows.verdict is Verdict.REFUTED
    assert "not finite after step " in grows.reason
    open_ = only(make(cases=cases, right=lambda c: c.eta**2 * 10**400))
    assert open_.verdict is Verdict.INCONCLUSIVE
    assert "not finite after step " in open_.reason


def test_sampled_cases_are_decided_with_a_range_of_their_own_sooner_than_with_a_derived_one():
    noisy = BoundedComposition(clients=4, inner_value_noise=0.3, outer_gradient_noise=0.3)
    cases = grid(noisy, ComFedL(local_steps=5), rounds=3)
    without = only(make(cases=cases))
    assert without.verdict is Verdict.INCONCLUSIVE
    assert "replicates would" in without.reason  # from the start, not from the round's start
    top = make().forms[0].right
    with_range = only(make(cases=cases, range=top))
    assert with_range.verdict is Verdict.SUPPORTED
    assert with_range.evidence == "sequential"
    assert with_range.alpha == 1e-5
    assert with_range.replicates < without.replicates
    tiny = only(make(cases=cases, range=top, right=lambda c: 1e-3 * top(c)))
    assert tiny.verdict is Verdict.REFUTED
    assert tiny.evidence == "sequential"


def test_a_margin_too_small_for_the_budget_is_inconclusive_and_says_how_many_it_takes():
    noisy = BoundedComposition(clients=2, inner_value_noise=0.3, outer_gradient_noise=0.3)
    cases = grid(noisy, ComFedL(local_steps=5), rounds=1)

    def left(view):
        return average("step", sq(view.mean("w") - view.round_start("w")))

    def top(c):
        return (c.tau * c.eta * c.G_g * c.G_f) ** 2

    made = make(cases=cases, left=left, range=top)
    blocks = [measure_block(made, cases[0], seed=0, block=b) for b in range(256)]
    mean = float(np.mean([block.values for block in blocks]))
    near = only(make(cases=cases, left=left, range=top, right=lambda c: 1.005 * mean))
    assert near.verdict is Verdict.INCONCLUSIVE
    found = f"did not decide; measured mean is {near.lhs['mean']:.6g}, right side {near.rhs:.6g}"
    assert found in near.reason
    assert near.replicates == 16 * 64


def test_assert_claim_passes_and_fails_with_a_table():
    assert_claim(make(range=make().forms[0].right))
    with pytest.raises(
        AssertionError, match=r"own/drift does not hold[\s\S]*REFUTED.*left"
    ) as told:
        assert_claim(make(right=lambda c: 0.5 * (c.tau * c.eta * c.G_g * c.G_f) ** 2))
    assert "ComFedL(local_steps=3)" in str(told.value)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"rigth": 1}, "unknown field of @bound"),
        ({"corrected": lambda c: 1}, "without a derivation"),
        ({"right": lambda c: c.G_h}, "unknown letter 'G_h'"),
        ({"right": lambda c: c.zeta}, 'letters={"zeta": "ROLE"} in the claim'),
    ],
)
def test_a_claim_that_is_written_wrongly_is_told_how(body, said):
    with pytest.raises(DriftproofError) as caught:
        only(make(**body))
    assert said in str(caught.value)


def test_a_claim_of_an_unknown_kind_or_without_a_right_side_is_refused():
    with pytest.raises(DriftproofError, match="unknown kind of @bound"):
        make(kind="bond")
    with pytest.raises(DriftproofError, match="no right side"):
        make(right=None)
    with pytest.raises(DriftproofError, match="no cases"):
        make(cases=[])


@pytest.mark.parametrize("made", claims())
def test_a_cases_key_changes_with_every_parameter(made):
    from driftproof.toolkit.errors import DriftproofError

    for case in made.cases[:1]:
        for part in ("problem", "algorithm"):
            held = getattr(case, part)
            for name, value in held.values().items() if held is not None else ():
                if isinstance(value, str | bool | tuple):
                    continue
                try:
                    moved = dataclasses.replace(held, **{name: value * 2 + 1})
                except DriftproofError:
                    continue  # not a member of the family
                assert dataclasses.replace(case, **{part: moved}).key != case.key, name


def test_parameters_of_problem_and_algorithm_do_not_hide_each_other():
    """KLDRO and ComFedL both have a field called samples."""
    from driftproof.synthetic.problems import KLDRO

    few, many = (Case(KLDRO(samples=n), ComFedL(), 2) for n in (10, 20))
    assert few.key != many.key
    assert few.parameters()["problem"]["samples"] == 10
    assert few.parameters()["algorithm"]["samples"] == "shared"


def test_a_family_may_gain_a_parameter_without_losing_its_record():
    case = Case(BoundedComposition(clients=3), ComFedL(), 2)
    same = Case(BoundedComposition(clients=3, dim=1), ComFedL(step_size=0.1), 2)
    assert case.key == same.key


def test_the_union_bound_over_every_claim_keeps_the_contract():
    """At most 0.01, if every case that has noise is sampled."""
    import torch

    from driftproof.toolkit.tolerances import LEVEL

    def noisy(case):
        oracles = case.problem.oracles(torch.float64)
        names = ("field_law", "inner_law", "outer_law", "plain_law", "upper_law", "lower_law")
        laws = [getattr(oracles, name)(1) for name in names if hasattr(oracles, name)]
        clients = case.problem.clients
        return any(laws) or case.algorithm.cohort_size(clients) < clients

    rows = 0
    for leaf in leaves("claim").values():
        made = leaf.load()
        own = [form for form in made.forms if form.form != "sibling"]
        if isinstance(made, BoundClaim | RateClaim):
            rows += len(own) * sum(noisy(case) for case in made.cases_for("full"))
    assert rows * LEVEL <= 0.01


def signed(view):
    """E of this is 0, and half of its replicates are negative."""
    return average("round", "local_step", view.mean("w")[0] - view.round_start("w")[0])


def test_a_left_side_that_can_be_negative_needs_both_ends_of_its_range():
    problem = BoundedComposition(clients=1, distance=0.0, outer_gradient_noise=0.9)
    cases = grid(problem, ComFedL(local_steps=1), rounds=40)
    wide = make(
        cases=cases, left=signed, right=lambda c: c.eta / 4, range=lambda c: (-2 * c.eta, 2 * c.eta)
    )
    assert only(wide).verdict is Verdict.SUPPORTED
    row = only(make(cases=cases, left=signed, right=lambda c: c.eta / 4, range=lambda c: 2 * c.eta))
    assert row.verdict is Verdict.INCONCLUSIVE
    assert "range(c) is from 0" in row.reason
    below = make(
        cases=cases,
        left=signed,
        right=lambda c: -c.eta / 4,
        range=lambda c: (-2 * c.eta, 2 * c.eta),
    )
    assert only(below).verdict is Verdict.REFUTED


def test_a_right_side_without_a_number_is_told():
    quiet = "real number on each case"
    for right in (lambda c: c.eta / c.sigma_1, lambda c: (c.eta - 5) ** 0.5):
        with pytest.raises(DriftproofError, match=quiet):
            only(make(right=right))
    row = only(
        make(
            cases=grid(BoundedComposition(distance=50.0), ComFedL(local_steps=3), rounds=2),
            assumes=[Assumption("A", "x", relation=lambda c: c.eta > 0)],
        )
    )
    assert row.verdict is Verdict.SUPPORTED


@pytest.mark.parametrize(
    ("build", "said"),
    [
        (lambda: grid(FAR, ComFedL()), "rounds = 0"),
        (lambda: Case(FAR, ComFedL(), -2), "rounds = -2"),
        (lambda: Case(FAR, ComFedL(step_size=[0.1, 0.2]), 2), "a list for step_size"),
        (lambda: Case(ComFedL(), FAR, 2), "Case with ComFedL"),
        (lambda: make(cases=[FAR]), "hold BoundedComposition"),
        (lambda: make(kind="existence", cases=[]), "claim own/drift has no cases"),
        (lambda: Settings(profile="fast"), "unknown profile 'fast'"),
    ],
)
def test_a_case_that_is_written_wrongly_is_told_how(build, said):
    with pytest.raises(DriftproofError) as caught:
        build()
    assert said in str(caught.value)
    assert "remedy" in str(caught.value)
