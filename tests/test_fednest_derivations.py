"""Floors and derivations of FedNest (2022) a second time, in numbers."""

from dataclasses import replace
from fractions import Fraction
from math import e, inf, log, prod

import numpy as np
import pytest
import torch
from hypothesis import given as property_of
from hypothesis import strategies as some
from scipy.stats import linregress
from scipy.stats import t as student
from sympy import Integer, Rational

from driftproof.synthetic.problems import QuadraticBilevel, QuadraticMinimax
from driftproof.toolkit.algorithms import FedAvgS, FedIHGP, FedInn, FedNest, FedNestSGD, LFedNest
from driftproof.toolkit.bilevel import BilevelProblem
from driftproof.toolkit.cases import Case
from driftproof.toolkit.engines.enumerated import NoiselessContext
from driftproof.toolkit.federation import run, sampled_context
from driftproof.toolkit.measure import average
from driftproof.toolkit.statistics import interval
from driftproof.verifiers.papers.fednest.claims import (
    _drift,
    communication,
    fedavg_fixed_point,
    inner_drift,
)
from driftproof.verifiers.papers.fednest.claims import _minimax as exact
from driftproof.verifiers.papers.fednest.claims import _rates as rates
from driftproof.verifiers.papers.fednest.claims._alset import MeanProblem
from driftproof.verifiers.papers.fednest.claims._drawn import lengths
from driftproof.verifiers.papers.fednest.claims.minimax_linear import squared_error


@pytest.mark.parametrize(
    ("method", "stated"),
    [
        (FedNest(inner_calls=4, terms=5), 2 * 4 + 5 + 3),
        (FedNestSGD(inner_calls=4, terms=5), 4 + 5 + 3),
        (LFedNest(inner_calls=4, terms=5), 4 + 1),
    ],
)
def test_the_communication_table(method, stated):
    assert communication.table(method) == stated
    assert communication.exactly(Case(QuadraticBilevel(), method, 7), 0) == 7 * stated


def test_the_counted_rounds_are_those_of_the_series_that_are_drawn():
    """Two routes: the draws of N', and the batched context's count of one replicate."""
    case = Case(QuadraticBilevel(), FedNest(terms=6, inner_calls=2, inner_steps=2), 30)
    ctx = sampled_context(case.problem, ("counted",), replicates=1)
    run(case.problem, case.algorithm, ctx, rounds=case.rounds)
    assert communication.of_the_drawn(case, 0) == ctx.rounds
    assert 30 * (2 * 2 + 3) < ctx.rounds < communication.exactly(case, 0)


def test_the_limit_of_the_drift_by_a_long_round():
    steps = 4000
    y = (1 - 1 / steps) ** np.arange(1, steps + 1)
    assert np.mean((1 - y) ** 2) == pytest.approx(float(_drift.LIMIT), rel=1e-3)
    assert float(_drift.LIMIT) == pytest.approx(2 / e - 0.5 - e**-2 / 2)


def test_the_exponent_of_local_steps_is_two():
    """At a fixed small β, far from y*: the fitted exponent of τ is 2, where 1 is printed."""
    problem = inner_drift.instance(8).problem
    counts = np.array([8, 16, 32, 64, 128])
    drifts = []
    for steps in counts:
        method = FedInn(inner_steps=int(steps), inner_step_size=2.0**-14)
        ctx = NoiselessContext(2, dtype=torch.float64, device="cpu")
        left = inner_drift.mean_inner_drift.left
        drifts.append(run(problem, method, ctx, rounds=1, left=left).values)
    fit = linregress(np.log(counts), np.log(np.ravel(drifts)))
    half = fit.stderr * student.ppf(0.975, len(counts) - 2)
    # Σν²/τ is τ²/3 + τ/2 + …, so that the last octave is nearer to 2 than the fit
    assert 1.8 < fit.slope - half < fit.slope + half < 2.0
    assert np.log2(drifts[-1][0, 0] / drifts[-2][0, 0]) == pytest.approx(2, abs=0.03)


class Draw:
    """The instance of ``_rates`` by hand: f = φ(x) − y/2, g = ½(y − x)², ℓ_{g,1} = 2."""

    def __init__(self, terms):
        j = np.arange(terms)
        self.p = -terms / 4 * 0.5**j  # (N/2)·2^{−N'}·∇_y f, N' uniform
        self.rest = -self.p.mean()  # x̂, where x + E p = 0

    def moments(self, alpha, rounds, start):
        """Return E F'(x^k)² for k < rounds and E(y^K − x^K)², by recursion (α = β)."""
        mean = np.array([start - self.rest, 0.0])  # of e = x − x̂ and u = y − x, y⁰ = x⁰
        step = np.array([[1 - alpha, 0.0], [alpha, 1 - alpha]])
        noise = alpha * np.array([-1.0, 1.0])
        second, squares = np.outer(mean, mean), []
        for _ in range(rounds):
            away = self.rest - 0.5  # F' = x − ½ = e + x̂ − ½
            squares.append(second[0, 0] + 2 * away * mean[0] + away**2)
            mean = step @ mean
            second = step @ second @ step.T + self.p.var() * np.outer(noise, noise)
        return np.array(squares), second[1, 1]


def test_the_variance_of_one_draw_grows_with_the_series():
    for terms in (4, 10, 40):
        v = terms / 3 * (1 - 4.0**-terms) - (1 - 2.0**-terms) ** 2
        assert Draw(terms).p.var() == pytest.approx(v / 4)
        assert v >= terms / 4 - 1


def test_the_recursion_is_fednests():
    """3,200 sampled replicates of FedNest on the instance, against the recursion."""
    terms, rounds, alpha = 6, 30, 0.1
    method = FedNest(terms=terms, inner_step_size=alpha, outer_step_size=alpha)
    ends = np.concatenate([
        run(Instance(), method, sampled_context(Instance(), ("draw",), block=b),
            rounds=rounds).state.x[0, 0].numpy()
        for b in range(50)
    ])  # fmt: skip
    squares, _ = Draw(terms).moments(alpha, rounds + 1, 0.0)
    sample = (ends - 0.5) ** 2
    low, high = interval(sample, float(sample.max()) * 1.5, 1e-4)
    assert low <= squares[-1] <= high
    assert high - low < squares[-1] / 2


def lagrange(terms):
    """Return H_j and w_j of the instance of ``_rates`` for a fixed N, as fractions."""
    h = [1 + Fraction(j, terms) for j in range(1, terms + 1)]
    return h, [prod(other / (other - one) for other in h if other != one) for one in h]


def test_the_floor_of_a_fixed_series_is_that_of_its_script():
    """``driftproof counterexample fednest/theorem`` has instance and floor in fractions."""
    assert rates.floor_of_fixed_series({"N": Integer(3)}) == Rational(1, 16 * 64**3)
    assert rates.floor_of_fixed_series({"N": rates.K}) is None


@pytest.mark.parametrize(("alpha", "beta"), [(10.0, 7.0), (0.1, 0.3)])
@pytest.mark.parametrize(("terms", "scale"), [(1, 1 / 8), (2, 3 / 2**8), (4, 105 / 2**19)])
def test_fednest_stands_still_where_the_gradient_is_not_zero(terms, scale, alpha, beta):
    """FedNest's own code: c is a little below 8^{−N}, so that no number here is rounded."""
    problem = StandsStill(terms, scale)
    method = FedNest(
        terms=terms, inner_calls=2, inner_steps=3, outer_steps=2,
        inner_step_size=beta, outer_step_size=alpha,
    )  # fmt: skip
    start = torch.from_numpy(problem.start())
    ran = run(problem, method, sampled_context(problem, ("still",), replicates=64), rounds=20)
    assert torch.equal(ran.state.x[0], start[:1, None].expand(1, 64))
    assert torch.equal(ran.state.y[0], start[1:, None].expand(terms, 64))
    slope = float(problem.gradient(start[:1, None]))
    assert slope**2 >= scale**2 / 16
    longer = replace(method, terms=terms + 1)  # for which the weights were not made: it moves
    ran = run(problem, longer, sampled_context(problem, ("moves",), replicates=64), rounds=1)
    assert not torch.equal(ran.state.x[0], start[:1, None].expand(1, 64))


@pytest.mark.parametrize("rounds", [2**8, 2**11, 2**14])
def test_the_floors_of_a_growing_series(rounds):
    """At α = β = 1/√K and N = ⌈2 log K⌉; the mean over k is above half the limit."""
    terms, alpha = int(np.ceil(2 * log(rounds))), rounds**-0.5
    squares, lower = Draw(terms).moments(alpha, rounds, 0.0)
    stated = float(alpha * (terms - 4) / 32)
    assert squares[-1] >= stated
    assert squares.mean() >= stated / 2
    assert lower >= alpha * (terms - 4) / 640
    assert squares.mean() * rounds**0.5 / log(rounds) > 0.03  # it does not fall with K


def test_no_constant_step_size_and_no_series_is_below_the_floor():
    def mean_square(held, alpha, rounds):
        """Return the mean over k of E F'(x^k)² from x⁰ = 0, by the sums in closed form."""
        left = (1 - alpha) ** np.arange(rounds)
        variance = alpha**2 * held.p.var() * (1 - left**2) / (1 - (1 - alpha) ** 2)
        return np.mean(variance + (held.rest * (1 - left) - 0.5) ** 2)

    one = Draw(9)
    assert mean_square(one, 0.05, 200) == pytest.approx(one.moments(0.05, 200, 0.0)[0].mean())
    for rounds in (2**10, 2**14, 2**17):
        least = min(
            mean_square(Draw(terms), alpha, rounds)
            for terms in range(1, 41)
            for alpha in np.geomspace(2 / rounds, 1.0, 25)
        )
        assert least >= float(np.sqrt(log(rounds) / rounds) / 100)


def with_falling_steps(terms, rounds):
    """Return the mean over k < K of E F'(x^k)² at α_k = 1/(k + 1) from x⁰ = 0.

    x^k is then the mean of k independent draws of −p.
    """
    held = Draw(terms)
    variances = held.p.var() / np.arange(1, rounds)
    return (0.25 + np.sum(variances + (held.rest - 0.5) ** 2)) / rounds


def test_step_sizes_that_fall_do_better_than_the_printed_rate_on_the_instance():
    """So the instance does not refute the printed theorem, which leaves α^k free."""
    found = [
        min(rounds**0.5 * with_falling_steps(terms, rounds) for terms in range(1, 41))
        for rounds in (2**10, 2**14, 2**17)
    ]
    assert found == pytest.approx([0.0582, 0.0305, 0.0164], abs=1e-4)


def test_the_same_where_the_huber_function_is_not_quadratic():
    """The recursion knows the quadratic part of φ alone: 1,000 sampled runs know all of it."""
    random, found = np.random.default_rng(0), []
    for rounds, terms in ((2**8, 5), (2**10, 6), (2**12, 7)):
        x, total = np.zeros(1000), 0.0
        for k in range(rounds):
            slope = np.clip(x, -1, 1)
            total += np.mean((slope - 0.5) ** 2)
            p = -terms / 4 * 0.5 ** random.integers(0, terms, len(x))
            x = x - (slope + p) / (k + terms)
        found.append(rounds**0.5 * total / rounds)
    assert found[0] > 1.3 * found[1] > 1.3**2 * found[2]


@pytest.mark.parametrize("alpha", [1.0, 0.3, 0.1])
@pytest.mark.parametrize("terms", [1, 4, 16])
def test_large_constant_steps_are_above_the_floor_too(alpha, terms):
    """There runs leave the quadratic part of φ, where the recursion does not hold."""
    rounds, random = 2**10, np.random.default_rng(1)
    x, means = np.zeros(100), []
    for _ in range(rounds):
        slope = np.clip(x, -1, 1)
        means.append(np.mean((slope - 0.5) ** 2))
        p = -terms / 4 * 0.5 ** random.integers(0, terms, len(x))
        x = x - alpha * (slope + p)
    assert np.mean(means) > 5 * (log(rounds) / rounds) ** 0.5 / 100


def test_alset_is_not_fed_the_clients_own_arrays():
    """The mean problem's gradient is that of the clients' mean, by another route."""
    problem = QuadraticBilevel(clients=3, hessian_heterogeneity=0.4, target_heterogeneity=0.5)
    made = MeanProblem(problem, FedNest(terms=3), "x")
    x, y = (torch.from_numpy(v)[:, None] for v in (made.x, made.y))
    direct = problem.inverse_hessian_gradient(x, y)[:, 0].numpy()
    own = np.linalg.solve(made.hessian, made.y - made.target)
    np.testing.assert_allclose(own, direct, atol=1e-12)


def test_the_lengths_are_those_that_the_series_drew():
    """A series of N' + 1 averages is what the batched context counts."""
    case = Case(QuadraticBilevel(), FedIHGP(terms=7), 20)
    ctx = sampled_context(case.problem, ("counted",), replicates=1)
    run(case.problem, case.algorithm, ctx, rounds=case.rounds)
    drawn = lengths(case, 1)
    assert sum(n + 1 for n in drawn) == ctx.rounds
    assert set(drawn) <= set(range(7))
    assert len(set(drawn)) > 3


def test_floors_speak_of_their_schedules_only():
    growing = {"alpha": rates.ROOT, "beta": rates.ROOT, "N": rates.GROWING}
    assert float(rates.floor_of_the_draw(growing).subs(rates.K, 100)) == pytest.approx(
        0.1 * (2 * log(100) - 4) / 32
    )
    assert rates.floor_of_the_draw({"alpha": rates.ROOT, "N": rates.TERMS}) is None
    assert rates.floor_of_the_lower_level(growing | {"alpha": rates.ROOT / 2}) is None
    assert rates.floor_of_constant_steps(growing) is None
    limit = (log(10**6) / 10**6) ** 0.5 / 100
    found = rates.floor_of_constant_steps({"steps": "constant"})
    assert float(found.subs(rates.K, 10**6)) == pytest.approx(limit)


class Instance(BilevelProblem):
    """The instance of ``_rates`` as a problem, its own oracles."""

    clients, dim, upper_dim, lower_smoothness = 1, 1, 1, 2.0
    constants = {}
    solution = None

    def oracles(self, dtype, device="cpu", clients=None):
        return self

    def start(self):
        return np.zeros(2)

    def lower_solution(self, x):
        return x

    def upper_law(self, batch):
        return None

    lower_law = upper_law

    def upper_grad_x(self, x, y, xi):
        return torch.clamp(x, -1, 1)

    def upper_grad_y(self, x, y, xi):
        return torch.full_like(y, -0.5)

    def lower_grad(self, x, y, zeta):
        return y - x

    def lower_hessian_product(self, x, y, v, zeta):
        return v

    def lower_cross_product(self, x, y, v, zeta):
        return -v


class StandsStill(Instance):
    """The instance of ``_rates`` for a fixed N, with another c."""

    lower_smoothness = 4.0

    def __init__(self, terms, scale):
        h, w = lagrange(terms)
        self.terms, self.scale = terms, scale
        self.h = torch.tensor([[float(one)] for one in h], dtype=torch.float64)
        self.w = torch.tensor([[float(one)] for one in w], dtype=torch.float64)

    @property
    def dim(self):
        return self.terms

    def start(self):
        x = self.scale / 4
        return np.array([x, *(x / (self.terms * self.h[:, 0].numpy()))])

    def lower_solution(self, x):
        return x / (self.terms * self.h)

    def upper_grad_y(self, x, y, xi):
        return torch.zeros_like(y) - self.scale * self.w

    def lower_grad(self, x, y, zeta):
        return self.h * y - x / self.terms

    def lower_hessian_product(self, x, y, v, zeta):
        return self.h * v

    def lower_cross_product(self, x, y, v, zeta):
        return -v.sum(1, keepdim=True) / self.terms


def test_terms_grow_like_the_logarithm():
    case = rates.instance(QuadraticBilevel(), 1000)
    kappa = 1.618033988749895 / 0.5  # [[0, −1], [−1, 1]] has the eigenvalue (1 + √5)/2
    assert case.algorithm.terms == int(np.ceil(kappa * log(1000)))
    assert case.algorithm.inner_step_size == case.algorithm.outer_step_size == 1000**-0.5


def hessians(random, clients, size):
    """Return random symmetric matrices with eigenvalues in [0.2, 1], [clients, size, size]."""
    bases = np.linalg.qr(random.normal(size=(clients, size, size)))[0]
    values = random.uniform(0.2, 1.0, (clients, 1, size))
    return bases * values @ bases.transpose(0, 2, 1)


@property_of(
    seed=some.integers(0, 10**6), clients=some.integers(1, 5), size=some.integers(1, 4),
    steps=some.integers(1, 30), share=some.floats(0.01, 1.0),
)  # fmt: skip
def test_the_derivation_of_fedinns_rate(seed, clients, size, steps, share):
    """(1 − (1 − βℓ)^τ)/κ ≤ H^½PH^½ ≤ τβℓ for Hessians that do not commute."""
    held = hessians(np.random.default_rng(seed), clients, size)
    mu, ell, beta = 0.2, 1.0, share / steps
    unit = np.eye(size)
    p = sum(
        beta * np.mean([np.linalg.matrix_power(unit - beta * one, nu) for one in held], 0)
        for nu in range(steps)
    )
    values, vectors = np.linalg.eigh(held.mean(0))
    root = vectors * np.sqrt(values) @ vectors.T
    found = np.linalg.eigvalsh(root @ p @ root)
    assert found.min() >= (1 - (1 - beta * ell) ** steps) * mu / ell - 1e-12
    assert found.max() <= steps * beta * ell + 1e-12


@property_of(
    seed=some.integers(0, 10**6), steps=some.integers(1, 12), beta=some.floats(0.05, 1.0),
    size=some.integers(1, 4),
)  # fmt: skip
def test_the_derivation_of_the_drift(seed, steps, beta, size):
    """‖y_ν − y‖ ≤ νβ‖q‖ where every step has another Hessian between 0 and I/β, and any q."""
    random = np.random.default_rng(seed)
    q, moved = random.normal(size=size), np.zeros(size)
    for nu in range(1, steps + 1):
        (hessian,) = hessians(random, 1, size) / beta
        moved = moved - beta * (hessian @ moved + q)
        assert np.linalg.norm(moved) <= nu * beta * np.linalg.norm(q) * (1 + 1e-12)


def test_fedavgs_fixed_point_by_iterating_scalars():
    """h = 0.5 and 1.5, minimisers 2 and −1, by hand and by the closed form of the claim."""
    y, beta, steps = 0.0, 0.4, 3
    for _ in range(2000):
        ends = []
        for h, own in ((0.5, 2.0), (1.5, -1.0)):
            z = y
            for _ in range(steps):
                z -= beta * h * (z - own)
            ends.append(z)
        y = np.mean(ends)
    one, two = (1 - (1 - beta * h) ** steps for h in (0.5, 1.5))
    assert y == pytest.approx((2 * one - two) / (one + two), abs=1e-12)
    problem = QuadraticBilevel(
        clients=2, dim=1, lower_dim=1, hessian_heterogeneity=0.5, offset_heterogeneity=0.7
    )
    method = FedInn(variance_reduced=False, inner_steps=steps, inner_step_size=beta)
    point = fedavg_fixed_point.closed_form(problem, method)
    state = run(problem, method, NoiselessContext(2, dtype=torch.float64, device="cpu"),
                rounds=300).state  # fmt: skip
    np.testing.assert_allclose(state.y[0, :, 0].numpy(), point, atol=1e-12)
    assert abs(point - fedavg_fixed_point.unbiased(problem, method)) > 0.01


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


def test_the_joint_map_is_fedavg_s():
    """One round of FedAvg-S by the federation and by its affine map, in both orders."""
    problem = QuadraticMinimax(clients=3, dim=2, heterogeneity=0.6)
    for order in ("simultaneous", "alternating"):
        method = FedAvgS(local_steps=4, inner_step_size=0.2, order=order)
        made = run(problem, method, NoiselessContext(3, dtype=torch.float64, device="cpu"),
                   rounds=3, left=squared).values[0]  # fmt: skip
        by_map = np.mean([
            exact.error_after(problem, method, k) for k in range(3)
        ])  # fmt: skip
        assert float(made[0]) == pytest.approx(by_map, rel=1e-10)


def squared(view):
    """The measure of the claim, which wants x and y at the start of a round."""
    reduction = squared_error(view)
    return average("round", reduction.value)


def test_a_floor_that_does_not_exist_is_infinite():
    problem = QuadraticMinimax(clients=2, dim=1, heterogeneity=1.0, regulariser=0.1)
    method = FedNest(terms=0, inner_steps=50, outer_steps=50, inner_step_size=0.3,
                     outer_step_size=0.3)  # fmt: skip
    assert exact.limit(problem, method) == inf
    assert not exact.converges(Case(problem, method, 1))
