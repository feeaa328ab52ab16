"""What Theorems 1 to 3 of Li et al. (2020) are judged by: the sampling, Γ and Assumption 4."""

from fractions import Fraction

import numpy as np
import pytest
import torch

from driftproof.synthetic.classes import (
    bounded_steps,
    minima_apart,
    over,
    smooth_strongly_convex,
    start_within,
)
from driftproof.synthetic.problems import PiecewiseLosses
from driftproof.toolkit.algorithms import DecayingFedAvg
from driftproof.toolkit.engines.enumerated import EnumeratedContext
from driftproof.toolkit.federation import run, sampled_context
from driftproof.toolkit.measure import each, sq
from driftproof.verifiers.papers.localsgd.claims._decaying import gap_at_end
from driftproof.verifiers.worst_case.builder import build
from driftproof.verifiers.worst_case.certificate import certify
from driftproof.verifiers.worst_case.exact import Exact
from driftproof.verifiers.worst_case.solve import solve

WRITTEN = {"decaying-fedavg"}
CURVED = smooth_strongly_convex(L=1, mu=0.5)
METHOD = DecayingFedAvg(step_numerator=4.0, step_offset=16.0)


def worst(conditions, method=METHOD, left=gap_at_end, **size):
    (case,) = over([CURVED, *conditions], method, rounds=1, **size)
    program = build(case.algorithm, case.problem, rounds=1, left=left)[-1]
    return program, solve(program)


def lines(*curves):
    """Return clients with straight gradients through two points each, from 0."""
    return PiecewiseLosses(
        clients=len(curves), gradients=tuple((curve,) for curve in curves), tails="linear"
    )


def test_all_clients_local_steps_are_the_recursion():
    """x⁺ = x − β/(γ + t)(x − c) for each client, t = 1, 2, …, and the mean after each three."""
    centres, beta, gamma = np.array([0.0, 1.0, 5.0]), 3.0, 7.0
    problem = lines(*(((0.0, -c), (1.0, 1 - c)) for c in centres))
    method = DecayingFedAvg(local_steps=3, step_numerator=beta, step_offset=gamma)
    ctx = sampled_context(problem, ("all",), replicates=1)
    made = run(problem, method, ctx, rounds=4).state.w[:, 0, 0].numpy()
    x = np.zeros(3)
    for t in range(1, 13):
        x = x - beta / (gamma + t) * (x - centres)
        x = np.full(3, x.mean()) if t % 3 == 0 else x
    np.testing.assert_allclose(made, x, rtol=1e-13)


@pytest.mark.parametrize(("cohort", "replacement"), [(1, "with"), (2, "with"), (2, "without")])
def test_an_average_over_drawn_clients_is_unbiased_and_its_variance_is_that_of_the_proofs(
    cohort, replacement
):
    problem = lines(*(((0.0, -c), (1.0, 1 - c)) for c in (0.0, 1.0, 5.0)))
    method = DecayingFedAvg(local_steps=2, cohort=cohort, replacement=replacement)
    counting = EnumeratedContext(3)
    run(problem, method, counting, rounds=1)
    every = counting.enumerate()
    drawn = run(problem, method, every, rounds=1).state.w[0, 0]
    ctx = sampled_context(problem, ("all",), replicates=1)
    ctx.local_steps, ctx.horizon = 2, 1
    run(problem, DecayingFedAvg(local_steps=2), ctx, rounds=1)
    own = ctx.marks["w"][:, 0, 0]
    mean = float((every.weights * drawn).sum())
    variance = float((every.weights * (drawn - own.mean()) ** 2).sum())
    left = 1.0 if replacement == "with" else (3 - cohort) / (3 - 1)
    assert mean == pytest.approx(float(own.mean()))
    assert variance == pytest.approx(left / cohort * float(own.var(correction=0)))


def test_gradients_at_the_solution_are_bounded_by_the_gap_of_the_minima():
    def left(view):
        return each("round", "local_step", sq(view.client_gradients(view.minimiser)).mean(0))

    program, solved = worst([minima_apart(0.25), start_within(1)], left=left)
    assert solved.value == pytest.approx(2 * 0.25, rel=1e-6)
    bound = Fraction(1, 2) + Fraction(1, 10**6)
    assert certify(Exact(program), solved, at_most=bound).bound <= bound


@pytest.mark.parametrize("G", [0.1, 0.3, 3.0])
def test_a_step_begins_where_the_gradient_allows_it(G):
    def left(view):
        return each("step", sq(view.mean("w") - view.minimiser))

    _, solved = worst([bounded_steps(G), start_within(1)], left=left, clients=1)
    assert solved.value == pytest.approx(min(1.0, (G / 0.5) ** 2), rel=1e-5)


@pytest.mark.parametrize("local_steps", [1, 2, 4])
def test_a_member_of_the_class_does_no_worse(local_steps):
    method = DecayingFedAvg(local_steps=local_steps, step_numerator=4.0, step_offset=16.0)
    # ½(x − 2)² and ¼(x + 1)², seen from 0: x* = 1
    problem = lines(((0.0, -2.0), (1.0, -1.0)), ((0.0, 0.5), (1.0, 1.0)))
    assert problem.solution.minimiser.tolist() == [1.0]
    Gamma = (0.5 * 1**2 + 0.25 * 2**2) / 2
    ctx = sampled_context(problem, ("one",), replicates=1)
    end = run(problem, method, ctx, rounds=1).state.w[0]
    gap = float(problem.objective(end) - problem.objective(torch.ones(1, 1)))
    _, solved = worst([minima_apart(Gamma), bounded_steps(2.0), start_within(1.0)], method)
    assert 0 < gap <= solved.value * (1 + 1e-6)
