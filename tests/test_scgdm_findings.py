"""Local-SCGDM: the floors, the line-by-line code and the controls, seen from a second side."""

from dataclasses import replace
from fractions import Fraction
from math import sqrt

import numpy as np
import pytest
import torch

from driftproof.synthetic.problems import AnalyticMAML, BiasAmplification, BoundedComposition
from driftproof.toolkit.algorithms import LocalSCGDM
from driftproof.toolkit.cases import Case
from driftproof.toolkit.constants import MEASURED, Letters
from driftproof.toolkit.discover import leaves
from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.federation import run, sampled_context
from driftproof.verifiers.claim_types.bound import BoundClaim
from driftproof.verifiers.claim_types.terms import Terms
from driftproof.verifiers.judges.assumed import unmet
from driftproof.verifiers.papers.scgdm.claims import _floors
from driftproof.verifiers.papers.scgdm.claims import assumptions as given
from driftproof.verifiers.papers.scgdm.claims._pseudo_code import steps
from driftproof.verifiers.papers.scgdm.claims.corollary_3_5 import SCHEDULE

META = AnalyticMAML(clients=3, adaptation=0.5, heterogeneity=3.0, distance=_floors.START)


def test_the_gradient_of_the_floor_is_that_of_the_problem():
    at = np.linspace(-3, 3, 41)
    exact = META.gradient(torch.from_numpy(at)[None])[0].numpy()
    assert _floors.gradient(at) == pytest.approx(exact, abs=1e-12)
    assert sorted(META.centres.ravel()) == sorted(_floors.CENTRES)


def test_both_functions_of_the_floor_have_the_lipschitz_constant_it_uses():
    at = np.linspace(-np.pi, np.pi, 20_001)
    for function in (_floors.rest, _floors.gradient):
        assert np.abs(np.diff(function(at)) / np.diff(at)).max() <= _floors.LIPSCHITZ


def test_a_run_stays_where_the_floor_says():
    method = LocalSCGDM(local_steps=4, step_size=1 / 16, step_factor=_floors.FACTOR)
    seen = []
    run(META, method, sampled_context(META, ("floor",), replicates=1), rounds=64,
        watch=lambda _, state: seen.append(state.x.mean().item()))  # fmt: skip
    assert max(abs(x - _floors.START) for x in seen) < _floors.RADIUS
    assert min(_floors.gradient(np.array(seen)) ** 2) > _floors.FLOOR


def test_the_floor_is_refused_where_there_is_none(monkeypatch):
    assert all(step.holds for step in _floors.meta_learning())
    monkeypatch.setattr(_floors, "START", 1.9)  # a minimiser of F is near
    assert not all(step.holds for step in _floors.meta_learning())
    monkeypatch.setattr(_floors, "START", 2.3)
    monkeypatch.setattr(_floors, "FACTOR", 0.1)
    assert not all(step.holds for step in _floors.meta_learning())


def test_two_clients_with_different_g_leave_the_minimiser_for_another_point():
    assert all(step.holds for step in _floors.two_lines())
    problem = BiasAmplification(objective_of="client-wise", at=0.2)
    method = LocalSCGDM(step_size=0.002, step_factor=0.5)
    ctx = sampled_context(problem, ("floor",), replicates=1)
    x = run(problem, method, ctx, rounds=20_000).state.x.mean()
    assert x.item() == pytest.approx(-1, abs=0.05)


def test_the_pseudo_code_keeps_what_each_step_made():
    kept = steps(BiasAmplification(), LocalSCGDM(local_steps=2, step_factor=0.5), 1, "kept")
    first, second = kept
    assert first.m.ravel().tolist() == first.z.ravel().tolist()
    assert first.u.ravel().tolist() == [0.5, 0.75]  # 2x and 1 − x at ¼
    # f' is the identity here: z = a_k u_k, x_1 = ¼ − 0.05 z, and then averages
    assert first.x.ravel() == pytest.approx([0.25 - 0.05, 0.25 + 0.05 * 0.75])
    assert np.ptp(second.x) == np.ptp(second.u) == np.ptp(second.m) == 0


TERMS = Terms({"one": lambda c: c, "two": lambda c: 10 * c})


def test_a_control_shrinks_the_terms_that_it_names():
    made = dict(TERMS.controls({"one": 0, "two": Fraction(1, 2), ("one", "two"): 3}))
    assert {name: form.right(1) for name, form in made.items()} == {
        "without one": 10, "1/2 of two": 6, "3 of one and two": 33,
    }  # fmt: skip
    assert TERMS(1) == 11
    with pytest.raises(DriftproofError, match="unknown term of a right side 'three'"):
        TERMS.controls({"three": 0})


def corrected():
    """Return each claim of the paper whose corrected form is a sum of named terms."""
    for name, leaf in leaves("claim").items():
        if name.startswith("scgdm/"):
            for form in leaf.load().forms:
                if form.form == "corrected" and isinstance(form.right, Terms):
                    yield pytest.param(leaf.load(), form.right, id=name)


@pytest.mark.parametrize(("claim", "terms"), list(corrected()))
def test_each_term_of_a_corrected_form_has_a_control_or_is_called_untested(claim, terms):
    told = " ".join(form.reading for form in claim.forms if form.form == "sibling")
    told += claim.explain.partition("Untested")[2]
    assert [name for name in terms.terms if name not in told] == []


def test_each_measured_mean_that_is_named_is_measured_and_has_a_name_in_latex():
    for name, leaf in leaves("claim").items():
        claim = leaf.load()
        if not name.startswith("scgdm/") or not isinstance(claim, BoundClaim):
            continue
        for form in claim.forms:
            named = {
                symbol.name.removeprefix(MEASURED)
                for symbol in form.right(Letters(claim.notation(claim.cases[0]))).free_symbols
                if symbol.name.startswith(MEASURED)
            }
            assert named <= set(claim.measured), (name, form.reading)


@pytest.mark.parametrize("alpha", [0.3, 1.0, 7.0])
@pytest.mark.parametrize("gamma", [0.2, 1.0, 7.0])
def test_the_largest_factor_is_the_papers_and_is_admitted(alpha, gamma):
    for problem in (BoundedComposition(inner_curvature=0.5), BiasAmplification(
            objective_of="client-wise")):  # fmt: skip
        found = given.largest_factor(problem, alpha, gamma)
        c = problem.constants
        v = {
            "C_g": c["inner_gradient_moment"], "C_f": c["outer_gradient_moment"],
            "L_g": c["inner_mean_smoothness"], "L_f": c["outer_mean_smoothness"],
            "alpha": alpha, "gamma": gamma,
        }  # fmt: skip
        curved = v["C_g"] ** 4 * v["L_f"] ** 2
        whole = v["C_g"] ** 2 * v["L_f"] + v["C_f"] * v["L_g"]
        largest = sqrt(1 / (8 * (curved / gamma**2 + curved / gamma + whole**2 / alpha**2)))
        assert found == pytest.approx(largest, rel=1e-9)
        assert found <= largest


@pytest.mark.parametrize(
    ("local_steps", "step_size", "rounds", "fine"),
    [(4, 1 / 16, 64, True), (1, 1.0, 1, True), (4, 1 / 16, 63, False), (4, 0.0624, 64, False),
     (2, 1 / 16, 128, False), (16, 1 / 16, 16, False)],
)  # fmt: skip
def test_the_schedule_is_the_corollarys(local_steps, step_size, rounds, fine):
    method = LocalSCGDM(
        local_steps=local_steps, step_size=step_size, momentum=0.5, inner_momentum=0.5
    )
    steps = rounds * local_steps
    printed = step_size == pytest.approx(steps**-0.5) and local_steps == pytest.approx(steps**0.25)
    assert printed is fine
    alone = replace(leaves("claim")["scgdm/corollary-3.5"].load(), assumes=[SCHEDULE])
    assert (unmet(alone, Case(BoundedComposition(), method, rounds)) is None) is fine


def test_conditions_on_the_algorithm_tell_samples_and_averages_apart():
    def case(problem, **more):
        return Case(problem, LocalSCGDM(**more), 1)

    one, two = BoundedComposition(clients=1), BoundedComposition(clients=2)
    noisy = BoundedComposition(clients=2, outer_gradient_noise=0.1)
    assert given.PRINTED.applies(case(two))
    assert not given.PRINTED.applies(case(two, averaged="mx"))
    assert not given.PRINTED.applies(case(two, local_steps=1))
    assert given.TWO_SAMPLES.applies(case(noisy))
    assert not given.TWO_SAMPLES.applies(case(noisy, samples="one"))
    assert given.ONE_SAMPLE.applies(case(noisy, samples="one"))
    assert not given.ONE_SAMPLE.applies(case(noisy))
    # without noise they are the same algorithm
    assert given.TWO_SAMPLES.applies(case(two, samples="one"))
    assert given.ONE_SAMPLE.applies(case(two))
    assert given.ALIKE.applies(case(noisy))
    assert given.ALIKE.applies(case(BoundedComposition(clients=1, heterogeneity=1.0)))
    for apart in ("heterogeneity", "opposition_slope", "inner_offset"):
        assert not given.ALIKE.applies(case(BoundedComposition(clients=2, **{apart: 1.0})))
    assert given.MODELS_AVERAGED.applies(case(two, averaged="mx"))
    assert not given.MODELS_AVERAGED.applies(case(two, averaged="um"))
    assert given.MODELS_AVERAGED.applies(case(one, averaged=""))
    different = BiasAmplification(objective_of="client-wise")
    assert not given.INNER_ESTIMATES.applies(case(different))
    assert given.INNER_ESTIMATES.applies(case(different, averaged="mx"))
    assert given.INNER_ESTIMATES.applies(case(two))
    assert not given.INNER_ESTIMATES.applies(case(BoundedComposition(inner_offset=1.0)))
