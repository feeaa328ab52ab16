"""FedNest (2022): its own code on the instances of its floors, and numbers by a second route."""

from dataclasses import replace
from fractions import Fraction
from math import ceil, inf, log, prod

import numpy as np
import pytest
import torch
from sympy import Integer, Rational

from driftproof.synthetic.problems import QuadraticBilevel, QuadraticMinimax
from driftproof.toolkit.algorithms import FedAvgS, FedInn, FedNest
from driftproof.toolkit.bilevel import BilevelProblem
from driftproof.toolkit.cases import Case
from driftproof.toolkit.engines.enumerated import NoiselessContext
from driftproof.toolkit.federation import run, sampled_context
from driftproof.toolkit.statistics import interval
from driftproof.verifiers.papers.fednest.claims import _drift, inner_drift
from driftproof.verifiers.papers.fednest.claims import _minimax as exact
from driftproof.verifiers.papers.fednest.claims import _rates as rates
from driftproof.verifiers.papers.fednest.claims._alset import MeanProblem
from driftproof.verifiers.papers.fednest.claims.minimax_linear import squared_error


def test_the_limit_of_the_drift_by_a_long_round():
    steps = 4000
    y = (1 - 1 / steps) ** np.arange(1, steps + 1)
    assert np.mean((1 - y) ** 2) == pytest.approx(float(_drift.LIMIT), rel=1e-3)


def test_the_exponent_of_local_steps_is_two():
    """At a fixed small β, far from y*, over the last octave; 1 is printed."""
    drifts = []
    for steps in (64, 128):
        method = FedInn(inner_steps=steps, inner_step_size=2.0**-14)
        ctx = NoiselessContext(2, dtype=torch.float64, device="cpu")
        left = inner_drift.mean_inner_drift.left
        drifts.append(run(inner_drift.PROBLEM, method, ctx, rounds=1, left=left).values)
    # Σν²/τ is τ²/3 + τ/2 + …
    assert np.log2(drifts[1] / drifts[0])[0, 0] == pytest.approx(2, abs=0.03)


class Draw:
    """The instance of ``_rates`` by hand: f = φ(x) − y/2, g = ½(y − x)², ℓ_{g,1} = 2."""

    def __init__(self, terms):
        j = np.arange(terms)
        self.p = -terms / 4 * 0.5**j  # (N/2)·2^{−N'}·∇_y f, N' uniform
        self.rest = -self.p.mean()  # x̂, where x + E p = 0

    def moments(self, alpha, rounds):
        """Return E F'(x^k)² for k < rounds and E(y^K − x^K)², by recursion (α = β), from 0."""
        mean = np.array([-self.rest, 0.0])  # of e = x − x̂ and u = y − x
        step = np.array([[1 - alpha, 0.0], [alpha, 1 - alpha]])
        noise = alpha * np.array([-1.0, 1.0])
        second, squares = np.outer(mean, mean), []
        for _ in range(rounds):
            away = self.rest - 0.5  # F' = x − ½ = e + x̂ − ½
            squares.append(second[0, 0] + 2 * away * mean[0] + away**2)
            mean = step @ mean
            second = step @ second @ step.T + self.p.var() * np.outer(noise, noise)
        return np.array(squares), second[1, 1]

    def mean_square(self, alpha, rounds):
        """Return the mean over k of E F'(x^k)², by the sums in closed form."""
        left = (1 - alpha) ** np.arange(rounds)
        variance = alpha**2 * self.p.var() * (1 - left**2) / (1 - (1 - alpha) ** 2)
        return np.mean(variance + (self.rest * (1 - left) - 0.5) ** 2)


class OneClient(BilevelProblem):
    """f = φ(x) − ⟨s, y⟩, g = Σ (½h_j y_j² − xy_j/N), its own oracles: instances of ``_rates``."""

    clients, upper_dim, constants, solution = 1, 1, {}, None

    def __init__(self, h, slopes, lower_smoothness, at):
        self.h, self.slopes = (torch.tensor(v, dtype=torch.float64)[:, None] for v in (h, slopes))
        self.dim, self.lower_smoothness, self.at = len(h), lower_smoothness, at

    def oracles(self, dtype, device="cpu", clients=None):
        return self

    def start(self):
        return np.array([self.at, *self.lower_solution(self.at)[:, 0]])

    def lower_solution(self, x):
        return x / (self.dim * self.h)

    def upper_law(self, batch):
        return None

    lower_law = upper_law

    def upper_grad_x(self, x, y, xi):
        return torch.clamp(x, -1, 1)

    def upper_grad_y(self, x, y, xi):
        return torch.zeros_like(y) - self.slopes

    def lower_grad(self, x, y, zeta):
        return self.h * y - x / self.dim

    def lower_hessian_product(self, x, y, v, zeta):
        return self.h * v

    def lower_cross_product(self, x, y, v, zeta):
        return -v.sum(1, keepdim=True) / self.dim


def test_the_recursion_is_fednests():
    """3,200 sampled replicates of FedNest on the instance, against the recursion."""
    terms, rounds, alpha, problem = 6, 30, 0.1, OneClient([1.0], [0.5], 2.0, 0.0)
    method = FedNest(terms=terms, inner_step_size=alpha, outer_step_size=alpha)
    ends = np.concatenate(
        [
            run(problem, method, sampled_context(problem, ("draw",), block=b), rounds=rounds)
            .state.x[0, 0]
            .numpy()
            for b in range(50)
        ]
    )
    squares, _ = Draw(terms).moments(alpha, rounds + 1)
    sample = (ends - 0.5) ** 2
    low, high = interval(sample, float(sample.max()) * 1.5, 1e-4)
    assert low <= squares[-1] <= high
    assert high - low < squares[-1] / 2


@pytest.mark.parametrize("rounds", [2**8, 2**11, 2**14])
def test_the_floors_of_a_growing_series(rounds):
    """At α = β = 1/√K and N = ⌈2 log K⌉; the mean over k is above half the limit."""
    terms, alpha = ceil(2 * log(rounds)), rounds**-0.5
    squares, lower = Draw(terms).moments(alpha, rounds)
    stated = float(alpha * (terms - 4) / 32)
    assert squares[-1] >= stated
    assert squares.mean() >= stated / 2
    assert lower >= alpha * (terms - 4) / 640
    assert squares.mean() * rounds**0.5 / log(rounds) > 0.03  # it does not fall with K


def test_no_constant_step_size_and_no_series_is_below_the_floor():
    assert Draw(9).mean_square(0.05, 200) == pytest.approx(Draw(9).moments(0.05, 200)[0].mean())
    for rounds in (2**10, 2**14, 2**17):
        least = min(
            Draw(terms).mean_square(alpha, rounds)
            for terms in range(1, 41)
            for alpha in np.geomspace(2 / rounds, 1.0, 25)
        )
        assert least >= float(np.sqrt(log(rounds) / rounds) / 100)


def with_huber(terms, rounds, replicates, size):
    """Return the mean over k < K of sampled F'(x^k)², where φ need not be quadratic."""
    random, x, total = np.random.default_rng(0), np.zeros(replicates), 0.0
    for k in range(rounds):
        slope = np.clip(x, -1, 1)
        total += np.mean((slope - 0.5) ** 2)
        x = x - size(k) * (slope - terms / 4 * 0.5 ** random.integers(0, terms, replicates))
    return total / rounds


def test_step_sizes_that_fall_do_better_than_the_printed_rate_on_the_instance():
    """So it does not refute the printed theorem, which leaves α^k free: docs/fednest.md.

    At α_k = 1/(k + 1), where φ is quadratic, x^k is the mean of k draws of −p; with the Huber
    function 1/(k + N) does it.
    """
    found, sampled = [], []
    for rounds in (2**10, 2**14, 2**17):
        means = [
            (0.25 + np.sum(one.p.var() / np.arange(1, rounds) + (one.rest - 0.5) ** 2)) / rounds
            for one in map(Draw, range(1, 41))
        ]
        found.append(rounds**0.5 * min(means))
    assert found == pytest.approx([0.0582, 0.0305, 0.0164], abs=1e-4)
    for rounds, terms in ((2**8, 5), (2**10, 6), (2**12, 7)):
        mean = with_huber(terms, rounds, 1000, lambda k, terms=terms: 1 / (k + terms))
        sampled.append(rounds**0.5 * mean)
    assert sampled[0] > 1.3 * sampled[1] > 1.3**2 * sampled[2]


@pytest.mark.parametrize("alpha", [1.0, 0.3, 0.1])
@pytest.mark.parametrize("terms", [1, 4, 16])
def test_large_constant_steps_are_above_the_floor_too(alpha, terms):
    """There runs leave the quadratic part of φ, where the recursion does not hold."""
    rounds = 2**10
    mean = with_huber(terms, rounds, 100, lambda k: alpha)
    assert mean > 5 * (log(rounds) / rounds) ** 0.5 / 100


@pytest.mark.parametrize(("alpha", "beta"), [(10.0, 7.0), (0.1, 0.3)])
@pytest.mark.parametrize(("terms", "scale"), [(1, 1 / 8), (2, 3 / 2**8), (4, 105 / 2**19)])
def test_fednest_stands_still_where_the_gradient_is_not_zero(terms, scale, alpha, beta):
    """FedNest's own code: c is a little below 8^{−N}, so that no number here is rounded."""
    h = [1 + Fraction(j, terms) for j in range(1, terms + 1)]
    w = [prod(other / (other - one) for other in h if other != one) for one in h]  # Lagrange's
    problem = OneClient([*map(float, h)], [scale * float(one) for one in w], 4.0, scale / 4)
    method = FedNest(
        terms=terms,
        inner_calls=2,
        inner_steps=3,
        outer_steps=2,
        inner_step_size=beta,
        outer_step_size=alpha,
    )
    start = torch.from_numpy(problem.start())
    ran = run(problem, method, sampled_context(problem, ("still",), replicates=64), rounds=20)
    assert torch.equal(ran.state.x[0], start[:1, None].expand(1, 64))
    assert torch.equal(ran.state.y[0], start[1:, None].expand(terms, 64))
    slope = float(problem.gradient(start[:1, None]))
    assert slope**2 >= scale**2 / 16
    longer = replace(method, terms=terms + 1)  # for which the weights were not made: it moves
    ran = run(problem, longer, sampled_context(problem, ("moves",), replicates=64), rounds=1)
    assert not torch.equal(ran.state.x[0], start[:1, None].expand(1, 64))


def test_floors_speak_of_their_schedules_only():
    growing = {"alpha": rates.ROOT, "beta": rates.ROOT, "N": rates.GROWING}
    assert rates.floor_of_fixed_series({"N": Integer(3)}) == Rational(1, 16 * 64**3)
    assert rates.floor_of_fixed_series(growing) is None
    stated = rates.floor_of_the_draw(growing).subs(rates.K, 100)
    assert float(stated) == pytest.approx(0.1 * (2 * log(100) - 4) / 32)
    assert rates.floor_of_the_draw({"alpha": rates.ROOT, "N": rates.TERMS}) is None
    assert rates.floor_of_the_lower_level(growing | {"alpha": rates.ROOT / 2}) is None
    assert rates.floor_of_constant_steps(growing) is None
    found = rates.floor_of_constant_steps({"steps": "constant"}).subs(rates.K, 10**6)
    assert float(found) == pytest.approx((log(10**6) / 10**6) ** 0.5 / 100)


def test_alset_is_not_fed_the_clients_own_arrays():
    """The mean problem's gradient is that of the clients' mean, by another route."""
    problem = QuadraticBilevel(clients=3, hessian_heterogeneity=0.4, target_heterogeneity=0.5)
    made = MeanProblem(problem, FedNest(terms=3), "x")
    x, y = (torch.from_numpy(v)[:, None] for v in (made.x, made.y))
    direct = problem.inverse_hessian_gradient(x, y)[:, 0].numpy()
    own = np.linalg.solve(made.hessian, made.y - made.target)
    np.testing.assert_allclose(own, direct, atol=1e-12)


def test_the_floor_under_sampling_by_long_runs():
    """The stationary mean square lies in the interval of 640 sampled ends."""
    problem = QuadraticMinimax(clients=4, dim=2, heterogeneity=0.8)
    method = FedNest(terms=0, inner_steps=3, inner_step_size=0.4, participation=0.5)
    ends = []
    for block in range(10):
        ctx = sampled_context(problem, ("floor",), block=block)
        made = run(problem, method, ctx, rounds=400).state
        z = torch.cat([made.x, made.y], 1)[0].numpy()
        ends.append(((z - exact.saddle(problem)[:, None]) ** 2).sum(0))
    floor = exact.limit(problem, method)
    sample = np.concatenate(ends)
    low, high = interval(sample, float(sample.max()) * 1.5, 1e-4)
    assert low <= floor <= high
    assert low > floor / 2


@pytest.mark.parametrize("order", ["simultaneous", "alternating"])
def test_the_joint_map_is_fedavg_s(order):
    """Rounds of FedAvg-S by the federation and by its affine map."""
    problem = QuadraticMinimax(clients=3, dim=2, heterogeneity=0.6)
    method = FedAvgS(local_steps=4, inner_step_size=0.2, order=order)
    ctx = NoiselessContext(3, dtype=torch.float64, device="cpu")
    (mean,) = run(problem, method, ctx, rounds=3, left=squared_error).values[0]
    by_map = np.mean([exact.error_after(problem, method, k) for k in range(3)])
    assert float(mean) == pytest.approx(by_map, rel=1e-10)


def test_a_floor_that_does_not_exist_is_infinite():
    problem = QuadraticMinimax(clients=2, dim=1, heterogeneity=1.0, regulariser=0.1)
    method = FedNest(
        terms=0, inner_steps=50, outer_steps=50, inner_step_size=0.3, outer_step_size=0.3
    )
    assert exact.limit(problem, method) == inf
    assert not exact.converges(Case(problem, method, 1))
