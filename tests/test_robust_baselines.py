"""FastDRO and PDSGD against loops over samples; worst-case weights against cvxpy and bisection."""

from dataclasses import dataclass
from typing import get_args

import cvxpy as cp
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from driftproof.synthetic.network_problems.plain import NetworkLosses, NetworkLossOracles
from driftproof.synthetic.network_problems.samples import ClientData
from driftproof.synthetic.problems import KLDRO
from driftproof.toolkit.algorithms import PDSGD, FastDRO
from driftproof.toolkit.algorithms.fastdro import Divergence, worst_case_weights
from driftproof.toolkit.federation import run, sampled_context
from driftproof.toolkit.networks import SoftmaxRegression

WRITTEN = {"fastdro", "pdsgd"}
PROBLEM = KLDRO(form="average", clients=3, samples=5, heterogeneity=2.0)
ROUNDS = 4
DIVERGENCES = get_args(Divergence)


# the inner maximum ------------------------------------------------------------------------------


def value(q, losses, shares, divergence, size):
    """Return what the weights maximise."""
    far = {
        "chi-square": lambda: np.sum(shares * (q / shares - 1) ** 2) / 2,
        "kl": lambda: np.sum(q * np.log(np.maximum(q, 1e-300) / shares)),
    }[divergence]()
    return q @ losses - size * far


def by_cvxpy(losses, shares, divergence, size):
    q = cp.Variable(len(losses), nonneg=True)
    if divergence == "chi-square":
        far = cp.sum(cp.multiply(1 / shares, cp.square(q - shares))) / 2
    else:
        far = cp.sum(cp.rel_entr(q, shares))
    problem = cp.Problem(cp.Maximize(q @ losses - size * far), [cp.sum(q) == 1])
    problem.solve(solver=cp.CLARABEL)
    return problem.value


def by_bisection(losses, shares, divergence, size):
    """Return the weights by halving an interval of thresholds, one loss after another."""
    if divergence == "kl":
        raised = [s * np.exp((x - max(losses)) / size) for x, s in zip(losses, shares, strict=True)]
        return np.array(raised) / sum(raised)
    low, high = min(losses) - 1e3, max(losses)
    for _ in range(200):
        middle = (low + high) / 2
        far = shares @ np.maximum(losses - middle, 0) < size
        low, high = (low, middle) if far else (middle, high)
    above = shares * np.maximum(losses - low, 0)
    return above / above.sum()


def weights_of(losses, shares, divergence, size):
    made = worst_case_weights(
        torch.tensor(losses)[:, None], torch.tensor(shares)[:, None], divergence, size
    )
    return made[:, 0].numpy()


@st.composite
def instances(draw):
    """Losses with ties among them, and shares that may differ."""
    count = draw(st.integers(1, 7))
    losses = draw(
        st.lists(st.integers(-20, 20).map(lambda k: k / 4), min_size=count, max_size=count)
    )
    shares = np.array(draw(st.lists(st.integers(1, 5), min_size=count, max_size=count)), float)
    return np.array(losses), shares / shares.sum()


@pytest.mark.parametrize("divergence", DIVERGENCES)
@settings(max_examples=60)
@given(instance=instances(), size=st.sampled_from([0.05, 0.3, 0.5, 0.9, 1.0]))
def test_the_weights_attain_the_maximum_that_cvxpy_finds(divergence, instance, size):
    losses, shares = instance
    q = weights_of(losses, shares, divergence, size)
    assert q.min() >= 0
    assert q.sum() == pytest.approx(1.0, abs=1e-12)
    best = by_cvxpy(losses, shares, divergence, size)
    assert value(q, losses, shares, divergence, size) == pytest.approx(best, rel=1e-5, abs=1e-5)


@pytest.mark.parametrize("divergence", DIVERGENCES)
def test_equal_losses_keep_their_shares_and_a_column_does_not_see_another(divergence):
    shares = torch.tensor([[0.2], [0.3], [0.5]], dtype=torch.float64)
    columns = torch.tensor([[2.0, 1.0], [2.0, 3.0], [2.0, 2.0]], dtype=torch.float64)
    q = worst_case_weights(columns, shares, divergence, 1.0)
    torch.testing.assert_close(q[:, :1], shares)
    alone = worst_case_weights(columns[:, 1:], shares, divergence, 1.0)
    torch.testing.assert_close(q[:, 1:], alone)


# the algorithms ---------------------------------------------------------------------------------


def samples(w, client, rows):
    """Return the losses and gradients of some of a client's rows, from the data alone."""
    features, labels = PROBLEM.data[0][client][rows], PROBLEM.data[1][client][rows]
    margins = labels * (features @ w)
    slopes = -labels / (1 + np.exp(margins))
    return np.logaddexp(0, -margins), features * slopes[:, None]


def final(algorithm, problem=PROBLEM, rounds=ROUNDS):
    return run(problem, algorithm, context(problem), rounds=rounds).state


def context(problem=PROBLEM):
    return sampled_context(problem, ("robust",), replicates=2)


def draws(batch):
    """Return sample numbers [steps][client][batch] of the same keyed stream."""
    ctx, made = context(), []
    law = PROBLEM.oracles(torch.float64).field_law(batch)
    for ctx.t in range(ROUNDS):
        made.append(ctx.draw(law, "xi")[..., 0].numpy())
    return made


def fastdro(a, divergence=None, shared=True):
    """Loop over samples; ``shared`` False weighs each client's minibatch alone."""
    w, divergence = np.zeros(PROBLEM.dim), divergence or a.divergence
    for rows in draws(a.batch):
        found = [samples(w, k, rows[k]) for k in range(PROBLEM.clients)]
        if not shared:
            q = [by_bisection(x, np.full(len(x), 1 / len(x)), divergence, a.size) for x, _ in found]
            w = w - a.step_size * np.mean([p @ g for p, (_, g) in zip(q, found, strict=True)], 0)
            continue
        losses = np.concatenate([x for x, _ in found])
        gradients = np.concatenate([g for _, g in found])
        q = by_bisection(losses, np.full(len(losses), 1 / len(losses)), divergence, a.size)
        w = w - a.step_size * sum(p * g for p, g in zip(q, gradients, strict=True))
    return w


def pdsgd(a, scaled=1.0, late=False):
    """Loop over samples, with the weights z themselves and not their logarithms."""
    w, n = np.zeros(PROBLEM.dim), PROBLEM.clients
    z = [np.ones(PROBLEM.samples) for _ in range(n)]
    for rows in draws(a.batch):
        u, grown = np.zeros_like(w), [x.copy() for x in z]
        for k in range(n):
            losses, gradients = samples(w, k, rows[k])
            for j, loss in zip(rows[k], losses, strict=True):
                slope = np.log(z[k][j]) if a.divergence == "kl" else z[k][j] - 1
                grown[k][j] *= np.exp(scaled * a.dual_step * (loss - a.dual_penalty * slope))
            used = grown if late else z
            for j, gradient in zip(rows[k], gradients, strict=True):
                u += used[k][j] * gradient / (n * a.batch)
        mean = np.mean(grown)
        z = [x / mean for x in grown]
        w = w - a.step_size * u
    return w, z


FASTDRO = [
    FastDRO(batch=4, step_size=0.7, divergence=divergence, size=size)
    for divergence in DIVERGENCES
    for size in (0.1, 0.6)
]
PDSGDS = [
    PDSGD(batch=b, step_size=0.7, divergence=divergence, dual_step=0.8, dual_penalty=penalty)
    for b in (1, 3)
    for divergence in ("kl", "chi-square")
    for penalty in (0.0, 0.5)
]


@pytest.mark.parametrize("algorithm", [*FastDRO.examples(), *FASTDRO])
def test_fastdro_is_its_pseudocode(algorithm):
    state = final(algorithm)
    for k in range(PROBLEM.clients):
        np.testing.assert_allclose(state.w[k, :, 0], fastdro(algorithm), rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("algorithm", FASTDRO)
def test_a_minibatch_of_each_client_alone_is_told_apart(algorithm):
    """Negative controls: another set, or a maximum client by client."""
    held = final(algorithm).w[0, :, 0].numpy()
    other = {"kl": "chi-square", "chi-square": "kl"}[algorithm.divergence]
    assert np.abs(held - fastdro(algorithm, divergence=other)).max() > 1e-4
    assert np.abs(held - fastdro(algorithm, shared=False)).max() > 1e-4


@pytest.mark.parametrize("algorithm", [*PDSGD.examples(), *PDSGDS])
def test_pdsgd_is_its_pseudocode(algorithm):
    state, (w, z) = final(algorithm), pdsgd(algorithm)
    for k in range(PROBLEM.clients):
        np.testing.assert_allclose(state.w[k, :, 0], w, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(state.log_weights[..., 0].exp(), z, rtol=1e-12)
    assert float(state.log_weights.exp().mean()) == pytest.approx(1.0, abs=1e-12)
    for reading in ({"scaled": 2.0}, {"late": True}):  # another step; z's step first
        assert np.abs(pdsgd(algorithm, **reading)[0] - w).max() > 1e-3


class AllOfThem(NetworkLossOracles):
    """All samples of a network's clients in each step."""

    def field_law(self, batch):
        return None


@dataclass(frozen=True, eq=False, kw_only=True)
class Unequal(NetworkLosses):
    def oracles(self, dtype, device="cpu", clients=None):
        return AllOfThem(self.means(self.data.held(dtype, device, clients), device))


SIZES = (1, 3, 6)
"""Samples of clients of which each counts alike: a sample's share is 1/(K n_k)."""


def unequal():
    random = np.random.default_rng(5)
    inputs = [random.normal(size=(size, 2)) for size in SIZES]
    data = ClientData(inputs, [random.integers(0, 2, size) for size in SIZES])
    return Unequal(model=SoftmaxRegression().model((2,), 2), data=data)


def every_sample(problem, w):
    """Return all losses and gradients of all clients' samples, one after another, by PyTorch."""
    losses, gradients = [], []
    for rows, classes in zip(problem.data.inputs, problem.data.targets, strict=True):
        for row, label in zip(rows, classes, strict=True):
            at = torch.from_numpy(w).requires_grad_()
            outputs = problem.model(at, torch.from_numpy(row)[None])
            loss = torch.nn.functional.cross_entropy(outputs, torch.tensor([label]))
            gradients.append(torch.autograd.grad(loss, at)[0].numpy())
            losses.append(float(loss.detach()))
    return np.array(losses), np.array(gradients)


SHARES = np.concatenate([np.full(size, 1 / (len(SIZES) * size)) for size in SIZES])


@pytest.mark.parametrize("algorithm", FASTDRO)
def test_fastdro_on_all_samples_of_unequal_clients_has_each_client_alike(algorithm):
    problem = unequal()
    w = problem.start()
    for _ in range(ROUNDS):
        losses, gradients = every_sample(problem, w)
        w = w - algorithm.step_size * (
            by_bisection(losses, SHARES, algorithm.divergence, algorithm.size) @ gradients
        )
    held = final(algorithm, problem).w
    for k in range(len(SIZES)):
        np.testing.assert_allclose(held[k, :, 0], w, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("algorithm", PDSGDS)
def test_pdsgd_on_all_samples_of_unequal_clients_has_each_client_alike(algorithm):
    problem = unequal()
    w, z = problem.start(), np.ones(sum(SIZES))
    for _ in range(ROUNDS):
        losses, gradients = every_sample(problem, w)
        slope = np.log(z) if algorithm.divergence == "kl" else z - 1
        grown = z * np.exp(algorithm.dual_step * (losses - algorithm.dual_penalty * slope))
        w = w - algorithm.step_size * ((SHARES * z) @ gradients)
        z = grown / (SHARES @ grown)
    state = final(algorithm, problem)
    for k, own in enumerate(np.split(z, np.cumsum(SIZES)[:-1])):
        np.testing.assert_allclose(state.w[k, :, 0], w, rtol=1e-9, atol=1e-11)
        np.testing.assert_allclose(state.log_weights[k, : SIZES[k], 0].exp(), own, rtol=1e-9)
