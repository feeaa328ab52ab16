"""q-FedAvg and DRFL against transcriptions of their pseudocode; the projection against cvxpy."""

import cvxpy as cp
import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from driftproof.toolkit.algorithms import DRFL, QFedAvg
from driftproof.toolkit.draws import Indices, Subset, Uniforms
from driftproof.toolkit.federation import run, sampled_context
from driftproof.toolkit.simplex import project_on_simplex
from tests.test_robust_baselines import PROBLEM, samples

WRITTEN = {"q-fedavg", "drfl"}


def logistic(w, client, rows):
    """Return the mean loss and gradient of a client's rows, from the data alone."""
    losses, gradients = samples(w, client, rows)
    return losses.mean(), gradients.mean(0)


def final(algorithm, rounds=3):
    ctx = sampled_context(PROBLEM, ("baseline",), replicates=1)
    return run(PROBLEM, algorithm, ctx, rounds=rounds).state


def draws(algorithm, rounds, name="xi"):
    """Return sample numbers [steps][client] of the same keyed stream."""
    ctx = sampled_context(PROBLEM, ("baseline",), replicates=1)
    law = PROBLEM.oracles(torch.float64).field_law(algorithm.batch)
    made = []
    for ctx.t in range(rounds * algorithm.local_steps):
        made.append(ctx.draw(law, name)[..., 0].long().numpy())
    return made


def local(algorithm, start, client, drawn):
    """Return the client's iterates after each local step."""
    w, path = start, []
    for rows in drawn:
        w = w - algorithm.step_size * logistic(w, client, rows[client])[1]
        path.append(w)
    return path


@pytest.mark.parametrize("fairness", [0.0, 0.2, 1.0, 3.0])
def test_q_fedavg_is_its_pseudocode(fairness):
    algorithm = QFedAvg(local_steps=2, step_size=0.3, batch=2, fairness=fairness)
    drawn, w = draws(algorithm, 3), np.zeros(PROBLEM.dim)
    lipschitz = 1 / algorithm.step_size
    for s in range(3):
        deltas, hs = [], []
        for k in range(PROBLEM.clients):
            end = local(algorithm, w, k, drawn[2 * s : 2 * s + 2])[-1]
            moved = lipschitz * (w - end)
            loss, _ = logistic(w, k, slice(None))
            deltas.append(loss**fairness * moved)
            slope = fairness * loss ** (fairness - 1) * moved @ moved
            hs.append(slope + lipschitz * loss**fairness)
        w = w - np.sum(deltas, 0) / np.sum(hs)
    np.testing.assert_allclose(final(algorithm).w[0, :, 0], w, rtol=1e-12)


@pytest.mark.parametrize("cohort", [0, 1, 2])
def test_drfl_is_its_pseudocode(cohort):
    algorithm = DRFL(local_steps=2, step_size=0.3, batch=2, weight_step=0.4, cohort=cohort)
    n, m, tau = PROBLEM.clients, cohort or PROBLEM.clients, 2
    drawn, reported = draws(algorithm, 3), draws(algorithm, 3, "xi-loss")
    ctx = sampled_context(PROBLEM, ("baseline",), replicates=1)
    w, weights = np.zeros(PROBLEM.dim), np.full(n, 1 / n)
    for s in range(3):
        first = s * tau
        points = ctx.server_draw(Uniforms(m), "drawn", since=first)[:, 0].numpy()
        chosen = [
            min(int(np.searchsorted(np.cumsum(weights), p, side="right")), n - 1) for p in points
        ]
        at = int(ctx.server_draw(Indices((tau,), 1), "snapshot", since=first))
        mask = ctx.server_draw(Subset(n, m), "reporting", since=first)[:, 0].numpy()
        paths = [local(algorithm, w, k, drawn[first : first + tau]) for k in chosen]
        w = np.mean([path[-1] for path in paths], 0)
        snapshot = np.mean([path[at] for path in paths], 0)
        v = [
            n / m * logistic(snapshot, k, reported[first + tau - 1][k])[0] * mask[k]
            for k in range(n)
        ]
        moved = weights + tau * algorithm.weight_step * np.array(v)
        p = cp.Variable(n)
        cp.Problem(cp.Minimize(cp.sum_squares(p - moved)), [p >= 0, cp.sum(p) == 1]).solve()
        weights = p.value
    state = final(algorithm)
    np.testing.assert_allclose(state.w[0, :, 0], w, rtol=1e-12)
    np.testing.assert_allclose(state.weights[0, :, 0], weights, atol=1e-6)


@given(st.lists(st.floats(-50, 50), min_size=1, max_size=8))
def test_the_projection_is_the_nearest_point_of_the_simplex(entries):
    """By the variational inequality ⟨x − p, v − p⟩ ≤ 0 at every vertex v."""
    x = torch.tensor(entries, dtype=torch.float64)[:, None]
    p = project_on_simplex(x)
    assert torch.all(p >= 0)
    assert float(p.sum()) == pytest.approx(1.0, abs=1e-12)
    away = (x - p)[:, 0]
    assert torch.all(away - away @ p[:, 0] <= 1e-10)
