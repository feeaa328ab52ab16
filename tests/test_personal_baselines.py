"""FedMAML, TR-MAML, Ditto, SCAFFOLD and FedGDA-GT against their pseudocode, client by client."""

from dataclasses import replace

import cvxpy as cp
import numpy as np
import pytest
import torch

from driftproof.synthetic.problems import KLDRO, MAML, QuadraticMinimax
from driftproof.toolkit.algorithms import (
    TRMAML,
    ComFedL,
    Ditto,
    FedAvg,
    FedMAML,
    FedSVRG,
    GradientTrackingGDA,
    Scaffold,
)
from driftproof.toolkit.draws import Subset
from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.federation import run, sampled_context
from tests.test_compositional_baselines import NAMES, TRIO, clients_of

WRITTEN = {"fedmaml", "tr-maml", "ditto", "scaffold", "gradient-tracking-gda"}
ROUNDS = 4
TASKS = MAML(clients=4, dim=2, gradient_noise=0.3, offset=0.4, heterogeneity=0.8)
LOSSES = KLDRO(form="average", clients=4, samples=5, heterogeneity=2.0)


def context(problem):
    return sampled_context(problem, NAMES, replicates=2)


def final(problem, algorithm, rounds=ROUNDS):
    return run(problem, algorithm, context(problem), rounds=rounds, kernels=False).state


def members_of_cohort(problem, algorithm, first):
    """Return the clients that the server samples at step ``first``."""
    size = max(1, round(algorithm.participation * problem.clients))
    if size == problem.clients:
        return list(range(problem.clients))
    mask = context(problem).server_draw(Subset(problem.clients, size), "cohort", since=first)
    return np.flatnonzero(mask[:, 0]).tolist()


def drawn(problem, law, name, t):
    """Return what every client draws at a step, [client][…]; zeros if there is no law."""
    ctx = context(problem)
    ctx.t = t
    values = ctx.draw(law, name)
    return np.zeros((problem.clients, 1)) if values is None else values[..., 0].numpy()


# FedMAML ----------------------------------------------------------------------------------------


def per_fedavg(problem, a, cohorts=True):
    """Algorithm 1 by the oracles of one client at a time: D, D'' and D'."""
    clients, server = clients_of(problem), problem.start()
    for k in range(ROUNDS):
        chosen = members_of_cohort(problem, a, k * a.local_steps)
        sent = []
        for i in chosen if cohorts else range(problem.clients):
            w, at = server, clients[i]
            for t in range(k * a.local_steps, (k + 1) * a.local_steps):
                adapted = at.g(w, at.xi(a.batch, t))
                jacobian = at.jacobian(w, at.xi(a.batch, t, "xi-jacobian"))
                w = w - a.step_size * jacobian.T @ at.outer(adapted, at.zeta(a.outer_batch, t))
            sent.append(w)
        server = np.mean(sent, 0)
    return server


FEDMAML = [*FedMAML.examples(), FedMAML(local_steps=1, batch=3, step_size=0.4)]


@pytest.mark.parametrize("algorithm", FEDMAML)
def test_fedmaml_is_its_pseudocode(algorithm):
    for problem in (TRIO, TASKS):
        held = final(problem, algorithm).w[0, :, 0].numpy()
        np.testing.assert_allclose(held, per_fedavg(problem, algorithm), rtol=1e-12, atol=1e-13)


def test_fedmaml_is_comfedl_with_independent_minibatches():
    for algorithm in FEDMAML:
        values = algorithm.values()
        same = final(TRIO, ComFedL(**values)).w
        torch.testing.assert_close(final(TRIO, algorithm).w, same, rtol=0, atol=0)
        one = final(TRIO, ComFedL(**values | {"samples": "shared"})).w
        assert (one - same).abs().max() > 1e-3
    sampled = FEDMAML[1]
    every = per_fedavg(TASKS, sampled, cohorts=False)
    assert np.abs(final(TASKS, sampled).w[0, :, 0].numpy() - every).max() > 1e-3
    with pytest.raises(DriftproofError, match="one of 'independent'"):
        FedMAML(samples="shared")


# TR-MAML ----------------------------------------------------------------------------------------


def projected(x):
    p = cp.Variable(len(x))
    cp.Problem(cp.Minimize(cp.sum_squares(p - x)), [p >= 0, cp.sum(p) == 1]).solve(
        solver=cp.CLARABEL
    )
    return p.value


def tr_maml(a, at="start", weighs=True):
    """Descent-ascent over tasks from their numbers.

    ``at`` "end" takes the losses after it, ``weighs`` False the plain mean of the models.
    """
    problem, n = TASKS, TASKS.clients
    law, e = problem.oracles(torch.float64).inner_law, np.eye(problem.dim)[0]
    alpha, s, server = problem.adaptation, problem.gradient_noise, problem.start()
    p = np.ones(n) / n
    for k in range(ROUNDS):
        models, gain = [], np.zeros(n)
        for i in range(n):
            w, curvature, centre = server, problem.curvatures[i], problem.centres[i]
            for t in range(k * a.local_steps, (k + 1) * a.local_steps):
                xi = drawn(problem, law(a.batch), "xi", t)[i]
                zeta = drawn(problem, law(a.outer_batch), "zeta", t)[i]
                adapted = w - alpha * (curvature @ (w - centre) + s * xi * e)
                away = adapted - centre
                if at == "end" or t == k * a.local_steps:
                    loss = away @ curvature @ away / 2 + problem.offsets[i]
                    gain[i] = loss + s * zeta[0] * adapted[0]
                gradient = (np.eye(problem.dim) - alpha * curvature) @ (
                    curvature @ away + s * zeta * e
                )
                w = w - a.step_size * gradient
            models.append(w)
        server = p @ models if weighs else np.mean(models, 0)
        p = projected(p + a.weight_step * gain)
    return server, p


FAST = TRMAML(local_steps=3, step_size=0.3, weight_step=0.5, outer_batch=2)


@pytest.mark.parametrize("algorithm", [*TRMAML.examples(), FAST])
def test_tr_maml_is_its_pseudocode(algorithm):
    state, (w, p) = final(TASKS, algorithm), tr_maml(algorithm)
    for k in range(TASKS.clients):
        np.testing.assert_allclose(state.w[k, :, 0], w, rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(state.weights[k, :, 0], p, atol=1e-6)


def test_another_tr_maml_differs():
    held = final(TASKS, FAST).w[0, :, 0].numpy()
    assert np.abs(held - tr_maml(FAST, weighs=False)[0]).max() > 1e-3
    assert np.abs(held - tr_maml(FAST, at="end")[0]).max() > 1e-4
    assert np.abs(held - tr_maml(replace(FAST, weight_step=0.0))[0]).max() > 1e-3


# Ditto ------------------------------------------------------------------------------------------


def logistic(w, client, rows):
    """Return the mean gradient of a client's rows, from the data alone."""
    features, labels = LOSSES.data[0][client][rows], LOSSES.data[1][client][rows]
    slopes = -labels / (1 + np.exp(labels * (features @ w)))
    return (features * slopes[:, None]).mean(0)


def ditto(a, anchored=True):
    """Algorithm 1; ``anchored`` False draws v towards 0."""
    n, server = LOSSES.clients, np.zeros(LOSSES.dim)
    v = [np.zeros(LOSSES.dim) for _ in range(n)]
    law = LOSSES.oracles(torch.float64).field_law(a.batch)
    for s in range(ROUNDS):
        models, steps = [], range(s * a.local_steps, (s + 1) * a.local_steps)
        for k in range(n):
            w = server
            for t in steps:
                w = w - a.step_size * logistic(w, k, drawn(LOSSES, law, "xi", t)[k])
                rows = drawn(LOSSES, law, "xi-personal-0", t)[k]
                away = v[k] - (server if anchored else 0.0)
                gradient = logistic(v[k], k, rows) + a.proximity * away
                v[k] = v[k] - a.personal_step_size * gradient
            models.append(w)
        server = np.mean(models, 0)
    return server, np.array(v)


DITTOS = [
    *Ditto.examples(),
    Ditto(local_steps=3, step_size=0.4, personal_step_size=0.2, proximity=2.0, batch=2),
]


@pytest.mark.parametrize("algorithm", DITTOS)
def test_ditto_is_its_pseudocode(algorithm):
    state, (w, v) = final(LOSSES, algorithm), ditto(algorithm)
    np.testing.assert_allclose(state.w[0, :, 0], w, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(state.v[..., 0], v, rtol=1e-12, atol=1e-14)
    assert np.abs(ditto(algorithm, anchored=False)[1] - v).max() > 1e-4


def test_dittos_common_model_is_fedavgs_to_the_bit():
    for algorithm in DITTOS:
        shared = ("local_steps", "step_size", "batch")
        plain = FedAvg(**{name: getattr(algorithm, name) for name in shared})
        torch.testing.assert_close(
            final(LOSSES, algorithm).w, final(LOSSES, plain).w, rtol=0, atol=0
        )


# SCAFFOLD and FedGDA-GT -------------------------------------------------------------------------


SADDLE = QuadraticMinimax(clients=3, dim=2, heterogeneity=0.6, gradient_noise=0.4)


def ends(problem, algorithm, rounds):
    """Return client 0's iterate after the run, [dim]."""
    return getattr(final(problem, algorithm, rounds), algorithm.iterate)[0, :, 0].numpy()


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
