"""Laws of bilevel problems: oracles are derivatives, y* solves, ∇F is the implicit gradient."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize, root
from torch.autograd.functional import jacobian

from driftproof.synthetic.attacks.outcomes import outcomes
from driftproof.synthetic.attacks.search import attack
from driftproof.synthetic.certificates import logistic
from driftproof.synthetic.problems import (
    CompositionalBilevel,
    LogisticBilevel,
    QuadraticBilevel,
    QuadraticMinimax,
)
from driftproof.toolkit.algorithms import FedOut
from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.federation import run_exactly
from driftproof.toolkit.measure import average
from tests.leaves import problems

LEVELS = [p for p in problems() if p.values[0].offers in ("bilevel", "minimax")]
every_problem = pytest.mark.parametrize("problem", LEVELS)


def normal(*shape, seed=0, scale=1.0):
    random = torch.Generator().manual_seed(seed)
    return scale * torch.randn(*shape, generator=random, dtype=torch.float64)


def sizes(problem):
    return problem.upper_dim, len(problem.start()) - problem.upper_dim


def points(problem, seed=0, scale=1.0, width=1):
    """Return one x, one y and one v for each client."""
    upper, lower = sizes(problem)
    return [
        normal(problem.clients, size, width, seed=seed + k, scale=scale)
        for k, size in enumerate((upper, lower, lower))
    ]


def close(got, wanted, *, within=1e-10):
    torch.testing.assert_close(got, wanted, rtol=within, atol=within)


# --- the oracles are derivatives ------------------------------------------------------------------


def check_upper(oracles, x, y):
    x, y = x.clone().requires_grad_(), y.clone().requires_grad_()
    of_x, of_y = torch.autograd.grad(
        oracles.upper_value(x, y).sum() + 0 * (x.sum() + y.sum()), (x, y)
    )
    close(oracles.upper_grad_x(x.detach(), y.detach(), None), of_x)
    close(oracles.upper_grad_y(x.detach(), y.detach(), None), of_y)


def check_lower(oracles, x, y, v, drawn, *, cross=True):
    """The Hessian's products, and the cross derivative's, are the gradient's derivatives."""
    moved = jacobian(lambda at: oracles.lower_grad(x, at, drawn), y)
    close(oracles.lower_hessian_product(x, y, v, drawn), torch.einsum("kirljs,ljs->kir", moved, v))
    if cross:
        moved = jacobian(lambda at: oracles.lower_grad(at, y, drawn), x)
        close(
            oracles.lower_cross_product(x, y, v, drawn), torch.einsum("kirljs,kir->ljs", moved, v)
        )


def check_closed(oracles, x, y):
    """(∇_x g_i, ∇_y g_i) has a symmetric Jacobian, so by Poincaré's lemma it is a gradient."""

    def field(z):
        at = z[:, : x.shape[1]], z[:, x.shape[1] :]
        return torch.cat([oracles.lower_grad_x(*at), oracles.lower_grad(*at, None)], 1)

    flat = jacobian(field, torch.cat([x, y], 1)).flatten(3).flatten(0, 2)
    close(flat, flat.T)


@every_problem
@pytest.mark.parametrize("scale", [0.1, 3.0])
def test_oracles_are_derivatives(problem, scale):
    oracles = problem.oracles(torch.float64)
    x, y, v = points(problem, scale=scale)
    check_upper(oracles, x, y)
    check_lower(oracles, x, y, v, None)
    check_closed(oracles, x, y)


@every_problem
def test_a_samples_hessian_is_the_derivative_of_the_same_samples_gradient(problem):
    oracles = problem.oracles(torch.float64)
    # the noise of the quadratic family's cross derivative is none of its gradient's
    cross = not isinstance(problem, QuadraticBilevel)
    for drawn, _ in outcomes(oracles.lower_law(2), problem.clients, 1):
        check_lower(oracles, *points(problem), drawn, cross=cross)


class Spoilt:
    """Oracles with one of their answers spoilt."""

    def __init__(self, oracles, name, change):
        self._held, self._name, self._change = oracles, name, change

    def __getattr__(self, name):
        asked = getattr(self._held, name)
        return (lambda *at: self._change(asked(*at))) if name == self._name else asked


@pytest.mark.parametrize(
    ("name", "check"),
    [
        ("upper_grad_x", lambda o, x, y, v: check_upper(o, x, y)),
        ("upper_grad_y", lambda o, x, y, v: check_upper(o, x, y)),
        ("lower_hessian_product", lambda o, x, y, v: check_lower(o, x, y, v, None)),
        ("lower_cross_product", lambda o, x, y, v: check_lower(o, x, y, v, None)),
        ("lower_grad_x", lambda o, x, y, v: check_closed(o, x, y)),
    ],
)
@pytest.mark.parametrize("change", [lambda a: -a, lambda a: 1.01 * a])
def test_a_spoilt_oracle_is_found_out(name, check, change):
    problem = LogisticBilevel(clients=2, samples=3, validation=3, regulariser=0.3)
    oracles = problem.oracles(torch.float64)
    check(oracles, *points(problem))
    with pytest.raises(AssertionError):
        check(Spoilt(oracles, name, change), *points(problem))


def lower_values(problem):
    """Return (x, y) → g_i(x, y) for each family, client by client, from its docstring's formula."""
    if isinstance(problem, QuadraticBilevel):
        part = {k: torch.from_numpy(np.asarray(v)) for k, v in problem.parts.items()}

        def quadratic(i, x, y):
            return y @ part["H"][i] @ y / 2 - y @ (part["C"][i] @ x + part["e"][i])

        return quadratic
    if isinstance(problem, LogisticBilevel):
        rows, cross = torch.from_numpy(problem.data[0]), torch.from_numpy(problem.cross_maps)

        def training(i, x, y):
            losses = [torch.log1p(torch.exp(-row @ y)) for row in rows[i]]
            return sum(losses) / len(losses) + problem.ridge / 2 * (y @ y) - y @ (cross[i] @ x)

        return training
    if isinstance(problem, CompositionalBilevel):
        inner = problem.composition.oracles(torch.float64).inner

        def tracking(i, x, y):
            r = inner(x.expand(problem.clients, len(x))[..., None], None)[0][i, :, 0]
            return ((y - r) ** 2).sum() / 2

        return tracking
    a, b = (torch.from_numpy(part) for part in (problem.matrices, problem.offsets))

    def minimax(i, x, y):
        return y @ y / 2 - b[i] @ y + y @ a[i] @ x - problem.regulariser / 2 * (x @ x)

    return minimax


HAND_WRITTEN = (QuadraticBilevel, QuadraticMinimax, LogisticBilevel, CompositionalBilevel)


@pytest.mark.parametrize("problem", [p for p in LEVELS if type(p.values[0]) in HAND_WRITTEN])
def test_the_lower_level_is_the_function_that_is_written(problem):
    value, oracles = lower_values(problem), problem.oracles(torch.float64)
    x, y, _ = points(problem)
    of_x, of_y = oracles.lower_grad_x(x, y), oracles.lower_grad(x, y, None)
    for i in range(problem.clients):
        at = [v[i, :, 0].clone().requires_grad_() for v in (x, y)]
        by_autograd = torch.autograd.grad(value(i, *at), at)
        close(of_x[i, :, 0], by_autograd[0])
        close(of_y[i, :, 0], by_autograd[1])


def test_the_upper_levels_are_the_functions_that_are_written():
    problem = LogisticBilevel(clients=2, regulariser=0.3)
    x, y, _ = points(problem)
    got = problem.oracles(torch.float64).upper_value(x, y)[:, 0]
    for i, rows in enumerate(problem.data[1]):
        losses = np.log1p(np.exp(-rows @ y[i, :, 0].numpy()))
        assert float(got[i]) == pytest.approx(losses.mean() + 0.15 * float((x[i] ** 2).sum()))


# --- y*, ∇F and what is made of them --------------------------------------------------------------


def mean_lower_gradient(problem, x, y):
    every = (v.expand(problem.clients, *v.shape) for v in (x, y))
    return problem.oracles(torch.float64).lower_grad(*every, None).mean(0)


@every_problem
@pytest.mark.parametrize("scale", [1e-2, 1.0, 100.0])
def test_the_mean_lower_gradient_vanishes_at_the_lower_solution(problem, scale):
    x = normal(problem.upper_dim, 4, scale=scale)
    y = problem.lower_solution(x)
    left = mean_lower_gradient(problem, x, y)
    assert float(left.abs().max()) <= 1e-13 * (1 + scale)
    moved = mean_lower_gradient(problem, x, y + 1e-3)
    assert float(moved.norm(dim=0).min()) >= 0.99e-3 * problem.constants["lower_strong_convexity"]


@every_problem
def test_the_hypergradient_is_the_slope_of_f_at_a_lower_solution_found_by_scipy(problem):
    """Neither lower_solution nor an implicit formula has a part in the second route."""
    upper, lower = sizes(problem)
    oracles = problem.oracles(torch.float64)

    def value(x):
        at = torch.from_numpy(x)[:, None]
        found = root(
            lambda y: mean_lower_gradient(problem, at, torch.from_numpy(y)[:, None])[:, 0].numpy(),
            np.zeros(lower),
            tol=1e-13,
        )
        every = [torch.from_numpy(v)[:, None].expand(problem.clients, -1, 1) for v in (x, found.x)]
        return float(oracles.upper_value(*every).mean())

    x, step = normal(upper, seed=3).numpy(), 1e-4
    units = step * np.eye(upper)
    # the fourth-order central difference
    slope = [
        (8 * (value(x + e) - value(x - e)) - value(x + 2 * e) + value(x - 2 * e)) / (12 * step)
        for e in units
    ]
    gradient = problem.gradient(torch.from_numpy(x)[:, None])[:, 0].numpy()
    np.testing.assert_allclose(gradient, slope, rtol=1e-7, atol=1e-8)
    assert value(x) == pytest.approx(float(problem.objective(torch.from_numpy(x)[:, None])))


@every_problem
def test_the_hypergradient_away_from_the_lower_solution_is_its_formula(problem):
    oracles = problem.oracles(torch.float64)
    x, y, _ = (v[0] for v in points(problem))
    hessian = jacobian(lambda at: mean_lower_gradient(problem, x, at), y)[:, 0, :, 0]
    cross = jacobian(lambda at: mean_lower_gradient(problem, at, y), x)[:, 0, :, 0]
    every = [v.expand(problem.clients, *v.shape) for v in (x, y)]
    of_x, of_y = (ask(*every, None).mean(0) for ask in (oracles.upper_grad_x, oracles.upper_grad_y))
    p = torch.linalg.inv(hessian) @ of_y
    close(problem.inverse_hessian_gradient(x, y), p)
    close(problem.hypergradient(x, y), of_x - cross.T @ p)
    close(problem.lower_hessian(*every)[0], hessian)


@every_problem
def test_the_clients_gradients_are_those_of_their_functions_at_the_common_solution(problem):
    oracles, x = problem.oracles(torch.float64), normal(problem.upper_dim, 1, seed=5)
    at = x.clone().requires_grad_()
    every = [v.expand(problem.clients, *v.shape) for v in (at, problem.lower_solution(at))]
    values = oracles.upper_value(*every)[:, 0]
    by_autograd = [torch.autograd.grad(value, at, retain_graph=True)[0] for value in values]
    got = problem.client_gradients(x)
    close(got, torch.stack(by_autograd))
    close(got.mean(0), problem.gradient(x))


@every_problem
def test_where_z_is_given_only_x_counts(problem):
    z = normal(len(problem.start()), 3)
    x = z[: problem.upper_dim]
    for of in (problem.objective, problem.gradient):
        close(of(z), of(x))
    assert len(problem.start()) > problem.upper_dim == problem.dim


# --- noise and constants --------------------------------------------------------------------------


def noisy_answers(problem):
    """Return each noisy oracle with its law, as functions of the draw alone."""
    oracles, (x, y, v) = problem.oracles(torch.float64), points(problem)
    upper, lower = oracles.upper_law, oracles.lower_law
    return [
        (upper, lambda d: oracles.upper_grad_x(x, y, d)),
        (upper, lambda d: oracles.upper_grad_y(x, y, d)),
        (lower, lambda d: oracles.lower_grad(x, y, d)),
        (lower, lambda d: oracles.lower_hessian_product(x, y, v, d)),
        (lower, lambda d: oracles.lower_cross_product(x, y, v, d)),
    ]


def mean_and_variance(law, clients, answer):
    """Return both, and the mass, exactly, by every outcome."""
    exact = answer(None)
    mean, square, mass = torch.zeros_like(exact), torch.zeros_like(exact), 0.0
    for drawn, chance in outcomes(law, clients, 1):
        got, mass = answer(drawn), mass + chance
        mean = mean + chance[:, None, None] * got
        square = square + chance[:, None, None] * (got - exact) ** 2
    return mean, square, mass


def check_noise(problem):
    for law, answer in noisy_answers(problem):
        mean, one, mass = mean_and_variance(law(1), problem.clients, answer)
        close(mass, torch.ones_like(mass))
        close(mean, answer(None), within=1e-12)
        mean, two, _ = mean_and_variance(law(2), problem.clients, answer)
        close(mean, answer(None), within=1e-12)
        close(two, one / 2, within=1e-12)


@every_problem
def test_every_noisy_oracle_is_unbiased_and_two_samples_halve_its_variance(problem):
    check_noise(problem)


def test_a_minibatch_that_is_not_uniform_is_found_out(monkeypatch):
    problem = LogisticBilevel(clients=2, samples=3, validation=3)
    rows = problem.data[0].copy()
    rows[:, 0] = rows[:, 1]  # the minibatches draw from other rows than the mean is of
    broken = problem.oracles(torch.float64)
    whole = problem.oracles(torch.float64).lower_grad
    broken._train = torch.from_numpy(rows)
    drawn = broken.lower_grad
    broken.lower_grad = lambda x, y, d: whole(x, y, d) if d is None else drawn(x, y, d)
    monkeypatch.setattr(LogisticBilevel, "oracles", lambda self, dtype: broken)
    with pytest.raises(AssertionError):
        check_noise(problem)


share = st.floats(0.0, 2.0)


@st.composite
def quadratic_bilevels(draw):
    smallest = draw(st.floats(0.1, 1.0))
    width = draw(st.floats(0.0, 3.0))
    return QuadraticBilevel(
        clients=draw(st.integers(1, 4)), dim=draw(st.integers(1, 3)),
        lower_dim=draw(st.integers(1, 3)), smallest=smallest, largest=smallest + width,
        hessian_heterogeneity=0.95 * smallest * draw(st.floats(0.0, 1.0)),
        **{name: draw(share) for name in (
            "cross", "cross_heterogeneity", "offset", "offset_heterogeneity", "target",
            "target_heterogeneity", "regulariser", "regulariser_heterogeneity", "tilt",
            "upper_noise", "lower_value_noise", "lower_curvature_noise", "cross_noise")},
    )  # fmt: skip


@settings(max_examples=25)
@given(quadratic_bilevels())
def test_random_quadratic_members(problem):
    held = problem.constants
    assert 0 < held["lower_strong_convexity"] <= held["lower_smoothness"] * (1 + 1e-12)
    assert held["lower_sample_convexity"] <= held["lower_strong_convexity"]
    assert held["lower_strong_convexity"] <= held["lower_sample_smoothness"] * (1 + 1e-12)
    assert held["lower_hessian_noise"] <= held["lower_gradient_noise"]
    if "strong_convexity" in held:
        assert held["strong_convexity"] <= held["objective_smoothness"] * (1 + 1e-12)
    check_noise(problem)
    x = normal(problem.dim, 3)
    assert float(mean_lower_gradient(problem, x, problem.lower_solution(x)).abs().max()) < 1e-10
    assert float(problem.objective(x).min()) >= problem.solution.low - 1e-10


@pytest.mark.parametrize(
    "change",
    [
        {"ridge": 0.02},
        {"feature_bound": 6.0, "ridge": 0.1},
        {"regulariser": 3.0},
        {"lower_dim": 1, "samples": 1, "validation": 1, "feature_bound": 3.0},
        {"cross": 4.0, "cross_heterogeneity": 4.0},
        {"clients": 1, "lower_dim": 4},
    ],
)
def test_the_constants_of_unusual_logistic_members_hold(change):
    """A small ridge leaves the third derivative alone in L; R ≠ 1 tells its powers apart."""
    problem = LogisticBilevel(**{"clients": 2, "dim": 2, "samples": 3, "validation": 3} | change)
    for role in problem.constants:
        assert attack(problem, role) <= 1 + 1e-6, role


# --- the logistic family --------------------------------------------------------------------------


@pytest.mark.parametrize("scale", [0.1, 1.0, 20.0])
def test_newton_and_the_exponential_cone_agree_within_the_certificate(scale):
    """cvxpy's y is ‖∇φ(y)‖/ν from y*, at most, by strong convexity."""
    import cvxpy as cp

    problem = LogisticBilevel(clients=3, cross_heterogeneity=0.5, ridge=0.3)
    x = normal(problem.dim, 1, scale=scale)
    by_newton = problem.lower_solution(x)[:, 0].numpy()
    rows, push = problem.data[0].reshape(-1, 3), problem.cross_maps.mean(0) @ x[:, 0].numpy()
    y = cp.Variable(3)
    loss = cp.sum(cp.logistic(-rows @ y)) / len(rows)
    loss += problem.ridge / 2 * cp.sum_squares(y) - push @ y
    cp.Problem(cp.Minimize(loss)).solve(solver=cp.CLARABEL)
    for away in (0.0, 0.1):  # a wrong point is no further than its certificate says
        at = y.value + away
        gradient = mean_lower_gradient(problem, x, torch.from_numpy(at)[:, None])
        bound = float(gradient.norm()) / problem.ridge
        assert away - 1e-4 <= np.linalg.norm(at - by_newton) <= bound + 1e-13
        assert bound < 1e-4 or away


def test_newtons_method_gives_up_and_passes_on_what_is_no_number(monkeypatch):
    problem = LogisticBilevel(clients=2, ridge=0.01)
    x = normal(problem.dim, 2)
    assert problem.lower_solution(torch.full_like(x, np.nan)).isnan().all()
    single = problem.lower_solution(x.float())
    assert single.dtype == torch.float32
    torch.testing.assert_close(single.double(), problem.lower_solution(x), rtol=1e-3, atol=1e-3)
    monkeypatch.setattr(logistic, "ITERATIONS", 1)
    with pytest.raises(DriftproofError, match="ridge larger"):
        problem.lower_solution(x)


@pytest.mark.parametrize("ridge", [1.0, 1e-2, 1e-4])
def test_newtons_method_descends_from_anywhere(ridge):
    rows, push = normal(40, 3, scale=3.0), normal(3, 8, scale=2.0)
    y = logistic.newton(rows, ridge, push)
    residual = -rows.T @ torch.sigmoid(-rows @ y) / len(rows) + ridge * y - push
    assert float(residual.abs().max()) < 1e-12


@settings(max_examples=30)
@given(st.integers(0, 10_000), st.integers(1, 12), st.integers(1, 3), st.floats(0.0, 5.0))
def test_the_entropy_bound_is_below_every_mean_loss(seed, count, dim, scale):
    random = np.random.default_rng(seed)
    rows, y = random.standard_normal((count, dim)), scale * random.standard_normal(dim)

    def loss(at):
        return float(np.logaddexp(0, -rows @ at).mean())

    bound = logistic.entropy_bound(rows, y)
    best = minimize(loss, y, method="Nelder-Mead", options={"maxiter": 2_000})
    assert 0 <= bound <= best.fun + 1e-9


def test_the_infimum_of_logistic_members_is_enclosed():
    exact = LogisticBilevel(clients=2, dim=2, lower_dim=2, data_seed=1).solution
    assert 0 <= exact.high - exact.low < 1e-12
    assert "duality" in exact.certificate["method"]
    separable = LogisticBilevel(clients=1, validation=1, dim=2, lower_dim=2).solution
    assert 0 <= separable.low < separable.high < 1e-15

    problem = LogisticBilevel(clients=3, dim=2, regulariser=0.2, heterogeneity=2.0, ridge=0.2)
    solution = problem.solution

    def value(x):
        return float(problem.objective(torch.from_numpy(x)[:, None]))

    ends = [
        minimize(value, start, method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-13}).fun
        for start in (np.zeros(2), np.array([3.0, -2.0]), np.array([-5.0, 5.0]))
    ]
    assert min(ends) == pytest.approx(solution.high, abs=1e-9)
    assert 0 < solution.high - solution.low < 0.05
    # and the lower bound is one because of its modulus: a hundred times that is none
    centre = problem.lower_solution(torch.zeros(2, 1, dtype=torch.float64))[:, 0].numpy()
    too_high = logistic.enclosed(
        lambda x: (value(x), problem.gradient(torch.from_numpy(x)[:, None])[:, 0].numpy()),
        lambda y: solution.minimiser,
        problem.data[1].reshape(-1, 3),
        centre,
        100 * problem.regulariser * problem.ridge**2,
        lambda above: 0.0,
    )
    assert too_high.certificate["gap"] < 0


def test_the_data_of_logistic_members_are_those_of_their_seed():
    again = LogisticBilevel(data_seed=7)
    np.testing.assert_array_equal(again.data[0], LogisticBilevel(data_seed=7).data[0])
    assert not np.allclose(again.data[0], LogisticBilevel(data_seed=8).data[0])
    norms = np.linalg.norm(np.concatenate(again.data, 1), axis=2)
    np.testing.assert_allclose(norms, again.feature_bound)


# --- the compositional family ---------------------------------------------------------------------


@pytest.mark.parametrize("problem", CompositionalBilevel.examples())
def test_a_composition_and_its_bilevel_form_are_one_function(problem):
    composed, x = problem.composition, normal(problem.dim, 6, scale=2.0)
    close(problem.objective(x), composed.objective(x))
    close(problem.gradient(x), composed.gradient(x))
    close(problem.client_gradients(x).mean(0), composed.client_gradients(x).mean(0))
    assert (problem.solution.low, problem.solution.high) == (0, 0)
    assert (
        problem.composition.constants["objective_smoothness"]
        == (problem.constants["objective_smoothness"])
    )


CURVED = CompositionalBilevel(
    clients=3,
    dim=2,
    inner_dim=3,
    inner_curvature=0.7,
    inner_heterogeneity=0.3,
    inner_offset=0.4,
    plain_slope=0.5,
    plain_tilt=0.2,
)


@pytest.mark.parametrize("participation", [1.0, 0.5])
def test_fedout_is_unbiased_for_the_compositions_hypergradient(participation):
    """In exact expectation over samples and cohorts, at a y that is not y*(x)."""
    problem = CompositionalBilevel(
        clients=2,
        dim=2,
        inner_dim=2,
        inner_curvature=0.5,
        inner_heterogeneity=0.3,
        plain_slope=0.5,
        plain_tilt=0.2,
        inner_value_noise=0.1,
        inner_gradient_noise=0.2,
        plain_noise=0.3,
        outer_slope=9.0,
    )
    algorithm = FedOut(terms=1, outer_step_size=0.2, participation=participation)
    left = lambda view: average("round", view.round_start("x").sum(0))  # noqa: E731
    made = run_exactly(problem, algorithm, rounds=1, left=left, limit=2**14)
    x, y = torch.from_numpy(problem.start())[:, None].split([2, 2])
    expected = made.state.x[0] @ torch.from_numpy(made.weights)
    assert len(made.weights) > 8
    close(expected, (x - 0.2 * problem.hypergradient(x, y))[:, 0], within=1e-12)
    assert float((problem.hypergradient(x, y) - problem.gradient(x)).norm()) > 1e-2


def test_curved_compositions_have_no_joint_constants():
    for role in ("lower_smoothness", "lower_hessian_smoothness"):
        assert role not in CURVED.constants
    with pytest.raises(DriftproofError, match="inner_heterogeneity"):
        CompositionalBilevel(inner_heterogeneity=1.0)
    # the gradient's Lipschitz quotient grows with y: ∇²_xx g has −(y − r)·∇²r
    oracles, x = CURVED.oracles(torch.float64), normal(3, 2, 1, seed=4)
    quotients = []
    for size in (1.0, 10.0, 100.0):
        y = size * torch.ones(3, 3, 1, dtype=torch.float64)
        rise = oracles.lower_grad_x(x + 1e-4, y) - oracles.lower_grad_x(x, y)
        quotients.append(float(rise.norm(dim=1).max()) / (1e-4 * 2**0.5))
    assert quotients[2] > 5 * quotients[1] > 10 * quotients[0] / 2
