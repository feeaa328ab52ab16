"""SCAFFOLD and FedGDA-GT: their pseudocode, and that they end where the clients' mean says."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from driftproof.synthetic.problems import PiecewiseLosses, QuadraticMinimax
from driftproof.toolkit.algorithms import FedAvg, FedSVRG, GradientTrackingGDA, Scaffold
from driftproof.toolkit.federation import run, sampled_context
from driftproof.toolkit.wire import run_on_wire
from tests.test_personal_baselines import LOSSES, NAMES, drawn, logistic, members_of_cohort

WRITTEN = {"scaffold", "gradient-tracking-gda"}
ROUNDS = 4
SADDLE = QuadraticMinimax(clients=3, dim=2, heterogeneity=0.6, gradient_noise=0.4)


def final(problem, algorithm, rounds=ROUNDS):
    ctx = sampled_context(problem, NAMES, replicates=2)
    return run(problem, algorithm, ctx, rounds=rounds, kernels=False).state


def ends(problem, algorithm, rounds):
    """Return client 0's iterate after the run, [dim]."""
    return getattr(final(problem, algorithm, rounds), algorithm.iterate)[0, :, 0].numpy()


# the pseudocode ---------------------------------------------------------------------------------


def scaffold(a, everyone=False, share=True):
    """Algorithm 1; ``everyone`` renews every c_i, ``share`` False leaves out |S|/N."""
    n, d, steps, eta = LOSSES.clients, LOSSES.dim, a.local_steps, a.step_size
    x, c, own = np.zeros(d), np.zeros(d), np.zeros((n, d))
    law = LOSSES.oracles(torch.float64).field_law(a.batch)
    for r in range(ROUNDS):
        sampled = members_of_cohort(LOSSES, a, r * steps)
        moves, changes, c_now = [], [], c
        for i in range(n) if everyone else sampled:
            y, last = x, (r + 1) * steps - 1
            for t in range(r * steps, last + 1):
                y = y - eta * (logistic(y, i, drawn(LOSSES, law, "xi", t)[i]) - own[i] + c_now)
            if a.control == "gradient":
                new = logistic(x, i, drawn(LOSSES, law, "xi-control", last)[i])
            else:
                new = own[i] - c_now + (x - y) / (steps * eta)
            if i in sampled:
                moves.append(y - x)
                changes.append(new - own[i])
            own[i] = new
        x = x + a.server_step_size * np.mean(moves, 0)
        c = c + (len(sampled) / n if share else 1.0) * np.mean(changes, 0)
    return x, own, c


SCAFFOLDS = [
    *Scaffold.examples(),
    Scaffold(local_steps=3, step_size=0.4, control="gradient", batch=2, participation=0.5),
    Scaffold(local_steps=2, step_size=0.4, server_step_size=0.7, participation=0.75),
]


@pytest.mark.parametrize("algorithm", SCAFFOLDS)
def test_scaffold_is_its_pseudocode(algorithm):
    state, (x, own, c) = final(LOSSES, algorithm), scaffold(algorithm)
    for i in range(LOSSES.clients):
        for held, wanted in ((state.x, x), (state.y, x), (state.control, c)):
            np.testing.assert_allclose(held[i, :, 0], wanted, rtol=1e-11, atol=1e-13)
    np.testing.assert_allclose(state.own_control[..., 0], own, rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize("algorithm", SCAFFOLDS)
def test_another_scaffold_is_told_apart(algorithm):
    x = ends(LOSSES, algorithm, ROUNDS)
    other = {"gradient": "steps", "steps": "gradient"}[algorithm.control]
    loops = [scaffold(replace(algorithm, control=other))]
    loops.append(scaffold(replace(algorithm, server_step_size=2.0)))
    if algorithm.participation < 1:
        loops += [scaffold(algorithm, everyone=True), scaffold(algorithm, share=False)]
    for loop in loops:
        assert np.abs(loop[0] - x).max() > 1e-5


def fedgda_gt(a, tracked=True):
    """The method by the numbers of the saddle problem; ``tracked`` False: descent-ascent alone."""
    p, m, d = SADDLE, SADDLE.clients, SADDLE.dim
    x, y = p.start()[:d], p.start()[d:]

    def of_x(i, x, y):
        return p.regulariser * x - p.matrices[i].T @ y

    def of_y(i, x, y):
        return p.offsets[i] - y - p.matrices[i] @ x

    for _ in range(ROUNDS):
        mean_x = np.mean([of_x(i, x, y) for i in range(m)], 0)
        mean_y = np.mean([of_y(i, x, y) for i in range(m)], 0)
        xs, ys = [], []
        for i in range(m):
            own_x, own_y = x, y
            away_x, away_y = mean_x - of_x(i, x, y), mean_y - of_y(i, x, y)
            for _ in range(a.local_steps):
                to_x = of_x(i, own_x, own_y) + tracked * away_x
                to_y = of_y(i, own_x, own_y) + tracked * away_y
                own_x, own_y = own_x - a.step_size * to_x, own_y + a.step_size * to_y
            xs.append(own_x)
            ys.append(own_y)
        x, y = np.mean(xs, 0), np.mean(ys, 0)
    return np.concatenate([x, y])


TRACKING = [*GradientTrackingGDA.examples(), GradientTrackingGDA(local_steps=5, step_size=0.2)]


@pytest.mark.parametrize("algorithm", TRACKING)
def test_fedgda_gt_is_its_pseudocode(algorithm):
    z = ends(SADDLE, algorithm, ROUNDS)
    np.testing.assert_allclose(z, fedgda_gt(algorithm), rtol=1e-12, atol=1e-14)
    if algorithm.local_steps > 1:
        assert np.abs(fedgda_gt(algorithm, tracked=False) - z).max() > 1e-4


def test_without_noise_fedgda_gt_makes_fedsvrgs_steps():
    quiet = replace(SADDLE, gradient_noise=0.0)
    for algorithm in TRACKING:
        same = FedSVRG(**algorithm.values())
        np.testing.assert_allclose(
            ends(quiet, algorithm, 10), ends(quiet, same, 10), rtol=1e-12, atol=1e-14
        )
        assert np.abs(ends(SADDLE, algorithm, 10) - ends(SADDLE, same, 10)).max() > 1e-3


# where they end ---------------------------------------------------------------------------------


def quadratics(curvatures, slopes):
    """Return ½a_i(x − 1)² + h_i(x − 1), of the mean minimised at 1 if Σ h_i = 0; the start is 0."""
    lines = [((0.0, h - a), (1.0, h)) for a, h in zip(curvatures, slopes, strict=True)]
    return PiecewiseLosses(
        clients=len(lines), gradients=tuple((line,) for line in lines), tails="linear"
    )


def biased(curvatures, slopes, a):
    """Return FedAvg's fixed point: each client goes 1 − (1 − ηa_i)^τ of the way to its minimum."""
    curvatures, slopes = np.array(curvatures), np.array(slopes)
    ways = 1 - (1 - a.step_size * curvatures) ** a.local_steps
    return np.sum(ways * (1 - slopes / curvatures)) / np.sum(ways)


CURVATURES = (0.5, 1.0, 2.0, 1.5)
COMMON = {"local_steps": 4, "step_size": 0.05}
EXACT = [
    Scaffold(**COMMON),
    Scaffold(control="gradient", **COMMON),
    Scaffold(server_step_size=0.8, **COMMON),
    Scaffold(participation=0.5, **COMMON),
    GradientTrackingGDA(**COMMON),
]


@pytest.mark.parametrize("heterogeneity", [0.0, 1.0, 10.0])
@pytest.mark.parametrize("algorithm", EXACT)
def test_the_fixed_point_does_not_depend_on_heterogeneity_and_is_reached_linearly(
    algorithm, heterogeneity
):
    slopes = heterogeneity * np.array([1.0, -1.0, 0.5, -0.5])
    problem = quadratics(CURVATURES, slopes)
    assert problem.solution.minimiser.tolist() == pytest.approx([1.0], abs=1e-12)
    errors = [abs(ends(problem, algorithm, rounds)[0] - 1) for rounds in (40, 80, 120, 160, 200)]
    for before, after in pairwise(errors):
        assert after < before / 10 or after < 1e-12
    assert errors[-1] < 1e-10


@pytest.mark.parametrize("heterogeneity", [0.0, 1.0, 10.0])
def test_fedavgs_fixed_point_depends_on_heterogeneity(heterogeneity):
    """The negative control: on the same functions it ends elsewhere, and it is known where."""
    slopes = heterogeneity * np.array([1.0, -1.0, 0.5, -0.5])
    algorithm = FedAvg(**COMMON)
    end = ends(quadratics(CURVATURES, slopes), algorithm, 300)[0]
    assert end == pytest.approx(biased(CURVATURES, slopes, algorithm), abs=1e-12)
    assert abs(end - 1) >= 1e-3 * heterogeneity  # the others come within 1e-10


@given(
    st.lists(
        st.tuples(st.integers(1, 8), st.integers(-20, 20)), min_size=2, max_size=4
    ),
    st.integers(1, 5),
    st.integers(1, 4),
)  # fmt: skip
@settings(max_examples=15, deadline=None)
def test_on_quadratics_the_rate_of_fedgda_gt_is_known(clients, local_steps, rounds):
    """A client of curvature a goes (1 − (1 − ηa)^K)/a along −∇F(z), so that z − x* shrinks."""
    curvatures = np.array([a / 4 for a, _ in clients])
    slopes = np.array([h / 4 for _, h in clients])
    algorithm = GradientTrackingGDA(local_steps=local_steps, step_size=0.25)
    ways = (1 - (1 - algorithm.step_size * curvatures) ** local_steps) / curvatures
    left = (1 - curvatures.mean() * ways.mean()) ** rounds
    best = 1 - slopes.mean() / curvatures.mean()
    end = ends(quadratics(curvatures, slopes), algorithm, rounds)[0]
    assert end == pytest.approx(best * (1 - left), rel=1e-11, abs=1e-11)


@pytest.mark.parametrize("heterogeneity", [0.0, 0.3, 1.0])
def test_at_a_saddle_point_both_end_and_local_descent_ascent_does_not(heterogeneity):
    problem = QuadraticMinimax(clients=2, dim=2, regulariser=0.5, heterogeneity=heterogeneity)
    saddle = np.concatenate(problem.saddle)
    for algorithm in (GradientTrackingGDA(**COMMON), Scaffold(**COMMON)):
        first, last = (np.abs(ends(problem, algorithm, n) - saddle).max() for n in (100, 250))
        assert last < 1e-10
        assert last < 1e-3 * first
    away = np.abs(ends(problem, FedAvg(**COMMON), 250) - saddle).max()
    assert away < 1e-10 if heterogeneity == 0 else away > 0.01 * heterogeneity


# laws -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("algorithm", SCAFFOLDS)
def test_the_servers_control_variate_is_the_mean_of_the_clients(algorithm):
    for problem in (LOSSES, SADDLE):
        state = final(problem, algorithm)
        mean = state.own_control.mean(0).expand_as(state.control)
        torch.testing.assert_close(state.control, mean, rtol=1e-12, atol=1e-14)
        assert state.control.abs().max() > 1e-3


def test_equal_clients_without_noise_are_fedavg():
    equal = replace(SADDLE, heterogeneity=0.0, gradient_noise=0.0)
    plain = ends(equal, FedAvg(**COMMON), 10)
    options, server_steps, sampled, tracking = EXACT[:2], EXACT[2], EXACT[3], EXACT[4]
    for algorithm in (*options, tracking):
        np.testing.assert_allclose(ends(equal, algorithm, 10), plain, rtol=1e-12, atol=1e-14)
    for algorithm in (server_steps, sampled):  # those never sampled have control variates of 0
        assert np.abs(ends(equal, algorithm, 10) - plain).max() > 1e-3


@pytest.mark.parametrize(
    "algorithm", [Scaffold(), Scaffold(control="gradient"), GradientTrackingGDA()]
)
def test_one_local_step_is_a_step_along_the_mean(algorithm):
    quiet = replace(SADDLE, gradient_noise=0.0)
    mean, z = quiet.oracles(torch.float64), quiet.start()
    for _ in range(5):
        at = torch.from_numpy(z)[None, :, None].expand(quiet.clients, -1, 1)
        z = z - 0.1 * mean.field_grad(at, None).mean(0)[:, 0].numpy()
    np.testing.assert_allclose(ends(quiet, algorithm, 5), z, rtol=1e-12, atol=1e-14)


class Linear:
    """The field G_i(z) = A_i z, so that a linear method maps states linearly."""

    def __init__(self, clients, dim):
        random = np.random.default_rng(0)
        self.matrices = torch.from_numpy(random.normal(size=(clients, dim, dim)))

    def field_law(self, batch):
        return None

    def field_grad(self, x, xi):
        return self.matrices @ x


class Normalised(GradientTrackingGDA):
    """The same with steps of length η: not linear."""

    def step(self, ctx, oracles, state):
        there = super().step(ctx, oracles, state)
        move = there.z - state.z
        return there._replace(z=state.z + self.step_size * move / move.norm(dim=1, keepdim=True))


def rounds_of(algorithm, state, oracles):
    ctx = sampled_context(LOSSES, NAMES, replicates=3)
    for ctx.t in range(2 * algorithm.local_steps):
        state = algorithm.step(ctx, oracles, state)
    return state


@pytest.mark.parametrize("algorithm", [*SCAFFOLDS, *TRACKING, Normalised()])
def test_a_step_is_linear_in_the_state_where_the_field_is(algorithm):
    """What a run on symbolic vectors needs."""
    shape, random = (LOSSES.clients, 3, 3), torch.Generator().manual_seed(1)
    oracles = Linear(LOSSES.clients, 3)
    kind = type(algorithm.init(sampled_context(LOSSES, NAMES), oracles, torch.zeros(3)))
    one, other = (
        kind(*(torch.randn(shape, generator=random, dtype=torch.float64) for _ in kind._fields))
        for _ in range(2)
    )
    mixed = kind(*(2 * a - 3 * b for a, b in zip(one, other, strict=True)))
    got, first, second = (rounds_of(algorithm, s, oracles) for s in (mixed, one, other))
    off = max(
        float((g - 2 * a + 3 * b).abs().max()) for g, a, b in zip(got, first, second, strict=True)
    )
    assert (off > 1e-2) if isinstance(algorithm, Normalised) else (off < 1e-11)


# what they send ---------------------------------------------------------------------------------


def test_what_they_send():
    """A move and a change of c_i in one message; gradients, then models, in two."""
    d = 2 * SADDLE.dim
    for algorithm, rounds in ((Scaffold(**COMMON), 5), (GradientTrackingGDA(**COMMON), 10)):
        made = run(SADDLE, algorithm, sampled_context(SADDLE, NAMES), rounds=5)
        assert (made.rounds, made.reals) == (rounds, 5 * 2 * d)


def test_clients_outside_the_cohort_send_nothing():
    four = replace(SADDLE, clients=4)
    made = run_on_wire(four, Scaffold(participation=0.5), NAMES, rounds=3)
    assert (made.rounds, made.messages_up) == (3, 3 * 2)
    assert made.bytes_up == 3 * 2 * 2 * (2 * SADDLE.dim) * 8
