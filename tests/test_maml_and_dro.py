"""Analytic meta-learning and penalised robust learning: every number by a second route."""

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
import torch
from scipy.optimize import minimize

from driftproof.synthetic.certificates.penalised import Ambiguity, inner_maximum, worst_weights
from driftproof.synthetic.problems import AnalyticMAML, PenalisedDRO
from driftproof.verifiers.papers.scgdm.claims import _suprema
from driftproof.verifiers.papers.scgdm.claims.equation_8 import Device, mean_step, own_step

NOISY = [
    AnalyticMAML(clients=1, noise=0.3, adaptation=0.8),
    AnalyticMAML(clients=1, dim=2, noise=0.3, signs="alternating"),
    AnalyticMAML(clients=1, dim=2, noise=2.5, frequency=1.3, amplitude=0.7),
    AnalyticMAML(clients=2, dim=2, noise=0.4, heterogeneity=0.6, signs="alternating"),
]


def loss(problem, centre, x, xi):
    """One sample's loss, written a second time."""
    w = problem.frequency
    noise = xi * problem.noise * (torch.from_numpy(problem.pattern) * torch.cos(w * x)).sum()
    return problem.amplitude * (1 - torch.cos(w * (x - centre))).sum() + noise


def jacobian(problem, centre, x, xi):
    """I − λ∇²L(x; ξ), by automatic differentiation: a full matrix."""
    hessian = torch.autograd.functional.hessian(lambda v: loss(problem, centre, v, xi), x)
    return np.eye(problem.dim) - problem.adaptation * hessian.numpy()


@pytest.mark.parametrize("problem", NOISY)
def test_oracles_of_tasks_are_derivatives(problem):
    oracles = problem.oracles(torch.float64)
    for k, centre in enumerate(problem.centres[:, 0]):
        x = torch.linspace(-1.0, 2.0, problem.dim, dtype=torch.float64)
        for xi in (-1.0, 1.0):
            sign = torch.full((problem.clients, 1, 1), xi, dtype=torch.float64)
            every = x[:, None].expand(problem.clients, -1, 1)
            matrix = jacobian(problem, centre, x, xi)
            _, pullback = oracles.inner(every, sign)
            rows = [
                pullback(unit[:, None].expand_as(every))[k, :, 0].numpy()
                for unit in torch.eye(problem.dim, dtype=torch.float64)
            ]
            np.testing.assert_allclose(np.stack(rows), matrix, atol=1e-14)
            slope = torch.autograd.functional.jacobian(lambda v: loss(problem, centre, v, xi), x)  # noqa: B023
            made = oracles.outer_grad(every, sign)[k, :, 0]
            torch.testing.assert_close(made, slope, rtol=1e-13, atol=1e-14)


def sampled(problem, client, measure, count=120):
    """The largest of a measure over a grid of points of one period."""
    period = 2 * math.pi / problem.frequency
    points = np.linspace(0.0, period, count if problem.dim == 1 else 20, endpoint=False)
    centre = problem.centres[client, 0]
    return max(
        measure(problem, centre, torch.tensor(x, dtype=torch.float64))
        for x in product(points, repeat=problem.dim)
    )


def moment(problem, centre, x):
    return np.mean([np.linalg.norm(jacobian(problem, centre, x, s), 2) ** 2 for s in (-1, 1)])


def moment_frobenius(problem, centre, x):
    return np.mean([np.linalg.norm(jacobian(problem, centre, x, s)) ** 2 for s in (-1, 1)])


def variance(problem, centre, x):
    mean = jacobian(problem, centre, x, 0)
    return np.mean(
        [np.linalg.norm(jacobian(problem, centre, x, s) - mean, 2) ** 2 for s in (-1, 1)]
    )


def outer_moment(problem, centre, x):
    slopes = [
        torch.autograd.functional.jacobian(lambda v: loss(problem, centre, v, s), x)  # noqa: B023
        for s in (-1, 1)
    ]
    return float(np.mean([float(g @ g) for g in slopes]))


def curvature(problem, centre, x):
    """The Hessian of L(v − λ∇L(v)), by differentiating twice through the first derivative."""

    def adapted(v):
        w = problem.frequency
        slope = problem.amplitude * w * torch.sin(w * (v - centre))
        return loss(problem, centre, v - problem.adaptation * slope, 0)

    return float(np.linalg.norm(torch.autograd.functional.hessian(adapted, x).numpy(), 2))


ROUTES = [
    (_suprema.moment_of_g, moment),
    (_suprema.moment_of_g_frobenius, moment_frobenius),
    (_suprema.variance_of_jacobian, variance),
    (_suprema.moment_of_f, outer_moment),
    (_suprema.smoothness_of_objective, curvature),
]


@pytest.mark.parametrize("problem", NOISY)
@pytest.mark.parametrize(("enclose", "measure"), ROUTES)
def test_a_supremum_lies_where_a_grid_of_full_matrices_finds_it(problem, enclose, measure):
    low, high = enclose(_suprema.Tasks(problem, 0))
    found = sampled(problem, 0, measure)
    assert low <= high <= low * (1 + 1e-7)
    assert 0.97 * low <= found <= high
    assert found > 0.9 * high  # negative control: an enclosure 10 % lower would not hold


@pytest.mark.parametrize(("dim", "value"), [(1, 5.0), (2, 9.0), (3, 9.0)])
def test_minkowski_is_attained_from_two_dimensions_on(dim, value):
    problem = AnalyticMAML(clients=1, dim=dim, adaptation=1.0, noise=1.0, signs="alternating")
    assert _suprema.moment_of_g(_suprema.Tasks(problem, 0))[0] == pytest.approx(value)
    assert problem.constants["inner_gradient_moment"] ** 2 == pytest.approx(value)


def test_averaging_the_tasks_inside_leaves_nothing_to_learn():
    problem = AnalyticMAML(clients=1, tasks=2, adaptation=1.0, task_heterogeneity=math.pi / 2)
    device = Device(problem, 0, torch.from_numpy(problem.centres[0])[:, None])
    for at in (-1.3, 0.0, 2.0):
        x = torch.tensor([at], dtype=torch.float64)
        assert mean_step(device, x).item() == pytest.approx(1.0)
        by_hand = (
            sum(1 - math.cos(at - math.sin(at - c) - c) for c in (math.pi / 2, -math.pi / 2)) / 2
        )
        assert own_step(device, x).item() == pytest.approx(by_hand)
        assert float(problem.objective(x[:, None])) == pytest.approx(by_hand)
    assert by_hand != pytest.approx(1.0)
    zero = torch.zeros(1, dtype=torch.float64)
    assert own_step(device, zero).item() == pytest.approx(1 - math.sin(1))


@pytest.mark.parametrize("problem", AnalyticMAML.examples())
def test_the_minimum_over_a_period_by_descent(problem):
    def value(x):
        return float(problem.objective(torch.from_numpy(np.asarray(x))[:, None]))

    starts = np.linspace(0.0, 2 * np.pi / problem.frequency, 9)
    tight = {"xatol": 1e-10, "fatol": 1e-14}
    found = [
        minimize(value, np.full(problem.dim, s), method="Nelder-Mead", options=tight).fun
        for s in starts
    ]
    assert problem.solution.low - 1e-12 <= min(found)
    assert min(found) == pytest.approx(problem.solution.high, abs=1e-9)
    assert problem.solution.high - problem.solution.low < 1e-8


def penalised_value(losses, weights, penalty, divergence):
    return Ambiguity(divergence, penalty).value(losses, weights)


def upper_bound(losses, shift, penalty, divergence):
    return Ambiguity(divergence, penalty).upper(losses, (penalty, shift))


def simplex(m, steps):
    """Every point of the simplex with coordinates k/steps."""
    for head in product(range(steps + 1), repeat=m - 1):
        if sum(head) <= steps:
            yield np.array([*head, steps - sum(head)]) / steps


@pytest.mark.parametrize("divergence", ["kl", "chi-square"])
@pytest.mark.parametrize("penalty", [0.05, 0.4, 3.0])  # two of the three clip a weight of χ²
@pytest.mark.parametrize("losses", [(0.3, 1.2), (0.1, 0.9, 0.5), (2.0, 2.0, 0.0)])
def test_the_inner_maximum_by_brute_force(divergence, penalty, losses):
    losses, steps = np.array(losses), 240
    low, high = inner_maximum(losses, penalty, divergence)
    assert low - 1e-12 <= high <= low + 1e-9
    found = max(
        penalised_value(losses, p, penalty, divergence) for p in simplex(len(losses), steps)
    )
    assert found <= high + 1e-12
    # a point of the grid is 1/steps away in each coordinate
    assert found >= low - (np.ptp(losses) + 8 * penalty) / steps
    weights, shift = worst_weights(losses, penalty, divergence)
    assert penalised_value(losses, weights, penalty, divergence) == pytest.approx(high)
    assert upper_bound(losses, shift, penalty, divergence) == pytest.approx(high)
    for wrong in (shift - 0.3 * penalty, shift + 0.3 * penalty):  # controls: looser, never lower
        assert upper_bound(losses, wrong, penalty, divergence) > high + 1e-4 * penalty


@pytest.mark.parametrize("gap", [0.0, 0.5, 1.999, 2.0, 2.5, 9.0])
def test_two_samples_in_closed_form_on_both_sides_of_the_threshold(gap):
    """(3) with χ² is t/2 + t²/(8λ) for t ≤ 2λ, t − λ/2 beyond: here λ = 1."""
    low, high = inner_maximum(np.array([0.0, gap]), 1.0, "chi-square")
    exact = gap / 2 + gap**2 / 8 if gap <= 2 else gap - 0.5
    assert low - 1e-9 <= exact <= high + 1e-9
    assert gap / 2 + gap**2 / 8 - exact == pytest.approx(max(0.0, gap - 2) ** 2 / 8)


def test_the_smallest_counterexamples_to_4_and_5_exactly():
    half, one = Fraction(1, 2), Fraction(1)
    p, losses, lam = (Fraction(1, 4), Fraction(3, 4)), (Fraction(0), one), one
    value = sum(a * b for a, b in zip(p, losses, strict=True)) - lam * sum(
        (a - half) ** 2 for a in p
    )
    printed = -sum(ell**2 for ell in losses) / (4 * lam) + (sum(losses) / 2) ** 2 / (2 * lam)
    assert (value, printed) == (Fraction(5, 8), Fraction(-1, 8))
    for other in (Fraction(k, 64) for k in range(65)):  # p is the maximiser
        assert value >= other - lam * ((other - half) ** 2 + (1 - other - half) ** 2)
    low, high = inner_maximum(np.array([1.0]), 2.0, "kl")
    assert low == pytest.approx(1.0)
    assert high == pytest.approx(1.0)  # and the print is log(exp(1/2)) = 1/2


@pytest.mark.parametrize("divergence", ["kl", "chi-square"])
@pytest.mark.parametrize("penalty", [0.3, 2.0])
def test_the_robust_minimum_by_a_search_without_derivatives(divergence, penalty):
    problem = PenalisedDRO(divergence=divergence, penalty=penalty, data_seed=3)
    rows, told = problem.every_row, problem.robust_optimum
    turns, radii = np.linspace(0, 2 * np.pi, 400, endpoint=False), np.linspace(0, problem.ball, 60)
    grid = np.stack([np.outer(radii, f(turns)).ravel() for f in (np.cos, np.sin)])
    best = inner_values(np.logaddexp(0.0, -rows @ grid), penalty, divergence).min()
    assert told.low <= best + 1e-12
    assert best <= told.high + 1e-3
    assert told.high - told.low < 1e-11


def inner_values(losses, penalty, divergence):
    """The inner maximum for each column of losses, by bisection on ν: the third route."""
    if divergence == "kl":
        return penalty * np.log(np.mean(np.exp(losses / penalty), 0))
    below, above = losses.min(0) - penalty, losses.max(0) + penalty
    for _ in range(60):
        shift = (below + above) / 2
        short = np.mean(np.maximum(1 + (losses - shift) / penalty, 0), 0) > 1
        below, above = np.where(short, shift, below), np.where(short, above, shift)
    kept = np.maximum(1 + (losses - shift) / penalty, 0)
    return shift + penalty / 2 * (np.mean(kept**2, 0) - 1)


@pytest.mark.parametrize("problem", PenalisedDRO.examples())
def test_the_composition_is_the_formula_and_the_gradient_is_danskins(problem):
    x = np.linspace(-0.6, 0.9, problem.dim)
    losses = problem.losses(x)
    value = float(problem.objective(torch.from_numpy(x)[:, None]))
    if problem.divergence == "kl":
        low, high = problem.robust(x)
        assert low - 1e-12 <= value <= high + 1e-12
        at = torch.from_numpy(x).requires_grad_()
        each = torch.nn.functional.softplus(-torch.from_numpy(problem.every_row) @ at)
        weights = torch.from_numpy(worst_weights(losses, problem.penalty, "kl")[0])
        slope = torch.autograd.grad(weights @ each, at)[0].numpy()
        made = problem.gradient(torch.from_numpy(x)[:, None])[:, 0].numpy()
        np.testing.assert_allclose(made, slope, atol=1e-12)
        return
    formula = losses.mean() + losses.var() / (2 * problem.penalty)
    assert value == pytest.approx(formula)
    clipped = problem.penalty < losses.mean() - losses.min()
    gap = value - problem.robust(x)[1]
    assert gap > 1e-3 if clipped else abs(gap) < 1e-9


def test_a_clipped_variance_bound_is_not_convex():
    """The upper bound on (3) is no convex function where weights are clipped; (3) is."""
    problem = PenalisedDRO(divergence="chi-square", penalty=0.02, ball=3.0, data_seed=2)
    random = np.random.default_rng(0)
    x = random.standard_normal((400, 2))
    x *= (2.9 * random.random((400, 1))) / np.linalg.norm(x, axis=1, keepdims=True)
    steps = 0.05 * random.standard_normal((400, 2))

    def bent(value):
        return min(
            value(p + h) + value(p - h) - 2 * value(p) for p, h in zip(x, steps, strict=True)
        )

    def upper(p):
        return float(problem.objective(torch.from_numpy(p)[:, None]))

    def robust(p):
        return problem.robust(p)[0]

    assert bent(upper) < -0.005
    assert bent(robust) > -1e-12
