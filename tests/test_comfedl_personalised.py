"""Personalised learning by the ComFedL papers: data, personal models, and what is judged."""

import numpy as np
import pytest
import torch

from driftproof.toolkit.datasets.adult import Adult
from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.federation import run, sampled_context
from driftproof.verifiers.experiment import Outcome, judge
from driftproof.verifiers.experiment.sentence import LEVEL
from driftproof.verifiers.papers.comfedl.experiments import _personalised as personalised
from driftproof.verifiers.papers.comfedl.experiments._dominant_classes import Images, dealt, smaller
from driftproof.verifiers.papers.comfedl.experiments._personalised import (
    GRIDS,
    TEMPERATURES,
    PersonalisedRun,
)
from driftproof.verifiers.papers.comfedl.experiments.damaml_cifar import gradients
from driftproof.verifiers.papers.comfedl.experiments.personalised_cifar import JOURNAL, SAYS, noise

SMALL = Images(training=20, validation=10, choosing=5, adapting=8, side=8)
RUN = PersonalisedRun(rounds=2, points=3, images=SMALL, filters=2, local_steps=2, batch=4)


def test_training_and_validation_have_the_same_shares_and_no_image_in_common():
    size = Images(50, 25, 10, 10, 8)
    held, search = (dealt(None, size, 0.28, 3, choosing) for choosing in (False, True))
    for client in range(10):
        for part, own, other in ((held.training, 14, 4), (held.validation, 7, 2)):
            counts = np.bincount(part.targets[client], minlength=10)
            assert counts[client] == own
            assert set(np.delete(counts, client)) == {other}
    every = (*held.training.inputs, *held.validation.inputs, *search.validation.inputs)
    rows = np.concatenate(every).reshape(850, -1)
    assert len(np.unique(rows, axis=0)) == 850  # digits repeat no image
    for few, all_images in zip(held.adapting.inputs, held.training.inputs, strict=True):
        np.testing.assert_array_equal(few, all_images[:10])
    assert "total variation 0.18" in held.told


def test_a_table_is_refused(tmp_path):
    Adult.sample(tmp_path)
    with pytest.raises(DriftproofError, match="whose examples have shape"):
        dealt(tmp_path, SMALL, 0.28, 0)


def test_a_picture_is_made_smaller_by_means_of_blocks():
    pictures = np.random.default_rng(0).uniform(size=(2, 3, 9, 8))
    small = smaller(pictures, 4)
    assert small.shape == (2, 3, 4, 4)
    assert small[1, 2, 3, 0] == pytest.approx(pictures[1, 2, 6:8, :2].mean())
    np.testing.assert_array_equal(smaller(pictures, 5), pictures)


@pytest.mark.parametrize("method", GRIDS)
def test_personal_models_are_scored_as_in_plain_pytorch(method):
    """Two routes: what is recorded after a run, and a loop over clients with autograd."""
    of = RUN.but(method=method, precision="double", **JOURNAL.get(method, {}))
    if method == "ComFedL-DAMAML":
        of = of.but(step_size=1e-4)
    whole, held = of.measured(), of.dealt
    assert len(whole["accuracy"]) == 3
    ctx = sampled_context(of.problem, of.keys, replicates=1)
    state = run(of.problem, of.algorithm, ctx, rounds=2).state
    losses, right = [], []
    for client in range(10):
        own = state.w[client, :, 0]
        if method == "Ditto":
            own = state.v[client, :, 0]
        else:
            at = own.clone().requires_grad_()
            inputs, classes = scaled(held.adapting, client)
            torch.nn.functional.cross_entropy(of.model(at, inputs), classes).backward()
            own = own - (of.step_size if method == "FedAvg" else of.adaptation) * at.grad
        inputs, classes = scaled(held.validation, client)
        outputs = of.model(own, inputs)
        losses.append(float(torch.nn.functional.cross_entropy(outputs, classes)))
        right.append(float((outputs.argmax(1) == classes).double().mean()))
    assert whole["loss"][-1] == pytest.approx(np.mean(losses), rel=1e-6)
    assert whole["accuracy"][-1] == pytest.approx(np.mean(right))
    assert whole["worst"][-1] == pytest.approx(min(right))


def test_methods_are_told_apart_and_share_their_start():
    ends = {m: RUN.but(method=m, **JOURNAL.get(m, {})).measured() for m in GRIDS}
    assert (
        ends["ComFedL-MAML"]["loss"][0] == ends["TR-MAML"]["loss"][0]
    )  # the same inner learning rate
    assert len({tuple(whole["loss"]) for whole in ends.values()}) == len(GRIDS)


def test_a_step_of_damaml_is_that_many_gradients_long():
    """Two routes: exp(f/γ)/γ, and the first step of both methods at the losses of the start."""
    steps = {}
    for method in ("ComFedL-MAML", "ComFedL-DAMAML"):
        of = RUN.but(method=method, precision="double", step_size=1e-9)
        problem = of.problem
        start = torch.from_numpy(problem.start())[:, None]
        steps[method] = problem.client_gradients(start)[..., 0]
        losses = problem.oracles(torch.float64).inner(start[None].expand(10, -1, -1), None)[0]
    value = RUN.but(method="ComFedL-MAML").problem.oracles(torch.float64).outer_value(losses)[:, 0]
    ratio = steps["ComFedL-DAMAML"].norm(dim=1) / steps["ComFedL-MAML"].norm(dim=1)
    torch.testing.assert_close(ratio, torch.exp(value / 0.5) / 0.5)
    assert gradients(0.5, 10) == pytest.approx(200)


def scaled(part, client):
    """Return a client's images as numbers, and its class numbers."""
    inputs = torch.from_numpy(part.inputs[client]) / part.levels
    return inputs.double(), torch.from_numpy(part.targets[client])


ENDED = RUN.but(rounds=4, points=5)


def outcome(level, noise=0.0, seeds=9, bad=False):
    """Return results of curves that end at a level, on every seed a little different."""
    results = [
        {
            "accuracy": [0.1, 0.1, 0.1, level, level * (1 + seed / 1e4)][: 1 if bad else None],
            "loss": [2.0, 2.0 + noise, 2.0 - noise, 2.3 - level, (2.3 - level) * (1 + seed / 1e4)][
                : 1 if bad else None
            ],
            "bad_step": 1 if bad else None,
        }
        for seed in range(seeds)
    ]
    return Outcome(ENDED, results)


def verdicts(says, runs):
    return [sentence.verdict for sentence in judge(says, runs)]


def test_the_best_is_better_than_each_other_and_the_worst_worse():
    runs = {name: outcome(0.5) for name in GRIDS} | {"FedAvg": outcome(0.4)}
    runs["ComFedL-DAMAML"] = outcome(0.6)
    best, _, worst, better, *_ = SAYS
    for says in (best, worst, better):
        assert set(verdicts(says, runs)) == {"reproduced"}
    turned = runs | {"FedAvg": outcome(0.9)}
    assert verdicts(best, turned)[:2] == ["not reproduced"] * 2
    assert set(verdicts(worst, turned)) == {"not reproduced"}


def test_noise_is_the_second_difference():
    runs = {"FedMAML": outcome(0.5, noise=0.5), "TR-MAML": outcome(0.5), "Ditto": outcome(0.5)}
    (smoother,) = (says for says in SAYS if says.text.startswith("TR-MAML"))
    assert verdicts(smoother, runs) == ["reproduced"]
    straight = Outcome(RUN, [{"loss": np.exp([3.0, 2.0, 1.0]).tolist()}])
    assert noise(straight, "loss") == pytest.approx(0, abs=1e-12)


def test_a_parameter_that_matters_is_not_called_robust():
    label = "ComFedL-DAMAML"
    ends = {0.1: outcome(0.2), 0.5: outcome(0.5), 1.0: outcome(0.505), 5.0: outcome(0.3, bad=True)}
    runs = {(label, f"γ = {gamma:g}"): of for gamma, of in ends.items()}
    says = personalised.robust("", label)
    assert verdicts(says, runs) == ["not reproduced", "reproduced", "not reproduced"]
    # two runs that overflow do not show that a method is robust
    lost = dict.fromkeys(runs, outcome(0.5, bad=True))
    assert verdicts(says, lost) == ["undecided"] * 3


def test_a_client_that_guesses_its_own_class_is_the_trivial_model():
    """ρ = 0.28 of ten images: 3 of its own class. A model below that knows nothing."""
    run = RUN.but(images=Images(50, 25, 10, 10, 8))
    assert run.trivial["accuracy"] == pytest.approx(0.28)
    shares = np.array([0.28] + [0.08] * 9)
    assert run.trivial["loss"] == pytest.approx(-(shares * np.log(shares)).sum())


def test_there_are_seeds_enough_to_decide_either_way():
    """The least p is 2^(−seeds); a margin is left on one of two sides."""
    for profile in ("quick", "paper"):
        least = 0.5 ** personalised.SIZES[profile].seeds
        assert least <= LEVEL / max(len(says.pairs) * len(says.of) for says in SAYS)
        assert least <= LEVEL / (len(TEMPERATURES) - 1) / 2
