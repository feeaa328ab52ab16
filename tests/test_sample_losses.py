"""Losses of single samples, and sampled outer losses, against means and derivatives by autograd."""

import numpy as np
import pytest
import torch

from driftproof.synthetic.building_blocks.linear_model import LinearModel
from driftproof.synthetic.building_blocks.losses import LOSSES
from driftproof.synthetic.problems import KLDRO, MAML
from driftproof.toolkit.federation import sampled_context
from driftproof.toolkit.oracles import OFFERS, Losses, OuterLosses, SampleLosses
from tests.leaves import problems

REPLICATES = 3


def offering(need):
    return [p for p in problems() if need in OFFERS[p.values[0].offers]]


def points(clients, dim, seed=0):
    random = torch.Generator().manual_seed(seed)
    return torch.randn(clients, dim, REPLICATES, generator=random, dtype=torch.float64)


def drawn(problem, oracles, batch):
    ctx = sampled_context(problem, ("samples",), replicates=REPLICATES)
    return ctx.draw(oracles.field_law(batch), "xi")


@pytest.mark.parametrize("problem", offering("samples"))
def test_losses_of_samples_have_the_minibatch_loss_as_their_mean(problem):
    oracles = problem.oracles(torch.float64)
    assert isinstance(oracles, SampleLosses)
    x = points(problem.clients, problem.dim)
    for xi in (None, drawn(problem, oracles, 4)):
        losses, pullback = oracles.sample_losses(x, xi)
        share = oracles.sample_weights if xi is None else torch.tensor(0.25)
        weights = share.to(losses).expand_as(losses)
        torch.testing.assert_close((weights * losses).sum(1), oracles.batch_loss(x, xi))
        torch.testing.assert_close(pullback(weights), oracles.field_grad(x, xi))


@pytest.mark.parametrize("problem", offering("samples"))
def test_the_number_that_is_drawn_is_the_samples_place(problem):
    oracles = problem.oracles(torch.float64)
    x, xi = points(problem.clients, problem.dim), drawn(problem, oracles, 5)
    every, some = oracles.sample_losses(x, None)[0], oracles.sample_losses(x, xi)[0]
    torch.testing.assert_close(some, every.gather(1, xi))


@pytest.mark.parametrize("problem", offering("samples"))
def test_the_pullback_is_that_of_every_single_loss(problem):
    oracles = problem.oracles(torch.float64)
    x = points(problem.clients, problem.dim).requires_grad_()
    losses, pullback = oracles.sample_losses(x, None)
    v = torch.randn(losses.shape, generator=torch.Generator().manual_seed(1), dtype=x.dtype)
    (expected,) = torch.autograd.grad((losses * v).sum(), x)
    torch.testing.assert_close(pullback(v), expected)


def test_a_client_with_fewer_samples_is_padded_with_weight_0():
    random = np.random.default_rng(0)
    sizes = (2, 5)
    features = [random.standard_normal((size, 3)) for size in sizes]
    labels = [random.choice([-1.0, 1.0], size) for size in sizes]
    model = LinearModel(features, labels, LOSSES["logistic"], sizes=sizes)
    x = points(2, 3)
    losses, pullback = model.sample_losses(x, None)
    weights = model.sample_weights
    assert weights[..., 0].tolist() == [[0.5, 0.5, 0.0, 0.0, 0.0], [0.2] * 5]
    for k, size in enumerate(sizes):
        by_hand = np.logaddexp(0, -labels[k][:, None] * (features[k] @ x[k].numpy()))
        np.testing.assert_allclose(losses[k, :size].numpy(), by_hand)
    mean, pull = model(x, None)
    torch.testing.assert_close((weights * losses).sum(1, keepdim=True), mean)
    torch.testing.assert_close(pullback(weights.expand_as(losses)), pull(torch.ones_like(mean)))


@pytest.mark.parametrize("problem", offering("outer-losses"))
def test_a_sampled_outer_loss_has_the_sampled_outer_gradient(problem):
    oracles = problem.oracles(torch.float64)
    assert isinstance(oracles, OuterLosses)
    y = points(problem.clients, problem.dim).requires_grad_()
    ctx = sampled_context(problem, ("outer",), replicates=REPLICATES)
    for zeta in (None, ctx.draw(oracles.outer_law(2), "zeta")):
        value = oracles.outer_batch_value(y, zeta)
        (slope,) = torch.autograd.grad(value.sum(), y)
        torch.testing.assert_close(slope, oracles.outer_grad(y.detach(), zeta))
    torch.testing.assert_close(oracles.outer_batch_value(y, None), oracles.outer_value(y))


def test_what_lacks_them_is_not_taken_for_one_that_has_them():
    assert not isinstance(MAML().oracles(torch.float64), Losses)
    assert "samples" not in OFFERS[KLDRO(form="log").offers]
