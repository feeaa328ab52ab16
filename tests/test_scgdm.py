"""Local-SCGDM: the floors, the recursions, the conditions and the controls, on runs."""

from dataclasses import replace
from types import SimpleNamespace

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
from driftproof.toolkit.measure import given_past, sq
from driftproof.verifiers.claim_types.bound import BoundClaim
from driftproof.verifiers.claim_types.terms import Terms
from driftproof.verifiers.judges.assumptions import unmet
from driftproof.verifiers.papers.scgdm.claims import _floors
from driftproof.verifiers.papers.scgdm.claims import assumptions as given
from driftproof.verifiers.papers.scgdm.claims._potential_steps import recursions
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
    run(
        META,
        method,
        sampled_context(META, ("floor",), replicates=1),
        rounds=64,
        watch=lambda _, state: seen.append(state.x.mean().item()),
    )
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
    with pytest.raises(DriftproofError, match="unknown term of a right side 'three'"):
        terms.controls({"three": 0})


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


@pytest.mark.parametrize(("alpha", "gamma"), [(0.3, 7.0), (1.0, 1.0), (7.0, 0.2)])
def test_the_largest_factor_is_the_largest_that_the_theorem_admits(alpha, gamma):
    for problem in (
        BoundedComposition(inner_curvature=0.5),
        BiasAmplification(objective_of="client-wise"),
    ):
        found = given.largest_factor(problem, alpha, gamma)
        for share, fine in ((1, True), (1 + 1e-9, False)):
            c = SimpleNamespace(**letters(problem, alpha, gamma, share * found))
            assert bool(given.STEP_FACTOR.relation(c)) is fine


@pytest.mark.parametrize(
    ("local_steps", "step_size", "rounds", "fine"),
    [
        (4, 1 / 16, 64, True),
        (1, 1.0, 1, True),
        (4, 1 / 16, 63, False),
        (4, 0.0624, 64, False),
        (2, 1 / 16, 128, False),
        (16, 1 / 16, 16, False),
    ],
)
def test_the_schedule_is_the_corollarys(local_steps, step_size, rounds, fine):
    """η = T^{−1/2} and p = T^{1/4}."""
    method = LocalSCGDM(
        local_steps=local_steps, step_size=step_size, momentum=0.5, inner_momentum=0.5
    )
    alone = replace(leaves("claim")["scgdm/corollary-3.5"].load(), assumes=[SCHEDULE])
    assert (unmet(alone, Case(BoundedComposition(), method, rounds)) is None) is fine


def test_conditions_of_which_no_case_on_record_is_an_instance():
    def holds(assumption, problem, averaged="umx"):
        return assumption.applies(Case(problem, LocalSCGDM(averaged=averaged), 1))

    assert holds(given.ALIKE, BoundedComposition(clients=1, heterogeneity=1.0))
    assert holds(given.MODELS_AVERAGED, BoundedComposition(clients=1), "")
    assert not holds(given.MODELS_AVERAGED, BoundedComposition(), "um")


NOISE = {"inner_value_noise": 0.3, "inner_gradient_noise": 0.4, "outer_gradient_noise": 0.5}
BENT = BoundedComposition(inner_curvature=0.7, heterogeneity=1.5, distance=1.2, **NOISE)


def letters(problem, alpha, gamma, beta):
    c = {
        name: problem.constants[role]
        for name, role in LocalSCGDM.notation.items()
        if role in problem.constants
    }
    return c | {"alpha": alpha, "gamma": gamma, "beta": beta}


@pytest.mark.parametrize(
    ("problem", "averaged"),
    [
        (BENT, "umx"),
        (replace(BENT, inner_offset=1.0), "mx"),
        (replace(BENT, clients=3, inner_curvature=0.3, heterogeneity=2.0, distance=0.4), "umx"),
        (BiasAmplification(objective_of="client-wise", at=0.2), "mx"),
    ],
)
@pytest.mark.parametrize(("alpha", "gamma"), [(0.5, 9.0), (9.0, 0.5), (9.0, 9.0)])
def test_the_recursions_of_theorem_3_4_hold_given_every_past(problem, averaged, alpha, gamma):
    """Those of which its steps make the sum, on both sides of an average, where x, m, u jump."""
    beta = 4.0 * given.largest_factor(problem, alpha, gamma)  # the recursions need no condition
    method = LocalSCGDM(
        local_steps=3,
        step_size=0.1,
        momentum=alpha,
        inner_momentum=gamma,
        step_factor=beta,
        averaged=averaged,
    )
    numbers = letters(problem, alpha, gamma, beta) | {"eta": 0.1, "K": problem.clients}
    c = SimpleNamespace(**numbers)

    def left(view):
        at, old = view.before.x.mean(0), view.previous.x.mean(0)
        here = at.expand_as(view.before.x)
        return given_past(
            sq(view.client("m").mean(0) - view.gradient(at)),
            A=sq(view.before.m.mean(0) - view.gradient(old)),
            M=sq(view.before.m.mean(0)),
            e=sq(view.before.u - view.inner_values(old.expand_as(here))).mean(0),
            V=sq(view.before.x - at).mean(0),
            next_e=sq(view.client("u") - view.inner_values(here)).mean(0),
            moved=sq(at - (old - beta * 0.1 * view.before.m.mean(0))),
        )

    ctx = sampled_context(problem, ("past",), replicates=8)
    made = run(problem, method, ctx, rounds=4, left=left)
    m = {"1": 1.0} | {name: part[1:] for name, part in zip(made.names, made.parts, strict=True)}
    assert m["moved"].max() < 1e-20  # x̄_{t+1} = x̄_t − βηm̄_{t+1}, averaged or not
    for made_of, recursion in zip((m["next_e"], made.values[1:]), recursions(c), strict=True):
        bound = sum(float(factor) * m[name] for name, factor in recursion.items())
        assert np.all(made_of <= bound + 1e-12)
