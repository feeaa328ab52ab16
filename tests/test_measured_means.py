"""Right sides with measured means, and conditional expectations: laws and negative controls."""

import dataclasses
from itertools import product

import numpy as np
import pytest
import sympy
import torch

from driftproof.synthetic.problems import BiasAmplification, BoundedComposition, QuadraticMinimax
from driftproof.toolkit.algorithms import ComFedL, FedSVRG, LocalSCGDM
from driftproof.toolkit.cases import Assumption, Case, grid
from driftproof.toolkit.constants import Letters, split
from driftproof.toolkit.discover import leaves
from driftproof.toolkit.engines import branched
from driftproof.toolkit.engines.branched import BranchedContext
from driftproof.toolkit.engines.enumerated import Drew, EnumeratedContext, NoiselessContext
from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.federation import run, run_exactly, sampled_context
from driftproof.toolkit.measure import average, each, given_past, sq
from driftproof.toolkit.readings import Stated, literal
from driftproof.toolkit.verdict import Verdict, overall
from driftproof.verifiers.judges import bounds
from driftproof.verifiers.judges.bounds import Sides, coefficients, measure_block, measure_exactly
from driftproof.verifiers.judges.evidence import Measured
from driftproof.verifiers.judges.runs import by_left
from driftproof.verifiers.verify import Settings, judge
from tests.test_claims import make

c = Letters({"eta": "step_size", "tau": "local_steps"})
SUPPORTED, REFUTED, INCONCLUSIVE = Verdict.SUPPORTED, Verdict.REFUTED, Verdict.INCONCLUSIVE


def test_split_gives_the_constant_and_the_coefficients():
    constant, factors = split(c.eta**2 + (1 - c.eta) * c.measured("a") - 3 * c.measured("b") / 4)
    assert constant == c.eta**2
    assert factors == {"a": 1 - c.eta, "b": -sympy.Rational(3, 4)}
    assert split(c.eta) == (c.eta, {})
    assert split(2) == (2, {})
    whole = c.measured("a") + c.eta - c.measured("a")
    assert split(whole) == (c.eta, {})
    assert split(c.measured("a") / c.eta)[1] == {"a": 1 / c.eta}
    assert split((c.measured("a") + c.eta) ** 2 - c.measured("a") ** 2)[1] == {"a": 2 * c.eta}


def test_a_large_right_side_is_split_without_expanding_it(monkeypatch):
    monkeypatch.setattr(sympy, "Poly", None)
    rate = (1 - c.eta) ** 9 / (2 - c.eta * c.tau)
    assert split(rate * c.measured("a") + rate**2) == (rate**2, {"a": rate})


@pytest.mark.parametrize(
    "wrong",
    [
        c.measured("a") ** 2,
        c.measured("a") * c.measured("b"),
        1 / c.measured("a"),
        sympy.sqrt(c.measured("a")),
        c.eta ** c.measured("a"),
        sympy.Max(c.measured("a"), c.eta),
        sympy.Piecewise((1, c.measured("a") > 0), (2, True)),  # its derivative is 0
    ],
)
def test_split_refuses_what_is_not_affine(wrong):
    with pytest.raises(DriftproofError, match="affine in the measured means"):
        split(c.eta + wrong)


QUIET = BoundedComposition(clients=1, distance=50.0)  # every gradient is 1
NOISY = BoundedComposition(clients=1, inner_value_noise=0.3, outer_gradient_noise=0.5, distance=0.7)
STRAIGHT = grid(QUIET, ComFedL(local_steps=1, step_size=0.5), rounds=3)


def moves(view):
    """‖w_{t+1}‖² where ‖w_{t+1}‖ = ‖w_t‖ − ½: 50, 49.5, 49, 48.5."""
    old = view.before.w[0, 0]
    return each("transition", sq(view.state.w[0]), square=old**2, length=old, other=0 * old + 7)


def exactly(c):
    """‖w‖² − ‖w‖ + ¼."""
    return c.measured("square") - 2 * c.eta * c.measured("length") + c.eta**2


def row_of(right, left=moves, cases=STRAIGHT, **more):
    (row, *_) = judge([make(right=right, left=left, cases=list(cases), **more)], Settings())
    return row


def test_a_right_side_with_measured_means_is_judged_by_the_difference():
    row = row_of(exactly)
    assert row.verdict is SUPPORTED
    assert row.attained
    assert row.comparisons == 3
    assert row.lhs["mean"] == pytest.approx(row.rhs, rel=1e-14)
    row = row_of(lambda c: exactly(c) + c.eta * 1e-3)
    assert (row.verdict, row.attained) == (SUPPORTED, False)


@pytest.mark.parametrize("less", [1.0, 1e-3, 1e-6])
def test_just_above_it_is_refuted_with_the_right_numbers(less):
    row = row_of(lambda c: exactly(c) - less * c.eta)
    assert row.verdict is REFUTED
    assert row.evidence == "enclosed"
    seen = {49.5, 49.0, 48.5}
    assert min(abs(row.lhs["mean"] - x**2) for x in seen) < 1e-9
    assert row.lhs["mean"] - row.rhs == pytest.approx(less / 2, rel=1e-3)
    assert row.lhs["low"] <= row.lhs["mean"] <= row.lhs["high"]


@pytest.mark.parametrize(
    "wrong",
    [
        lambda c: -exactly(c),
        lambda c: exactly(c) - c.measured("other"),
        lambda c: exactly(c) - c.measured("square") + c.measured("length"),
        lambda c: c.measured("square") - c.measured("length"),
    ],
)
def test_a_wrong_sign_name_or_term_is_refuted(wrong):
    assert row_of(wrong).verdict is REFUTED


def test_a_coefficient_is_that_of_the_case_and_one_may_be_0():
    claim = make(right=lambda c: exactly(c) + 0 * c.measured("other"), left=moves, cases=STRAIGHT)
    found = coefficients(claim, claim.cases[0], claim.forms[0].right)
    assert found == {"square": 1.0, "length": -1.0}


def test_a_mean_that_nobody_measures_is_an_error():
    with pytest.raises(DriftproofError, match="measured\\('speed'\\)") as told:
        row_of(lambda c: exactly(c) + c.measured("speed"))
    assert "square, length, other" in str(told.value)
    with pytest.raises(DriftproofError, match="nothing but its value"):
        row_of(exactly, left=lambda view: each("transition", sq(view.mean("w"))))


def test_what_is_not_affine_is_an_error_too():
    with pytest.raises(DriftproofError, match="affine"):
        row_of(lambda c: c.measured("length") ** 2)


def test_an_average_has_averaged_parts():
    def left(view):
        old = view.before.w[0, 0]
        return average("transition", sq(view.state.w[0]), square=old**2, length=old)

    row = row_of(exactly, left=left)
    assert (row.verdict, row.attained) == (SUPPORTED, True)
    assert row.lhs["mean"] == pytest.approx((49.5**2 + 49**2 + 48.5**2) / 3, rel=1e-12)
    assert row_of(lambda c: exactly(c) - c.eta / 100, left=left).verdict is REFUTED


def test_a_sampled_right_side_is_judged_by_the_difference_of_each_replicate():
    """A left side of 7 or 8 whose difference from what is measured is 0: in [−1, 1]."""
    noisy = BoundedComposition(clients=2, inner_value_noise=0.3, outer_gradient_noise=0.3)
    cases = grid(noisy, ComFedL(local_steps=3), rounds=2)

    def left(view):
        drawn = 7 + (sq(view.mean("w")) > sq(view.round_start("w"))).double()
        return each("round", drawn, same=drawn)

    for less, verdict in ((0.5, SUPPORTED), (-0.5, REFUTED)):
        row = row_of(
            lambda c, less=less: c.measured("same") + less + 0 * c.eta,
            left,
            cases,
            range=lambda c: (-1.0 + 0 * c.eta, 1.0 + 0 * c.eta),
        )
        assert row.evidence == "sequential"
        assert row.verdict is verdict


def test_sides_that_are_equal_are_compared_on_the_scale_of_what_was_added_up():
    """2500 − 2500: a rounding error of 10⁻⁴ in single precision is small."""

    def left(view):
        old = view.before.w[0, 0]
        return each("transition", (1.1 * old) ** 2, square=1.21 * old * old)

    row = row_of(lambda c: c.measured("square") + 0 * c.eta, left)
    assert (row.verdict, row.attained) == (SUPPORTED, True)


def test_a_run_that_ended_early_refutes_nothing_whose_right_side_was_measured():
    """What was not reached counts as 0 on the left, and would have to on the right."""
    claim, values = make(), np.full((1, 1), 0.9)
    for factors, verdict in (({}, REFUTED), ({"part": 1.0}, INCONCLUSIVE)):
        measured = Measured(
            "exact",
            ("average", "round"),
            np.array([values, 0 * values]),
            np.ones(1),
            names=("part",),
            shadow=np.tile([[[0.9], [0.0]]], (4, 1, 1)),
            bad_step=3,
        )
        sides = Sides(measured, 0.5, 0.5, (0.0, 1.0), factors)
        assert bounds._exact(claim, claim.cases[0], claim.forms[0], sides).verdict is verdict


# given the past ------------------------------------------------------------------------------


def next_square(view):
    return given_past(sq(view.state.w[0]), square=sq(view.before.w[0]), mark=view.client("u")[0, 0])


def by_hand(w, batch=1):
    """E‖w_{t+1}‖² and E u given w, for NOISY and step ½, in numpy: H' = clip(·, ±1)."""
    outcomes = []
    signs = {1: [(-1, 0.5), (1, 0.5)], 2: [(-1, 0.25), (0, 0.5), (1, 0.25)]}[batch]
    for (xi, p), (zeta, q) in product(signs, [(-1, 0.5), (1, 0.5)]):
        u = np.clip(w + 0.3 * xi, -1, 1) + 0.5 * zeta
        outcomes.append((p * q, (w - 0.5 * u) ** 2, u))
    chances = np.array([p for p, _, _ in outcomes])
    assert chances.sum() == 1
    return tuple(sum(p * x[k] for p, *x in outcomes) for k in (0, 1))


def test_the_total_expectation_is_the_mean_over_pasts_of_the_conditional_one():
    algorithm = ComFedL(local_steps=1, step_size=0.5)
    made = run_exactly(NOISY, algorithm, rounds=3, left=next_square, limit=4096)
    assert made.values.shape == (3, 64)
    # the atoms' own pasts, by the same run with w measured before each step
    held = run_exactly(
        NOISY,
        algorithm,
        rounds=3,
        limit=4096,
        left=lambda view: each("transition", sq(view.state.w[0]), w=view.before.w[0, 0]),
    )
    for t in range(3):
        conditional = np.array([by_hand(w) for w in held.parts[0, t]])
        np.testing.assert_allclose(made.values[t], conditional[:, 0], rtol=1e-12)
        np.testing.assert_allclose(made.parts[1, t], conditional[:, 1], atol=1e-12)
        assert made.values[t] @ made.weights == pytest.approx(
            held.values[t] @ held.weights, rel=1e-12
        )
    assert len(set(np.round(made.values[2], 9))) > 4  # pasts differ


LONG = Case(NOISY, ComFedL(local_steps=1, step_size=0.5), 12)


def conditional_claim(right, cases=(LONG,), left=next_square, **more):
    return make(left=left, right=right, cases=list(cases), **more)


def test_where_a_run_is_too_long_every_past_is_a_comparison():
    claim = conditional_claim(lambda c: c.measured("square") + 1)
    assert measure_exactly(claim, LONG).kind == "too many atoms"
    block = measure_block(claim, LONG, seed=0, block=0)
    assert block.values.shape == (12, 64)
    assert block.shadow.shape == (4, 3, 12 * 64)
    (row,) = judge([claim], Settings())
    assert row.verdict is INCONCLUSIVE  # a mean over pasts needs a range (tests/test_evidence.py)
    assert "holds in conditional expectation given each of 64 sampled pasts" in row.reason
    assert row.comparisons == 12 * 64
    assert row.replicates == 64
    # each is what the hand gives for its own past
    w = np.sqrt(block.parts[0])
    hand = np.vectorize(lambda w: by_hand(w)[0])(w)
    np.testing.assert_allclose(block.values, hand, rtol=1e-9)


def test_one_violated_past_is_inconclusive_and_never_refuted():
    claim = conditional_claim(lambda c: c.measured("square") + 1)
    excess = measure_block(claim, LONG, 0, 0)
    gaps = (excess.values - excess.parts[0]).ravel()
    just = float(np.sort(gaps)[-2:].mean()) if np.ptp(np.sort(gaps)[-2:]) else gaps.max() - 1e-3
    violated = conditional_claim(lambda c: c.measured("square") + sympy.Float(just) + 0 * c.eta)
    (row,) = judge([violated], Settings())
    assert row.verdict is INCONCLUSIVE
    assert row.evidence is None
    assert "given one past" in row.reason
    assert "not decided" in row.reason
    (row,) = judge([conditional_claim(lambda c: c.measured("square") - 100)], Settings())
    assert row.verdict is INCONCLUSIVE
    # where the whole run is enumerated the same right side is refuted
    short = dataclasses.replace(LONG, rounds=3)
    (row,) = judge([conditional_claim(lambda c: c.measured("square") - 100, [short])], Settings())
    assert row.verdict is REFUTED


def test_a_past_that_fails_does_not_refute_what_holds_on_the_mean():
    """E w_{t+1} ≤ E w_t + noise… : the total expectation is judged where it can be."""
    short = dataclasses.replace(LONG, rounds=3)
    measured = measure_exactly(conditional_claim(lambda c: 1), short)
    mean = max(float(v @ measured.weights) for v in measured.values)
    assert measured.values.max() > 1.05 * mean
    claim = conditional_claim(lambda c: sympy.Float(1.01 * mean) + 0 * c.eta, [short])
    (row,) = judge([claim], Settings())
    assert row.verdict is SUPPORTED


def test_too_many_outcomes_of_a_step_are_inconclusive(monkeypatch):
    many = BoundedComposition(
        clients=5, inner_value_noise=0.3, inner_gradient_noise=0.3, outer_gradient_noise=0.3
    )
    claim = conditional_claim(lambda c: c.measured("square") + 100, grid(many, ComFedL(), rounds=1))
    (row,) = judge([claim], Settings())
    assert row.verdict is INCONCLUSIVE
    assert "too many outcomes" in row.reason
    monkeypatch.setattr(branched, "LIMIT", 3)
    assert measure_block(conditional_claim(lambda c: 1), LONG, 0, 0).kind == "too many atoms"


# the branched context against hands -----------------------------------------------------------

PAIR = BoundedComposition(
    clients=2, inner_value_noise=0.3, outer_gradient_noise=0.5, heterogeneity=0.4, distance=0.6
)


def hand_step(w, step, batch, outer_batch, cohorts, last):
    """Enumerate one step of ComFedL on PAIR: Σ p·(mean of the cohort's w')² and Σ p·u_1·u_2."""
    laws = {1: [(-1.0, 0.5), (1.0, 0.5)], 2: [(-1.0, 0.25), (0.0, 0.5), (1.0, 0.25)]}
    square = cross = total = 0.0
    for xi_1, xi_2 in product(laws[batch], repeat=2):
        for zeta_1, zeta_2 in product(laws[outer_batch], repeat=2):
            chance = xi_1[1] * xi_2[1] * zeta_1[1] * zeta_2[1]
            u = [
                np.clip(w[k] + 0.3 * xi - target, -1, 1) + 0.5 * zeta
                for k, (xi, zeta, target) in enumerate(
                    ((xi_1[0], zeta_1[0], 0.4), (xi_2[0], zeta_2[0], -0.4))
                )
            ]
            moved = [w[k] - step * u[k] for k in range(2)]
            for members in cohorts:
                p = chance / len(cohorts)
                mean = sum(moved[k] for k in members) / len(members)
                square += p * (mean if last else sum(moved) / 2) ** 2
                cross += p * u[0] * u[1]
                total += p
    assert total == pytest.approx(1.0)
    return square, cross


def both(view):
    u = view.client("u")[:, 0]
    held = view.before.w[:, 0]
    chosen = view._moment.ctx.mask
    first = torch.ones_like(u[0]) if chosen is None else chosen[0, 0].to(u)
    return given_past(
        sq(view.state.w.mean(0)), cross=u[0] * u[1], one=held[0], two=held[1], first=first
    )


@pytest.mark.parametrize(("batch", "outer_batch"), [(1, 1), (2, 1), (2, 2)])
@pytest.mark.parametrize("participation", [1.0, 0.5])
@pytest.mark.parametrize("local_steps", [1, 2])
def test_a_branched_step_is_what_a_hand_enumerates(batch, outer_batch, participation, local_steps):
    method = ComFedL(
        local_steps=local_steps,
        step_size=0.7,
        batch=batch,
        outer_batch=outer_batch,
        participation=participation,
    )
    everyone = [(0, 1)] if participation == 1.0 else [(0,), (1,)]
    ctx = sampled_context(PAIR, ("branch",), replicates=4)
    made = run(PAIR, method, ctx, rounds=3, left=both)
    cross, one, two, first = made.parts
    for t, r in product(range(3 * local_steps), range(4)):
        last, cohorts = (t + 1) % local_steps == 0, everyone
        if participation < 1.0 and t % local_steps:  # drawn with the round's first step
            assert first[t, r] in (0, 1)
            cohorts = [(0,) if first[t, r] else (1,)]
        square, product_ = hand_step((one[t, r], two[t, r]), 0.7, batch, outer_batch, cohorts, last)
        assert made.values[t, r] == pytest.approx(square, rel=1e-12)
        assert cross[t, r] == pytest.approx(product_, rel=1e-12)
    assert np.ptp(one[-1]) > 0  # pasts differ


@pytest.mark.parametrize(
    ("method", "problem"),
    [
        (FedSVRG(local_steps=2, participation=0.5), QuadraticMinimax(clients=2, heterogeneity=0.5)),
        (ComFedL(local_steps=3, participation=0.5), PAIR),
    ],
)
def test_a_state_within_a_round_and_its_cohort_are_one_past(method, problem):
    """The law of total expectation: FedSVRG's first step of a round already asks the cohort."""
    problem = dataclasses.replace(
        problem, **{n: 0.0 for n in problem.values() if n.endswith("_noise")}
    )

    def end(view):
        return sq(getattr(view.state, method.iterate).mean(0))

    total, given = (
        run_exactly(problem, method, rounds=2, limit=64, left=left)
        for left in (lambda v: each("transition", end(v)), lambda v: given_past(end(v)))
    )
    assert len(total.weights) == 4
    np.testing.assert_allclose(
        given.values @ given.weights, total.values @ total.weights, rtol=1e-12
    )


def test_branches_repeat_the_outcomes_for_every_past_and_keep_the_step():
    ctx = sampled_context(PAIR, ("b",), replicates=3)
    ctx.t, ctx.local_steps = 7, 4
    digits = {("xi", 7, 0, (0,)): (1, 2), ("zeta", 7, 0, (0,)): (2, 2)}
    made = BranchedContext(2, limit=99, dtype=torch.float64, device="cpu", atoms=digits)
    made.continue_from(ctx)
    assert (made.t, made.local_steps, made.replicates, made.outcomes) == (7, 4, 12, 4)
    from driftproof.toolkit.draws import SignMean

    law = SignMean(1, (1,))
    first = made.server_draw(law, "xi", 7)
    assert first.flatten().tolist() == [-1, 1] * 6
    assert made.server_draw(law, "zeta", 7).flatten().tolist() == [-1, -1, 1, 1] * 3
    assert made.chances.tolist() == [0.25] * 4


def test_views_of_branches_know_the_step_and_what_came_before():
    seen = []

    def left(view):
        seen.append((view.t, view.round, view.local_step))
        old, older, start = view.before.w[0], view.previous.w[0], view.round_start("w")
        return given_past(sq(view.state.w[0]), old=sq(old), older=sq(older), start=sq(start))

    method = ComFedL(local_steps=2, step_size=0.5)
    made = run(NOISY, method, sampled_context(NOISY, ("v",), replicates=5), rounds=2, left=left)
    assert seen[2:] == [(0, 0, 1), (1, 0, 2), (2, 1, 1), (3, 1, 2)]
    old, older, start = made.parts
    assert np.array_equal(older[0], old[0])
    np.testing.assert_array_equal(older[1:], old[:-1])
    np.testing.assert_array_equal(start, old[[0, 0, 2, 2]])
    assert np.ptp(old[3]) > 0


def test_taking_conditional_expectations_does_not_change_the_run():
    method = LocalSCGDM(local_steps=2, step_size=0.2)
    ends = []
    for left in (None, lambda view: given_past(sq(view.state.x.mean(0)))):
        ctx = sampled_context(PAIR, ("same",), replicates=6)
        made = run(PAIR, method, ctx, rounds=3, left=left, kernels=False)
        ends.append((made.state, made.rounds, made.reals))
    for a, b in zip(ends[0][0], ends[1][0], strict=True):
        assert torch.equal(a, b)
    assert ends[0][1:] == ends[1][1:]


# readings with their own left sides -----------------------------------------------------------


def other(view):
    return each("transition", sq(view.before.w[0]))


def test_forms_share_a_measurement_if_they_share_a_left_side():
    small = Stated(lambda c: 1 + 0 * c.eta, left=other)
    large = Stated(lambda c: 2501 + 0 * c.eta, left=other)
    claim = make(
        left=moves,
        cases=STRAIGHT,
        right=None,
        readings={
            "own": literal(exactly, part="own"),
            "small": literal(small, part="small"),
            "large": literal(large, part="large"),
        },
        false_siblings=[("s", lambda c: exactly(c) - 1)],
    )
    assert by_left(claim, range(4)) == {0: [0, 3], 1: [1, 2]}
    assert by_left(claim, [2]) == {1: [2]}
    assert by_left(claim, [1, 3]) == {1: [1], 0: [3]}
    rows = {r.reading: r for r in judge([claim], Settings(siblings=True))}
    assert rows["own"].verdict is SUPPORTED
    assert rows["small"].verdict is REFUTED
    assert rows["small"].lhs["mean"] == pytest.approx(2500.0)
    assert rows["large"].verdict is SUPPORTED
    assert rows["s"].verdict is REFUTED


def test_a_form_with_its_own_left_side_needs_none_of_the_claim():
    claim = make(left=None, cases=STRAIGHT, right=Stated(lambda c: 2500 + 0 * c.eta, left=other))
    assert by_left(claim, [0]) == {0: [0]}
    (row,) = judge([claim], Settings())
    assert (row.verdict, row.attained) == (SUPPORTED, True)


def test_assumptions_of_one_form_do_not_touch_anothers():
    never = Assumption("Never", "no case", applies=lambda case: False)
    large = Assumption("Large", "η ≥ 1", relation=lambda c: c.eta >= 1)
    claim = make(
        left=moves,
        cases=STRAIGHT,
        right=None,
        readings={
            "free": literal(exactly, part="free"),
            "never": literal(Stated(exactly, assumes=(never,)), part="never"),
            "large": literal(Stated(lambda c: exactly(c) - 1, assumes=(large,)), part="large"),
        },
        corrected=Stated(exactly),
        correction="x" * 50,
    )
    rows = {(r.form, r.reading): r for r in judge([claim], Settings())}
    assert rows["printed", "free"].verdict is SUPPORTED
    assert rows["corrected", ""].verdict is SUPPORTED
    assert rows["printed", "never"].verdict is Verdict.INAPPLICABLE
    assert "Never" in rows["printed", "never"].reason
    assert rows["printed", "large"].verdict is Verdict.INAPPLICABLE
    assert overall([rows["printed", "never"]]) is not SUPPORTED


def test_a_form_may_have_its_own_range():
    claim = make(right=Stated(lambda c: c.eta, range=lambda c: 2 * c.eta), range=lambda c: c.tau)
    case, form = claim.cases[0], claim.forms[0]
    assert bounds.range_of(claim, case, form) == (0.0, 2 * case.algorithm.step_size)
    assert bounds.range_of(claim, case) == (0.0, float(case.algorithm.local_steps))


# comparisons for each client, and shapes -------------------------------------------------------

TRIO = BoundedComposition(clients=3, dim=2, inner_dim=2, heterogeneity=1.0)


def run_trio(left, rounds=2, local_steps=2):
    ctx = sampled_context(TRIO, ("trio",), replicates=4)
    return run(TRIO, ComFedL(local_steps=local_steps), ctx, rounds=rounds, left=left)


def test_an_axis_client_makes_a_comparison_for_each_client():
    seen = []

    def left(view):
        seen.append(sq(view.client("w")).clone())
        return each("transition", "client", seen[-1], twice=2 * seen[-1])

    made = run_trio(left)
    assert made.how == ("each", "transition")
    assert made.values.shape == (4 * 3, 4)
    np.testing.assert_allclose(made.values, torch.cat(seen[2:]).numpy())
    np.testing.assert_allclose(made.parts[0], 2 * made.values)
    held = run_trio(lambda view: given_past("client", sq(view.client("w"))))
    np.testing.assert_allclose(held.values, made.values)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda view: each("transition", "client", sq(view.mean("w"))),
        lambda view: each("transition", sq(view.client("w"))),
        lambda view: each("transition", view.mean("w")),
        lambda view: each("transition", sq(view.mean("w")), part=sq(view.client("w"))),
        lambda view: each("transition", "client", sq(view.client("w")), part=sq(view.mean("w"))),
        lambda view: given_past("client", sq(view.mean("w"))),
    ],
)
def test_wrong_shapes_are_told(wrong):
    with pytest.raises(DriftproofError, match=r"value of shape \("):
        run_trio(wrong)


def test_wrong_axes_are_told():
    zero = torch.zeros(4)
    for wrong in (
        lambda: average("transition", "client", zero),
        lambda: each("client", zero),
        lambda: each("client", "transition", zero),
        lambda: each("local_step", zero),
        lambda: given_past("round", zero),
    ):
        with pytest.raises(DriftproofError, match="axes"):
            wrong()


def test_one_client_that_breaks_a_bound_refutes_it():
    def left(view):
        return each("transition", "client", sq(view.client("w")), old=sq(view.before.w))

    cases = grid(TRIO, ComFedL(), rounds=1)
    most = float(run_trio(left, 1, 1).values.max())
    for factor, verdict in ((1.01, SUPPORTED), (0.99, REFUTED)):
        row = row_of(lambda c, f=factor: sympy.Float(f * most) + 0 * c.eta, left, cases)
        assert row.verdict is verdict
        assert row.comparisons == 3


# runs without noise, and with ------------------------------------------------------------------


def test_a_run_without_noise_is_one_replicate_and_noise_ends_it():
    quiet = BoundedComposition(clients=2, heterogeneity=1.0)
    method, left = ComFedL(local_steps=2), lambda view: each("transition", sq(view.state.w[0]))
    made = run_exactly(quiet, method, rounds=3, left=left, limit=1)
    assert made.values.shape == (6, 1)
    assert made.weights.tolist() == [1.0]
    ctx = sampled_context(quiet, ("q",), replicates=1)
    np.testing.assert_array_equal(made.values, run(quiet, method, ctx, rounds=3, left=left).values)
    with pytest.raises(Drew):
        run(PAIR, method, NoiselessContext(2, dtype=torch.float64, device="cpu"), rounds=1)


def test_a_run_with_noise_falls_back_to_enumeration():
    """Also one that draws only later: the noise of a cohort, and of nothing before."""
    left = lambda view: each("transition", sq(view.state.w.mean(0)))  # noqa: E731
    for problem, method in (
        (NOISY, ComFedL(local_steps=2)),
        (BoundedComposition(clients=2, heterogeneity=1.0), ComFedL(participation=0.5)),
    ):
        made = run_exactly(problem, method, rounds=2, left=left, limit=4096)
        counting = EnumeratedContext(problem.clients, limit=4096)
        run(problem, method, counting, rounds=2, left=left)
        again = run(problem, method, counting.enumerate(), rounds=2, left=left)
        assert made.values.shape[1] == counting.atom_count > 1
        np.testing.assert_array_equal(made.values, again.values)
        np.testing.assert_array_equal(made.weights, again.weights)
        assert (made.rounds, made.reals) == (again.rounds, again.reals)


# what the claims of Local-SCGDM measure, on a run written in plain numbers -----------------------


def written_run(problem, method, rounds):
    """Run its Algorithm 1 for scalars with f' = clip(·, ±3); one dict a step, [clients] each.

    ``before`` and ``after`` are what the step starts from and leaves, u, m, z what lines 7–9 make.
    """
    a, offsets = np.array([2.0, -1.0]), np.array([0.0, 1.0])
    s, r = method.inner_momentum * method.step_size, method.momentum * method.step_size
    now = {"x": np.full(2, problem.at), "u": np.zeros(2), "m": np.zeros(2)}
    made = []
    for t in range(rounds * method.local_steps):
        g = a * now["x"] + offsets
        u = g if t == 0 else (1 - s) * now["u"] + s * g
        z = a * np.clip(u, -3, 3)
        m = z if t == 0 else (1 - r) * now["m"] + r * z
        x = now["x"] - method.step_factor * method.step_size * m
        after = {"x": x, "u": u, "m": m}
        if (t + 1) % method.local_steps == 0:
            after = {name: np.full(2, v.mean()) for name, v in after.items()}
        made.append({"before": now, "after": after, "u": u, "m": m, "z": z})
        now = after
    return made


def written_measures(steps, p):
    """The sides of each claim at each step: {claim: [(left, {name: part}), …]}, ‖·‖² by hand."""
    a, offsets = np.array([2.0, -1.0]), np.array([0.0, 1.0])

    def g(x):
        return a * x + offsets

    def slopes(x):
        return a * np.clip(g(x), -3, 3)

    def objective(x):
        y = np.abs(g(x))
        return np.mean(np.where(y <= 3, y**2 / 2, 3 * y - 4.5))

    def apart(v):
        return np.sum((v - v.mean()) ** 2)

    made = {
        name: []
        for name in (
            "lemma-4.1",
            "lemma-4.2",
            "lemma-4.3",
            "lemma-a.1",
            "lemma-a.2",
            "potential",
            "potential-descent",
        )
    }
    for t, step in enumerate(steps):
        at, after, on = step["before"], step["after"], float(t > 0)
        old = steps[t - 1]["before"]["x"] if t else at["x"]
        x, mean = at["x"], at["x"].mean()
        error = on * (step["u"] - g(x)) ** 2
        moved, length = on * (x - old) ** 2, on * at["m"] ** 2
        made["lemma-4.1"].append(
            (
                on * (step["m"] - slopes(x)) ** 2,
                {
                    "past": on * (at["m"] - slopes(old)) ** 2,
                    "inner": error,
                    "momentum": length,
                    "moved": moved,
                },
            )
        )
        made["lemma-4.2"].append(
            (error, {"past": on * (at["u"] - g(old)) ** 2, "momentum": length, "moved": moved})
        )
        made["lemma-4.3"].append((apart(x), {}))
        first, last = t - t % p, min(t, t - t % p + p - 2)
        seen = [steps[k]["before"] for k in range(first, last + 1)]
        made["lemma-a.1"].append(
            (
                sum(apart(b["u"]) for b in seen),
                {
                    "models": sum(apart(b["x"]) for b in seen),
                    "functions": max(
                        apart(g(np.full(2, steps[k]["before"]["x"].mean())))
                        for k in range(first, t + 1)
                    ),
                },
            )
        )
        made["lemma-a.2"].append(
            (
                on * apart(step["z"]),
                {
                    "models": on * apart(x),
                    "before": on * apart(at["u"]),
                    "used": on * apart(step["u"]),
                    "clients": on * apart(a * np.clip(step["u"].mean(), -3, 3)),
                },
            )
        )
        made["potential"].append(
            (
                on * objective(mean),
                {
                    "objective": on * objective(old.mean()),
                    "error": on * np.mean((at["m"] - slopes(old)) ** 2),
                    "next_error": on * np.mean((step["m"] - slopes(x)) ** 2),
                    "inner": on * np.mean((at["u"] - g(old)) ** 2),
                    "next_inner": np.mean(error),
                    "gradient": on * np.mean(slopes(np.full(2, old.mean()))) ** 2,
                    "models": on * apart(old) / 2,
                    "momentum": np.mean(length),
                },
            )
        )
        made["potential-descent"].append(
            (
                objective(after["x"].mean()),
                {
                    "before": objective(mean),
                    "gradient": np.mean(slopes(np.full(2, mean))) ** 2,
                    "each_momentum": np.mean(step["m"] ** 2),
                    "mean_momentum": np.mean(step["m"]) ** 2,
                    "error": np.mean((slopes(x) - step["m"]) ** 2),
                    "models": apart(x) / 2,
                },
            )
        )
    return made


MEASURES = (
    "lemma-4.1",
    "lemma-4.2",
    "lemma-4.3",
    "lemma-a.1",
    "lemma-a.2",
    "potential",
    "potential-descent",
)


@pytest.mark.parametrize("name", MEASURES)
@pytest.mark.parametrize("p", [2, 3])
def test_what_a_claim_of_003_measures_is_what_its_display_names(name, p):
    problem = BiasAmplification(objective_of="client-wise", at=0.3)
    method = LocalSCGDM(
        local_steps=p, step_size=0.2, momentum=3.0, inner_momentum=2.0, step_factor=0.6
    )
    made = run_exactly(
        problem, method, rounds=4, left=leaves("claim")[f"scgdm/{name}"].load().left, limit=1
    )
    written = written_measures(written_run(problem, method, 4), p)[name]
    if name in ("lemma-4.1", "lemma-4.2", "lemma-a.2", "potential"):
        written = written[1:]  # they speak of t ≥ 1
    lefts = np.array([np.atleast_1d(left) for left, _ in written])
    if made.how[0] == "average":
        np.testing.assert_allclose(made.values[0, 0], lefts.mean(), rtol=1e-12)
        return
    np.testing.assert_allclose(made.values[:, 0], lefts.ravel(), rtol=1e-11, atol=1e-14)
    assert set(made.names) == set(written[0][1])
    for part, called in zip(made.parts, made.names, strict=True):
        wanted = np.array([np.atleast_1d(parts[called]) for _, parts in written]).ravel()
        np.testing.assert_allclose(part[:, 0], wanted, rtol=1e-11, atol=1e-14, err_msg=called)
        assert np.ptp(wanted) > 0 or called == "functions" or (p, name) == (2, "lemma-a.1")
