"""SCAFFOLD and FedGDA-GT: their pseudocode."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from driftproof.synthetic.problems import QuadraticMinimax
from driftproof.toolkit.algorithms import FedSVRG, GradientTrackingGDA, Scaffold
from driftproof.toolkit.federation import run, sampled_context
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
