"""FedNest's and ComFedL's parts over whole classes: rates and drifts by second routes."""

from fractions import Fraction

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from driftproof.synthetic.classes import (
    bounded_composition,
    lower_level,
    over,
    similar,
    smooth,
    smooth_convex,
    smooth_strongly_convex,
    start_gap,
    start_gradient,
    start_within,
    upper_level,
)
from driftproof.toolkit.algorithms import ComFedL, FedInn, FedOut, FedSVRG
from driftproof.toolkit.engines.enumerated import NoiselessContext
from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.federation import run
from driftproof.toolkit.gram.exact import Vector
from driftproof.toolkit.gram.tensor import SIZES, GramVector, NotLinearError
from driftproof.toolkit.measure import each, sq
from driftproof.verifiers.worst_case.builder import build
from driftproof.verifiers.worst_case.check import check
from driftproof.verifiers.worst_case.found import worst_case
from tests.certificates import proved
from tests.worst_functions import functions

STRONGLY = smooth_strongly_convex(L=1, mu=0.1)


def at_end(value):
    return lambda view: each("round", "local_step", value(view)) if view.last else None


def distance(of):
    return at_end(lambda view: sq(view.mean(of) - view.minimiser))


def gap(of):
    return at_end(lambda view: view.gap(view.mean(of)))


@pytest.mark.parametrize(("measure", "start"), [(distance, start_within(1)), (gap, start_gap(1))])
def test_fedinn_is_fedsvrg_on_the_lower_level(measure, start):
    inner = FedInn(inner_steps=3, inner_step_size=0.25)
    found = worst_case(inner, [STRONGLY, lower_level(), start], rounds=1, left=measure("y"))
    plain = FedSVRG(local_steps=3, step_size=0.25)
    wanted = worst_case(plain, [STRONGLY, start], rounds=1, left=measure("x")).value
    assert found.value == pytest.approx(wanted, rel=1e-8)
    assert found.value == pytest.approx((1 - 0.25 * 0.1) ** 6, rel=1e-6)


def test_many_local_steps_lose_the_rate():
    """κ = 10, 12 steps: (1 − βμ)^24 at τβℓ = 4; above it at 6; away from y* at 10."""
    worst = [
        worst_case(
            FedInn(inner_steps=12, inner_step_size=way / 12),
            [smooth_strongly_convex(L=12, mu=1.2), lower_level(), start_within(1)],
            rounds=1,
            left=distance("y"),
        ).value
        for way in (4 / 12, 0.5, 10 / 12)
    ]
    rate = [(1 - way / 12 * 1.2) ** 24 for way in (4 / 12, 0.5, 10 / 12)]
    assert worst[0] == pytest.approx(rate[0], rel=1e-5)
    assert worst[1] == pytest.approx(1.3334 * rate[1], rel=1e-3)
    assert worst[2] == pytest.approx(1.149, rel=1e-3)


@pytest.mark.parametrize("steps", range(1, 16))
def test_the_condition_that_the_rate_is_derived_from(steps):
    """Of every client γΣ‖v_j‖² + 2Σ_{l<j}⟨v_l, v_j⟩ − 2Σ c_j⟨v_0, v_j⟩ ≥ 0, for τβℓ ≤ 1."""
    for kappa in (1.001, 1.1, 1.5, 2, 5, 10, 100, 1e6):
        for way in (1.0, 0.7, 0.1):
            step, mu = way / steps, 1 / kappa
            a, gamma = 1 - step * mu, 2 * (1 - step * mu) / (step * (1 - mu))
            c = np.array([sum(a**-k for k in range(j)) for j in range(steps)])
            assert gamma >= 1
            assert ((c[2:] - 1) ** 2).sum() <= gamma * (gamma - 1)
            form = gamma * np.eye(steps) + 1 - np.eye(steps)
            form[0, 1:] -= c[1:]
            form[1:, 0] -= c[1:]
            assert np.linalg.eigvalsh(form)[0] >= 0


def test_sixteen_steps_are_beyond_what_is_derived():
    assert sum((j - 1) ** 2 for j in range(2, 16)) > 4 * 16**2 - 2 * 16


@given(st.integers(1, 15), st.integers(0, 10**6), st.floats(0.05, 1))
def test_quadratics_contract_at_the_rate(steps, seed, way):
    """In closed form, for Hessians that do not commute."""
    random = np.random.default_rng(seed)
    step, mu = way / steps, 0.1
    hessians = []
    for _ in range(3):
        basis = np.linalg.qr(random.normal(size=(3, 3)))[0]
        hessians.append(
            basis @ np.diag(random.choice([mu, 1.0, random.uniform(mu, 1)], 3)) @ basis.T
        )
    eye, mean = np.eye(3), np.mean(hessians, 0)
    path = np.mean(
        [
            sum(step * np.linalg.matrix_power(eye - step * h, j) for j in range(steps))
            for h in hessians
        ],
        0,
    )
    norm = np.linalg.norm(eye - path @ mean, 2)
    assert norm <= (1 - step * mu) ** steps * (1 + 1e-12)


def test_the_worst_functions_of_a_level_are_run_by_the_algorithm_itself():
    method = FedInn(inner_steps=4, inner_step_size=0.9)
    classes = [smooth_strongly_convex(L=1, mu=0.1), lower_level(), similar(zeta=1), start_within(1)]
    (case,) = build(method, classes, rounds=1, left=distance("y"))
    found = worst_case(method, classes, rounds=1, left=distance("y"))
    problem = functions(case, found.solved, 2, "lower")
    ctx = NoiselessContext(2, dtype=torch.float64, device="cpu")
    ran = run(problem, method, ctx, rounds=1, left=distance("y")).values[-1, 0]
    assert ran == pytest.approx(found.value, rel=1e-4)


@pytest.mark.parametrize("second", [start_gap(1), start_gradient(1)])
def test_a_start_that_is_bounded_twice_has_a_certificate_with_both(second):
    """With ‖x_0 − x*‖ ≤ 1 alone f(x_1) − f* ≤ 1/6; the other bound matters little, or not."""
    (case,) = build(
        FedSVRG(step_size=1.0),
        [smooth_convex(L=1), start_within(1), second],
        rounds=1,
        left=gap("x"),
        clients=1,
    )
    made = proved(case)
    assert sum(line.startswith("start") for line in check(made.text).said) == 2
    assert made.bound <= Fraction(1, 6)


def test_what_is_said_of_a_level():
    (case,) = over([STRONGLY, lower_level(), start_within(2)], FedInn(), rounds=1)
    assert case.problem.offers == "bilevel"
    assert case.problem.constants["lower_strong_convexity"] == 0.1
    assert case.problem.constants["lower_smoothness"] == 1
    (case,) = over([smooth(L=3), upper_level(), start_gradient(2)], FedOut(), rounds=1)
    assert case.problem.constants["upper_smoothness"] == 3
    assert case.problem.constants["initial_gradient"] == 2
    with pytest.raises(DriftproofError, match="start_gap"):
        worst_case(FedOut(terms=0), case.problem, rounds=1, left=gap("x"))


def test_a_vector_is_cut_into_all_of_it_and_nothing():
    entries = np.empty((1, 1), dtype=object)
    entries[0, 0] = Vector.basis(0)
    x = GramVector(entries)
    assert x[0:].entries[0, 0] == x[: SIZES["dimension"]].entries[0, 0] == Vector.basis(0)
    assert x[:0].shape == x[SIZES["dimension"] :].shape == (0, 1)
    assert not isinstance(x[:0], GramVector)
    for part in (slice(1, None), slice(None, 3), slice(None, None, 2)):
        with pytest.raises(NotLinearError, match="one coordinate"):
            x[part]


def test_a_composition_is_asked_for_its_direction_alone():
    (case,) = over([bounded_composition(G_f=2, G_g=3)], ComFedL(), rounds=1)
    assert case.problem.offers == "composition"
    assert case.problem.constants["inner_gradient_bound"] == 2
    assert case.problem.constants["outer_gradient_bound"] == 3
    problem = case.problem.fresh()
    oracles = problem.oracles(torch.float64)
    w = problem.unknown_start.expand(2, -1, 1)
    y, pullback = oracles.inner(w, None)
    u = pullback(oracles.outer_grad(y, None))
    (short,) = (c for c in problem.function_class.conditions)
    left = short.quantity(problem.asked.triples[0][0], None)
    assert left == u.entries[0, 0, 0] * u.entries[0, 0, 0]
    assert short.bound == Fraction(36)
    with pytest.raises(DriftproofError, match="outer gradient"):
        pullback(w)
    with pytest.raises(DriftproofError, match="inner value"):
        oracles.outer_grad(w, None)
    with pytest.raises(DriftproofError, match=r"of unknown compositions in another use\n.*2 \* y"):
        2 * y
