"""Law: gradients are gradients, and every certified optimum is one, by a second route."""

import numpy as np
import pytest
import torch
from scipy.optimize import minimize

from driftproof.synthetic.certificates.smooth import frank_wolfe_gap, minimise_smooth_on_ball
from driftproof.synthetic.problems import KLDRO, BoundedComposition, QuadraticMinimax
from driftproof.toolkit.oracles import feasible
from tests.leaves import problems


def value(problem, x):
    """Return F(x); on a set, at the point of it that is next to x."""
    return float(problem.objective(feasible(problem, torch.from_numpy(np.asarray(x))[:, None])))


@pytest.mark.parametrize("problem", problems())
def test_the_gradient_is_the_derivative_of_the_objective(problem):
    random = torch.Generator().manual_seed(0)
    x = torch.randn(problem.dim, 5, generator=random, dtype=torch.float64, requires_grad=True)
    (by_autograd,) = torch.autograd.grad(problem.smooth_part(x).sum(), x)
    torch.testing.assert_close(problem.gradient(x.detach()), by_autograd, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("problem", problems())
def test_nothing_lies_below_the_certified_optimum(problem):
    solution = problem.solution
    assert solution.low <= solution.high
    if solution.minimiser is not None:
        at = value(problem, solution.minimiser)  # in what is certified, which may be one number
        assert solution.low - 1e-12 <= at <= solution.high + 1e-12
    random = np.random.default_rng(0)
    for scale in (1e-3, 1.0, 30.0):
        for _ in range(20):
            x = random.standard_normal(problem.dim) * scale
            if problem.radius is not None:
                x *= min(1.0, problem.radius / np.linalg.norm(x))
            assert value(problem, x) >= solution.low - 1e-12


@pytest.mark.parametrize(
    "problem",
    [
        BoundedComposition(clients=4, dim=2, inner_dim=2, heterogeneity=1.5),
        BoundedComposition(clients=3, dim=2, inner_dim=3, heterogeneity=0.5, inner_curvature=0.4),
        QuadraticMinimax(clients=3, dim=3, heterogeneity=0.3),
    ],
)
def test_closed_forms_agree_with_a_numerical_minimum(problem):
    found = min(
        minimize(
            lambda x: value(problem, x),
            start,
            method="Nelder-Mead",
            options={"xatol": 1e-10, "fatol": 1e-14, "maxiter": 20_000},
        ).fun
        for start in (np.full(problem.dim, 0.3), np.linspace(-1, 1, problem.dim))
    )
    assert found == pytest.approx(problem.solution.high, abs=1e-8)
    assert found >= problem.solution.low - 1e-12


def test_the_saddle_point_of_the_quadratic_minimax_family_by_cvxpy():
    import cvxpy as cp

    problem = QuadraticMinimax(clients=4, dim=4, heterogeneity=0.3)
    a, b = problem.matrices.mean(0), problem.offsets.mean(0)
    x = cp.Variable(problem.dim)
    objective = 0.5 * cp.sum_squares(b - a @ x) + 0.5 * problem.regulariser * cp.sum_squares(x)
    cp.Problem(cp.Minimize(objective)).solve(solver=cp.CLARABEL)
    assert objective.value == pytest.approx(problem.solution.high, abs=1e-8)
    np.testing.assert_allclose(x.value, problem.solution.minimiser, atol=1e-6)
    spectrum = np.linalg.svd(a, compute_uv=False)
    np.testing.assert_allclose(np.sort(spectrum), problem.spectrum, rtol=1e-12)


@pytest.mark.parametrize("form", ["exp", "log", "average"])
def test_the_robust_optimum_by_cone_and_by_descent(form):
    """The same code by autograd's gradients, scipy's SLSQP, and what cvxpy's cone says."""
    problem = KLDRO(form=form, clients=3, dim=4, ball=3.0)
    solution = problem.solution

    def value_and_gradient(w):
        at = torch.from_numpy(w)[:, None]
        return float(problem.objective(at)), problem.gradient(at)[:, 0].numpy()

    point = minimise_smooth_on_ball(value_and_gradient, problem.start(), problem.ball)
    least, slope = value_and_gradient(point)
    assert frank_wolfe_gap(point, slope, problem.ball) < 1e-12
    by_scipy = minimize(
        value_and_gradient,
        problem.start(),
        jac=True,
        method="SLSQP",
        tol=1e-14,
        constraints={"type": "ineq", "fun": lambda w: problem.ball**2 - w @ w},
    )
    for found in (least, by_scipy.fun):
        assert solution.low - 1e-12 <= found <= solution.high + 1e-9
    np.testing.assert_allclose(point, solution.minimiser, atol=1e-7)
    assert solution.high - solution.low < 1e-11
    told = solution.certificate
    assert told["status"].startswith("optimal")
    cone = np.exp(told["primal"] / problem.temperature) if form == "exp" else told["primal"]
    assert solution.low - 1e-6 <= cone <= solution.high + 1e-6


def test_exp_and_log_forms_have_one_minimiser():
    one, two = KLDRO(form="exp", ball=3.0), KLDRO(form="log", ball=3.0)
    np.testing.assert_allclose(one.solution.minimiser, two.solution.minimiser, atol=1e-9)
    assert one.temperature * np.log(one.solution.high) == pytest.approx(two.solution.high)


def test_the_saddle_value_and_the_robust_weights_of_form_4():
    problem = KLDRO(form="exp", clients=4)
    w = torch.from_numpy(np.linspace(-1, 1, problem.dim))[:, None]
    best = problem.robust_weights(w)
    assert float(best.sum()) == pytest.approx(1.0)
    top = float(problem.saddle_value(w, best))
    closed = problem.temperature * float(
        torch.logsumexp(problem.losses(w) / problem.temperature, 0) - np.log(problem.clients)
    )
    assert top == pytest.approx(closed, abs=1e-13)
    random = np.random.default_rng(0)
    for _ in range(50):
        r = torch.from_numpy(random.dirichlet(np.ones(problem.clients)))[:, None]
        assert float(problem.saddle_value(w, r)) <= top + 1e-13


def test_the_frank_wolfe_gap_is_exact_for_linear_functions():
    random = np.random.default_rng(0)
    g, w = random.standard_normal(4), random.standard_normal(4) / 4
    assert frank_wolfe_gap(w, g, 2.0) == pytest.approx(g @ w + 2.0 * np.linalg.norm(g))
    held = KLDRO(clients=2, samples=3, ball=2.0).solution
    assert held.high - held.low == pytest.approx(held.certificate["frank_wolfe_gap"], abs=1e-15)
