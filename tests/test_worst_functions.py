"""Functions made from a worst case: they are of their class, and the algorithm itself is as bad."""

from __future__ import annotations

import numpy as np
import pytest

from driftproof.synthetic.classes.functions import (
    bounded_gradients,
    monotone_lipschitz,
    smooth,
    smooth_convex,
    smooth_strongly_convex,
)
from driftproof.synthetic.classes.relations import similar, start_gap, start_within
from driftproof.toolkit.algorithms.fedavg import FedAvg
from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.federation import run, sampled_context
from driftproof.toolkit.measure import each, sq
from driftproof.verifiers.worst_case.builder import build
from driftproof.verifiers.worst_case.functions import Interpolant, functions
from driftproof.verifiers.worst_case.solve import solve


def distance(view):
    return each("round", "local_step", sq(view.mean("w") - view.minimiser))


def gap(view):
    return each("round", "local_step", view.gap(view.mean("w")))


STRONGLY = smooth_strongly_convex(1, 0.1)
RUNS = {
    "descent": (FedAvg(step_size=1.0), [smooth_convex(1), start_within(1)], 2, gap, 1),
    "another scale": (FedAvg(step_size=0.01), [smooth_convex(100), start_within(3)], 1, gap, 1),
    "too long a step": (FedAvg(step_size=1.9), [STRONGLY, start_within(1)], 2, distance, 1),
    "local steps": (
        FedAvg(local_steps=2, step_size=0.4), [STRONGLY, similar(1), start_within(1)], 1,
        distance, 2,
    ),
}  # fmt: skip


def worst(name):
    """Return the program's solution and the functions that it gives."""
    algorithm, classes, rounds, left, clients = RUNS[name]
    case = build(algorithm, classes, rounds=rounds, left=left, clients=clients)[-1]
    solved = solve(case)
    return solved, functions(case, solved, clients)


@pytest.mark.parametrize("name", RUNS)
def test_they_are_of_their_class(name):
    """At random points, far from the triples too: every pair meets the interpolation condition."""
    _, problem = worst(name)
    random = np.random.default_rng(0)
    for f in problem.functions:
        points = random.normal(size=(12, problem.dim)) * 2
        known = [(x, *f(x)) for x in (*points, *f.points)]
        for x, fx, gx in known:
            for y, fy, gy in known:
                d, e = x - y, gx - gy
                rise = (e @ e + f.L * f.mu * d @ d - 2 * f.mu * e @ d) / (2 * (f.L - f.mu))
                scale = 1 + abs(fx) + abs(fy)
                assert fx >= fy + gy @ d + rise - 1e-6 * scale


@pytest.mark.parametrize("name", RUNS)
def test_they_take_the_triples(name):
    _, problem = worst(name)
    for f in problem.functions:
        for x, g, value in zip(f.points, f.gradients, f.values, strict=True):
            made, gradient = f(x)
            size = max(1.0, np.abs(f.gradients).max())
            assert made == pytest.approx(value, abs=1e-4 * size)
            assert np.abs(gradient - g).max() < 1e-3 * size


def test_the_gradient_is_the_value_s():
    _, problem = worst("local steps")
    f, x = problem.functions[0], np.full(problem.dim, 0.3)
    for j in range(problem.dim):
        step = np.zeros(problem.dim)
        step[j] = 1e-4
        slope = (f(x + step)[0] - f(x - step)[0]) / 2e-4
        assert slope == pytest.approx(f(x)[1][j], abs=1e-4)


def test_one_triple_gives_a_parabola():
    f = Interpolant(np.array([[1.0]]), np.array([[2.0]]), np.array([5.0]), 4.0, 1.0)
    value, gradient = f(np.array([2.0]))
    assert value == pytest.approx(5 + 2 + 4 / 2)
    assert gradient[0] == pytest.approx(2 + 4)


@pytest.mark.parametrize(
    "classes",
    [[monotone_lipschitz(1, 0.1), start_within(1)],
     [bounded_gradients(smooth_convex(1), 1), start_within(1)]],
)  # fmt: skip
def test_classes_with_necessary_conditions_alone_have_none(classes):
    case = build(FedAvg(step_size=0.1), classes, rounds=1, left=distance, clients=1)[-1]
    with pytest.raises(DriftproofError, match="suffice"):
        functions(case, solve(case), 1)


def gradient(view):
    return each("round", "local_step", sq(view.gradient(view.mean("w"))))


def test_functions_that_need_not_be_convex_are_bounded_below_as_they_should_be():
    classes = [smooth(1), start_gap(1)]
    case = build(FedAvg(step_size=0.5), classes, rounds=2, left=gradient, clients=1)[-1]
    solved = solve(case)
    problem = functions(case, solved, 1)
    (f,) = problem.functions
    ctx = sampled_context(problem, ("worst",), replicates=1)
    made = run(problem, FedAvg(step_size=0.5), ctx, rounds=2, left=gradient)
    assert made.values[-1, 0] == pytest.approx(solved.value, rel=1e-4)
    assert f.mu == -f.L == -1
    least = (f.values - (f.gradients**2).sum(1) / 2).min()
    assert least == pytest.approx(0, abs=1e-5)
    around = np.linspace(-6, 6, 241)[:, None] * np.eye(problem.dim)[0]
    assert all(f(x)[0] >= least - 1e-6 for x in around)


def test_several_functions_that_need_not_be_convex_have_none():
    case = build(FedAvg(step_size=0.5), [smooth(1), start_gap(1)], rounds=1, left=gradient)[-1]
    with pytest.raises(DriftproofError, match="suffice"):
        functions(case, solve(case), 2)
