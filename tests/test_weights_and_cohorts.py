"""Law: who takes part in an average, and with which weight, is as the algorithm's text says."""

from contextlib import suppress
from dataclasses import fields

import pytest
import torch

from driftproof.synthetic.image_problems.imbalanced import ImbalancedImages
from driftproof.synthetic.problems import QuadraticMinimax
from driftproof.toolkit.algorithms import ComFedL, FedAvg
from driftproof.toolkit.discover import leaves
from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.federation import run, sampled_context
from tests.leaves import fits
from tests.users import UsersQuadratic

CLIENTS, REPLICATES = 5, 6


def context(problem, method, *names):
    ctx = sampled_context(problem, names or ("cohorts",), replicates=REPLICATES)
    ctx.local_steps, ctx.horizon = method.local_steps, 1
    return ctx


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("size", [2, 5])
def test_an_average_is_the_weighted_mean_over_the_cohort(size, weighted):
    problem = UsersQuadratic(clients=CLIENTS)
    ctx = context(problem, FedAvg())
    random = torch.Generator().manual_seed(0)
    xs = [
        torch.randn(CLIENTS, d, REPLICATES, generator=random, dtype=torch.float64) for d in (2, 3)
    ]
    weights = torch.arange(1.0, 1 + CLIENTS, dtype=torch.float64)[:, None, None]
    cohort = ctx.cohort(size, since=0)
    made = cohort.average(*xs, weights=weights if weighted else None)
    mask = ctx.mask if ctx.mask is not None else torch.ones(CLIENTS, 1, REPLICATES)
    for x, mean in zip(xs, made, strict=True):
        assert mean.shape == x.shape
        for r in range(REPLICATES):
            chosen = [k for k in range(CLIENTS) if mask[k, 0, r]]
            assert len(chosen) == size
            share = [k + 1.0 if weighted else 1.0 for k in chosen]
            for i in range(x.shape[1]):
                total = sum(s * float(x[k, i, r]) for s, k in zip(share, chosen, strict=True))
                for k in range(CLIENTS):
                    assert float(mean[k, i, r]) == pytest.approx(total / sum(share), rel=1e-13)


def changed(member, **values):
    """Return a member with other values, or None if its family does not allow them."""
    with suppress(DriftproofError):
        made = type(member)(**member.values() | values)
        return made if made.values().items() >= values.items() else None
    return None


@pytest.mark.parametrize(("share", "size"), [(0.4, 2), (0.35, 1), (0.1, 1), (1.0, 4)])
def test_a_cohort_is_rounded_to_the_nearest_and_never_empty(share, size):
    assert ComFedL(participation=share).cohort_size(4) == size
    assert FedAvg(participation=share).cohort_size(4) == size


def samplers():
    """Every algorithm that samples clients, with two of five, on a problem that it fits."""
    made = []
    for leaf in leaves("algorithm").values():
        if leaf.name == "fedihgp":
            continue  # it has a cohort for each term of a series: test_nested
        method = leaf.load().examples()[0]
        if "outer_steps" in method.values():
            method = changed(method, outer_steps=2)  # the last step, which averages, is not first
        method = changed(method, participation=0.4) if "participation" in method.values() else None
        if method is None:
            continue  # all clients take part, or a server alone
        members = (
            changed(member, clients=CLIENTS)
            for other in leaves("problem").values()
            for member in other.load().examples()
        )
        problem = next(m for m in members if m is not None and fits(method, m))
        made.append(pytest.param(method, problem, id=leaf.name))
    return made


def test_the_algorithms_that_sample_clients_are_known():
    names = {param.id for param in samplers()}
    assert names >= {"comfedl", "fedavg", "fedsvrg", "q-fedavg", "fednest", "lfednest", "fedinn"}


def last_step(method, problem, change):
    """Return the last step's new iterate, and the mask, after a change of the state before it."""
    ctx, oracles = context(problem, method), problem.oracles(torch.float64)
    state = method.init(ctx, oracles, torch.from_numpy(problem.start()))
    for ctx.t in range(method.local_steps):
        if ctx.t == method.local_steps - 1:
            state = change(state, ctx.mask)
        state = method.step(ctx, oracles, state)
    return getattr(state, method.iterate), ctx.mask


@pytest.mark.parametrize(("method", "problem"), samplers())
def test_clients_outside_the_cohort_do_not_count_and_those_inside_do(method, problem):
    def moved(outside):
        def change(state, mask):
            chosen = (1 - mask) if outside else mask
            return state._replace(
                **{method.iterate: getattr(state, method.iterate) + 0.01 * chosen}
            )

        return change

    plain, mask = last_step(method, problem, lambda state, mask: state)
    assert mask.sum(0).unique().tolist() == [method.cohort_size(CLIENTS)] == [2.0]
    outside, inside = (last_step(method, problem, moved(where))[0] for where in (True, False))
    torch.testing.assert_close(outside, plain, rtol=0, atol=0)
    assert bool(((inside - plain).abs().amax((0, 1)) > 1e-4).all())


class Unequal:
    """Oracles whose clients have 1, 2, 3 … samples."""

    def __init__(self, of):
        self._of = of
        counts = torch.arange(1.0, 1 + of.clients, dtype=of.client_weights.dtype)
        self.client_weights = (counts / counts.sum())[:, None, None]

    def __getattr__(self, name):
        return getattr(self._of, name)


def weighted_algorithms():
    """Every algorithm that can weigh clients by their samples."""
    return [
        leaf.name
        for leaf in leaves("algorithm").values()
        if "weighting" in {f.name for f in fields(leaf.load())}
    ]


@pytest.mark.parametrize("participation", [1.0, 0.4])
@pytest.mark.parametrize("name", weighted_algorithms())
def test_weights_by_samples_are_the_shares_of_the_cohorts_samples(name, participation):
    cls = leaves("algorithm")[name].load()
    method = cls(local_steps=2, weighting="samples", participation=participation)
    problem = UsersQuadratic(clients=CLIENTS, noise=0.3)
    ctx, oracles = context(problem, method), Unequal(problem.oracles(torch.float64))
    state = method.init(ctx, oracles, torch.from_numpy(problem.start()))
    for ctx.t in range(2):
        state = method.step(ctx, oracles, state)
    sent = ctx.marks["w"]
    for r in range(REPLICATES):
        cohort = [k for k in range(CLIENTS) if ctx.mask is None or ctx.mask[k, 0, r]]
        shares = [(k + 1) / sum(j + 1 for j in cohort) for k in cohort]
        wanted = sum(s * sent[k, :, r] for s, k in zip(shares, cohort, strict=True))
        torch.testing.assert_close(state.w[0, :, r], wanted, rtol=1e-13, atol=1e-14)
        plain = sum(sent[k, :, r] for k in cohort) / len(cohort)
        assert not torch.allclose(plain, wanted, rtol=1e-6)


def test_the_weights_of_imbalanced_images_are_their_samples():
    problem = ImbalancedImages(clients=4, large=30, small=10, validation=5, form="average")
    weights = problem.oracles(torch.float64).client_weights.flatten()
    assert (weights / weights.sum()).tolist() == pytest.approx([1 / 2, 1 / 6, 1 / 6, 1 / 6])


def test_a_uniform_weighting_takes_no_notice_of_samples():
    method, problem = FedAvg(local_steps=1), UsersQuadratic(clients=CLIENTS, noise=0.3)
    ctx, oracles = context(problem, method), Unequal(problem.oracles(torch.float64))
    state = method.init(ctx, oracles, torch.from_numpy(problem.start()))
    after = method.step(ctx, oracles, state)
    torch.testing.assert_close(after.w[0], ctx.marks["w"].mean(0))


def test_a_kernel_weighs_by_samples_too(monkeypatch):
    """On a problem that a fused kernel serves, with unequal weights: the plain steps' result."""
    problem = QuadraticMinimax(clients=4, dim=2, heterogeneity=0.5, gradient_noise=0.2)
    own = QuadraticMinimax.oracles

    def unequal(self, dtype, device="cpu", clients=None):
        made = own(self, dtype, device, clients)
        made.client_weights = Unequal(made).client_weights
        return made

    method = FedAvg(local_steps=3, weighting="samples")
    equal = run(problem, method, context(problem, method), rounds=2).state.w
    monkeypatch.setattr(QuadraticMinimax, "oracles", unequal)
    plain, fused = (
        run(problem, method, context(problem, method), rounds=2, kernels=k).state.w
        for k in (False, True)
    )
    torch.testing.assert_close(plain, fused)
    assert not torch.allclose(plain, equal, rtol=1e-3)
