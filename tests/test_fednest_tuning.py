"""fednest/tuning: its images, its losses and oracles, its sentences and its page."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from driftproof.synthetic.image_problems.dealt import dealt, falling
from driftproof.synthetic.image_problems.label_imbalance import LabelImbalance
from driftproof.toolkit.algorithms.fednest import FedNest
from driftproof.toolkit.autograd_bilevel import AutogradBilevel
from driftproof.toolkit.dataset import read
from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.federation import sampled_context
from driftproof.verifiers.experiment import Outcome, Plan
from driftproof.verifiers.papers.fednest.experiments._public_code import (
    AllSharedFedNest,
    PublicFedNest,
)
from driftproof.verifiers.papers.fednest.experiments.tuning import (
    FIXED,
    IID,
    LABELS,
    PUBLIC,
    SORTED,
    at_the_end,
    everything,
    panel,
)

SMALL = LabelImbalance(clients=3, shards=3, largest=40, ratio=10.0, per_class=20)
SHARDED = replace(SMALL, alike=False)
CODED = replace(SHARDED, coded=True)


def points(problem, replicates=2):
    random = torch.Generator().manual_seed(0)
    start = torch.from_numpy(problem.start())[None, :, None]
    shape = (problem.clients, len(problem.start()), replicates)
    at = start + torch.randn(shape, generator=random, dtype=torch.float64) / 3
    x, y = at[:, : problem.upper_dim], at[:, problem.upper_dim :]
    return x, y, torch.randn(y.shape, generator=random, dtype=torch.float64)


def parametric(problem, x, y, sample):
    """The slide's loss, term by term, of one image."""
    features, hot = sample
    delta, shift = x[: problem.classes], x[problem.classes :]
    delta = torch.sigmoid(delta) if problem.coded else delta
    scores = features @ y.reshape(-1, problem.classes)
    own = (hot * (delta * scores)).sum()
    terms = torch.exp(shift - hot @ shift) * torch.exp(delta * scores - own)
    return torch.log(1 + ((1 - hot) * terms).sum()) + problem.ridge / 2 * (y @ y)


def by_autograd(problem):
    hot = np.eye(problem.classes)
    weights = torch.from_numpy(problem.class_weights)
    train, validation = (
        [
            (f, torch.from_numpy(hot[label]))
            for f, label in zip(
                torch.from_numpy(problem.split[part][0]), problem.split[part][1], strict=True
            )
        ]
        for part in ("train", "validation")
    )

    def upper(x, y, sample):
        features, unit = sample
        scores = features @ y.reshape(-1, problem.classes)
        return weights @ unit * (torch.logsumexp(scores, 0) - unit @ scores)

    return AutogradBilevel(
        upper,
        lambda x, y, sample: parametric(problem, x, y, sample),
        upper_data=validation,
        lower_data=train,
        upper_dim=problem.upper_dim,
        lower_smoothness=1.0,
    )


def test_the_closed_forms_are_the_derivatives():
    """Also of a minibatch; the parametric loss is the cross entropy of Δ∘y + l."""
    for problem in (SMALL, CODED):
        x, y, v = points(problem)
        made, wanted = problem.oracles(torch.float64), by_autograd(problem)
        drawn = sampled_context(problem, ("t",), replicates=2).draw(made.lower_law(4), "zeta")
        for zeta in (None, drawn):
            for name, more in (
                ("lower_grad", ()),
                ("lower_hessian_product", (v,)),
                ("lower_cross_product", (v,)),
            ):
                one, other = (getattr(of, name)(x, y, *more, zeta) for of in (made, wanted))
                torch.testing.assert_close(one, other)
        torch.testing.assert_close(made.lower_grad_x(x, y), wanted.lower_grad_x(x, y))
        if not problem.coded:  # else its weights are normalised: see below
            torch.testing.assert_close(made.upper_value(x, y), wanted.upper_value(x, y))
            for xi in (None, drawn):
                one, other = (of.upper_grad_y(x, y, xi) for of in (made, wanted))
                torch.testing.assert_close(one, other)
        assert not made.upper_grad_x(x, y, None).any()


def test_normalised_weights_are_torchs():
    """F.cross_entropy(weight=…) divides by the weights' sum: what the public code minimises."""
    problem = CODED
    x, y, _ = points(problem)
    oracles = problem.oracles(torch.float64)
    drawn = sampled_context(problem, ("t",), replicates=2).draw(oracles.upper_law(3), "xi")
    made = oracles.upper_grad_y(x, y, drawn)
    weight = torch.from_numpy(problem.class_weights)
    for i, r in np.ndindex(3, 2):
        at = y[i, :, r].clone().requires_grad_()
        features, labels = (torch.from_numpy(part[i]) for part in problem.split["validation"])
        scores = features[drawn[i, :, r]] @ at.reshape(-1, 10)
        loss = torch.nn.functional.cross_entropy(scores, labels[drawn[i, :, r]], weight=weight)
        torch.testing.assert_close(made[i, :, r], torch.autograd.grad(loss, at)[0])


def test_the_upper_loss_gives_every_class_its_share():
    """Σ_c n_c w_c = n, equal for all classes; f is the mean over clients."""
    shares = SMALL.counts * SMALL.class_weights
    np.testing.assert_allclose(shares, SMALL.counts.sum() / 10)
    _, y, _ = points(SMALL, 1)
    same = y[:1].expand(3, -1, -1)
    value = SMALL.oracles(torch.float64).upper_value(points(SMALL, 1)[0], same).mean()
    assert SMALL.validation_loss(same[0].numpy())[0] == pytest.approx(float(value), rel=1e-12)


def test_images_are_dealt_once():
    counts, (train, _, judging) = falling(10, 40, 10.0), read(None).apart
    assert (counts[0], counts[-1]) == (40, 4)
    for alike in (True, False):
        parts = dealt(read(None), counts, per_class=20, clients=3, alike=alike, seed=0)
        for names in (("train", "validation"), ("test",)):
            numbers = np.concatenate([parts[name].ravel() for name in names])
            assert len(np.unique(numbers)) == len(numbers)
        assert (np.bincount(judging.labels[parts["test"]]) == 20).all()
        both = np.hstack([parts["train"], parts["validation"]])
        own = [np.unique(train.labels[part]) for part in both]
        assert len(own) == 3
        if not alike:
            assert all(len(classes) < 10 for classes in own)
    with pytest.raises(DriftproofError, match="images of class 0"):
        _ = replace(SMALL, largest=400).split


def test_one_machine_has_what_the_clients_have():
    whole = replace(SMALL, clients=1)
    assert whole.split["train"][0].shape[0] == 1
    np.testing.assert_array_equal(whole.split["train"][1].ravel(), SMALL.split["train"][1].ravel())


def test_accuracy_is_balanced():
    """A model that always answers 3 finds a tenth of the classes."""
    model = np.zeros((65, 10))
    model[-1, 3] = 1.0
    assert SMALL.accuracy(model.reshape(-1, 1)) == pytest.approx([0.1])


def test_the_public_series_is_what_its_formula_says():
    """One k with all clients and all images, against matrices."""
    problem = SHARDED
    algorithm = PublicFedNest(terms=3, outer_step_size=0.5, series_step=0.02)
    light = replace(algorithm, plain=True, alone=True)
    ctx = sampled_context(problem, ("t",), replicates=1)
    oracles = problem.oracles(torch.float64)
    start = torch.from_numpy(problem.start())
    state = algorithm.init(ctx, oracles, start)
    ctx.local_steps = algorithm.local_steps
    state = algorithm.step(ctx, oracles, state)
    x, y = state.x, state.y
    ctx.t, before = 1, ctx.rounds
    after = algorithm.step(ctx, oracles, state)
    assert ctx.rounds - before == 3 + 3  # N + 3, as the slides count
    p0 = oracles.upper_grad_y(x, y, None).mean(0, keepdim=True).expand_as(y)
    power, p = p0, p0
    for n in range(1, 4):
        power = power - 0.02 * oracles.lower_hessian_product(x, y, power, None)
        p = p + power.mean(0, keepdim=True) / n
    h = -oracles.lower_cross_product(x, y, p, None).mean(0, keepdim=True)
    torch.testing.assert_close(after.x, x - 0.5 * h)
    before = ctx.rounds
    after = light.step(ctx, oracles, state)
    assert ctx.rounds - before == 1
    power = p = oracles.upper_grad_y(x, y, None)
    for _ in range(3):
        power = power - 0.02 * oracles.lower_hessian_product(x, y, power, None)
        p = p + power
    h = -oracles.lower_cross_product(x, y, p, None)
    torch.testing.assert_close(after.x, (x - 0.5 * h).mean(0, keepdim=True).expand_as(x))


def test_a_gradient_of_all_images_is_shared():
    """One local step from the shared point: the minibatch cancels, and q alone is left."""
    ctx = sampled_context(SHARDED, ("t",), replicates=1)
    oracles = SHARDED.oracles(torch.float64)
    algorithm = AllSharedFedNest(inner_steps=1, inner_step_size=0.5)
    state = algorithm.init(ctx, oracles, torch.from_numpy(SHARDED.start()))
    moved = algorithm.step(ctx, oracles, state)
    q = oracles.lower_grad(state.x, state.y, None).mean(0, keepdim=True)
    torch.testing.assert_close(moved.y, state.y - 0.5 * q)
    assert not torch.equal(FedNest(inner_step_size=0.5).step(ctx, oracles, state).y, moved.y)


def test_accuracies_are_taken_along_either_axis():
    run = {
        "bad_step": None,
        "rounds": [0, 1, 2],
        "communication": [0, 10, 20],
        "accuracy": [0.1, 0.5, 0.9],
    }
    kind = everything(Plan(profile="smoke"))["FedNest", IID].but(rounds=2)
    of, lost = Outcome(kind, [run]), Outcome(kind, [run | {"bad_step": 3}])
    assert at_the_end(of, "rounds", 2).tolist() == [0.9]
    assert at_the_end(of, "communication", 15).tolist() == [0.5]  # the last k before 15
    assert at_the_end(lost, "rounds", 2).tolist() == [0.0]
    shown = panel("p", "t", "communication", {"a": of}, {"level": np.array([0.7])})
    assert [c["label"] for c in shown.curves] == ["a", "level"]
    assert shown.curves[0]["mean"][-1] == 0.9


def test_both_engines_give_the_same_curves():
    found = everything(Plan(profile="smoke"))["FedNest", SORTED]
    run = found.but(clients=2, sampled=1, rounds=2, beta=0.1, alpha=1.0)
    made = [run.but(engine=engine).measured() for engine in ("batched", "wire")]
    assert made[0]["late loss"] == pytest.approx(made[1]["late loss"], rel=1e-10)
    assert made[0]["accuracy"] == made[1]["accuracy"]
    assert made[0]["communication"][-1] == made[1]["communication"][-1]


def test_the_whole_communication_is_equal():
    runs = everything(Plan(profile="quick"))
    costs = {label: runs[label, SORTED].cost for label in LABELS}
    size = runs[PUBLIC, SORTED]
    # the slides' table with N' in place of N: 2T + N' + 3, T + N' + 3, T + 1; FedInn alone 2T
    public = 2 * size.inner_calls + size.terms + 3
    assert costs == {"FedNest": 10, "FedNest_SGD": 7, "LFedNest": 4, FIXED: 6, PUBLIC: public}
    for label, each in costs.items():
        length = runs[label, SORTED].length
        assert length * each >= size.rounds * costs["FedNest"]
    assert runs["FedNest", IID].but(beta=0.1).algorithm.local_steps == 31
