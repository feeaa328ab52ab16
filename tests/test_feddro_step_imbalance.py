"""FedDRO's figures 1 and 2: who holds what, what is judged of it, and both at smoke size."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from driftproof.toolkit.dataset import read
from driftproof.toolkit.discover import find
from driftproof.toolkit.errors import DriftproofError
from driftproof.verifiers.experiment import Outcome
from driftproof.verifiers.papers.feddro.experiments import imbalanced_cifar, local_updates
from driftproof.verifiers.papers.feddro.experiments._step_imbalance import (
    METHODS,
    ImbalancedRun,
    Net,
    ends,
)
from driftproof.verifiers.papers.feddro.experiments._step_imbalance_data import (
    CLIENTS,
    EVERY,
    SHARE,
    dealt,
)

SMALL = Net(2, 1, 8)


def test_rare_classes_are_few_and_the_test_is_of_other_images():
    images, digits = dealt(None, 8, 5), read(None).train
    held = np.concatenate(images.train.targets)
    kept = np.delete(np.arange(len(digits.labels)), np.s_[::EVERY])
    of_class = np.bincount(digits.labels[kept])
    expected = np.where(np.arange(10) < 5, np.ceil(SHARE * of_class), of_class)
    np.testing.assert_array_equal(np.bincount(held), expected)
    assert len(images.train.inputs) == CLIENTS
    assert np.ptp([len(part) for part in images.train.inputs]) <= 1
    np.testing.assert_array_equal(np.bincount(images.classes), np.bincount(digits.labels[::EVERY]))
    together = np.concatenate(images.train.inputs)
    np.testing.assert_allclose([together.mean(), together.std()], [0, 1], atol=1e-4)
    # by a second route: undo the normalisation of a test image and find it in the file
    scaled = digits.scaled(slice(None, None, EVERY)).astype(np.float32).reshape(-1, 64)
    train = digits.scaled(kept).astype(np.float32)
    low, high = (images.inputs[3].min(), images.inputs[3].max())
    image = (images.inputs[3].ravel() - low) / (high - low)

    def nearest(rows):
        span = rows.max(1, keepdims=True) - rows.min(1, keepdims=True)
        return np.abs((rows - rows.min(1, keepdims=True)) / span - image).max(1).min()

    assert nearest(scaled) < 1e-5 < nearest(train)


def test_large_images_are_halved_by_means(tmp_path):
    find("dataset", "cifar-10").load().sample(tmp_path)
    data = read(tmp_path)
    whole, halved = (dealt(tmp_path, side, 0) for side in (32, 16))
    assert whole.train.example == (3, 32, 32)
    assert halved.train.example == (3, 16, 16)
    mean = whole.inputs.reshape(-1, 3, 16, 2, 16, 2).mean((3, 5))
    # each has a normalisation of its own: the same up to a line for each colour
    for colour in range(3):
        slope, shift = np.polyfit(mean[:, colour].ravel(), halved.inputs[:, colour].ravel(), 1)
        fitted = slope * mean[:, colour] + shift
        np.testing.assert_allclose(halved.inputs[:, colour], fitted, atol=1e-4)
    assert len(whole.classes) == len(data.splits["test"].labels)


def test_a_table_is_refused(tmp_path):
    find("dataset", "adult").load().sample(tmp_path)
    with pytest.raises(DriftproofError, match="whose examples have the shape"):
        dealt(tmp_path, 8, 0)


def test_the_learning_rate_drops_after_90_rounds():
    run = ImbalancedRun(rounds=120, net=SMALL, step_size=0.05)
    assert [(until, method.step_size) for until, method in run.phases] == [(90, 0.05), (120, 0.005)]
    assert ImbalancedRun(rounds=40, net=SMALL).phases[0][0] == 40


def test_what_is_recorded_is_what_the_model_says():
    """By a second route: the accuracy of the model's start, image by image."""
    run = ImbalancedRun(rounds=1, points=2, net=SMALL, shown=80)
    got, images, model = run.measured(), run.dealt, run.model
    start = torch.from_numpy(run.problem.start()).float()
    shown = [part[:10] for part in images.train.inputs]
    inputs = torch.from_numpy(np.concatenate(shown))
    classes = np.concatenate([part[:10] for part in images.train.targets])
    said = model(start, inputs).argmax(1).numpy()
    assert got["training"][0] == pytest.approx((said == classes).mean())
    assert got["drift"][0] == 0 < got["drift"][1]
    assert got["reals"] == [0, model.dim + 1]


@pytest.mark.parametrize("method", METHODS)
def test_the_other_objective_runs_as_well(method):
    run = ImbalancedRun(
        method=method, divergence="chi-square", rounds=1, points=2, net=SMALL, shown=8,
    )  # fmt: skip
    got = run.measured()
    assert got["bad_step"] is None
    assert np.isfinite(got["Φ"])


def test_worst_case_weights_are_those_of_the_exponential():
    """By a second route: p ∝ exp(ℓ/λ) of every image, λ = 1."""
    run = ImbalancedRun(method="PDSGD", rounds=1, points=2, net=Net(2, 1, 8, "group"), shown=8)
    problem, images = run.problem, run.dealt.train
    point = torch.from_numpy(problem.start()).float()
    held = torch.zeros((CLIENTS, max(map(len, images.targets)), 1))
    got = run._weighed(problem, point, held)
    inputs, classes = (
        torch.from_numpy(np.concatenate(parts)) for parts in (images.inputs, images.targets)
    )
    losses = torch.nn.functional.cross_entropy(
        problem.model(point, inputs), classes, reduction="none"
    )
    own = torch.cat([torch.full((len(part),), 1 / len(part) / CLIENTS) for part in images.targets])
    worst = own * losses.exp() / (own * losses.exp()).sum()
    expected = float((worst - own).abs().sum() / 2)
    assert got["worst weights"] == pytest.approx(expected, rel=1e-4)
    assert got["own weights"] == pytest.approx(0, abs=1e-6)
    held[:, 0] = np.log(2.0)  # one image of each client counts twice
    moved = run._weighed(problem, point, held)["own weights"]
    first = sum(1 / len(part) / CLIENTS for part in images.targets)
    assert moved == pytest.approx(first * (1 - first) / (1 + first), rel=1e-4)


def made(training, test, *, bad_step=None, points=9, seeds=8, run=None):
    """Return results that rise to an accuracy on every seed, a little different on each."""
    results = [
        {
            "training": np.linspace(0, training + seed / 1e4, points).tolist(),
            "test": [test + seed / 1e4],
            "bad_step": bad_step,
        }
        for seed in range(seeds)
    ]
    return Outcome(run, results)


@pytest.mark.parametrize(
    ("own", "others", "superior", "comparable"),
    [
        ((0.8, 0.5), (0.7, 0.49), "reproduced", "reproduced"),
        ((0.6, 0.5), (0.7, 0.40), "not reproduced", "reproduced"),  # better is no failure
        ((0.6, 0.4), (0.7, 0.50), "not reproduced", "not reproduced"),
        ((0.4, 0.3), (0.3, 0.30), "undecided", "undecided"),  # nothing has learned
    ],
)
def test_a_worse_method_is_not_said_to_be_better(own, others, superior, comparable):
    runs = {method: made(*others) for method in METHODS} | {"FedDRO": made(*own)}
    for objectives in (1, 2):  # eight seeds are enough for six comparisons
        judged = imbalanced_cifar.sentences(runs, "objective (4), KL", objectives)
        assert [each.verdict for each in judged] == [superior] * 3 + [comparable] * 3


def test_two_objectives_share_the_level():
    """The second smallest of eight differences is negative: p = 3/256, from 0.05/6 to 0.05/3."""
    others, own = (made(0.7, 0.5) for _ in range(2))
    for result, shift in zip(own.results, (1, -2, 3, 4, 5, 6, 7, 8), strict=True):
        result["training"][-1] += shift / 100
        result["test"][0] += shift / 1000 - imbalanced_cifar.MARGIN
    runs = dict.fromkeys(METHODS, others) | {"FedDRO": own}
    for objectives, verdict in ((1, "reproduced"), (2, "undecided")):
        judged = imbalanced_cifar.sentences(runs, "objective (4), KL", objectives)
        assert [each.verdict for each in judged] == [verdict] * 6


def test_a_run_that_diverged_counts():
    lost = made(0.9, 0.9, bad_step=3)
    assert not ends(lost, "training").any()


def test_saturation_is_told_from_gain():
    chosen = {
        f"I = {steps}": ImbalancedRun(rounds=24, points=9, net=SMALL, local_steps=steps)
        for steps in (1, 2, 4, 8, 16, 32)
    }
    training = zip(chosen.items(), (0.2, 0.4, 0.6, 0.8, 0.9, 0.9), strict=True)
    saturates = {label: made(end, 0.3, run=run) for (label, run), end in training}
    judged = local_updates.sentences(saturates)
    assert [s.verdict for s in judged if s.text.startswith("as I increases")] == (
        ["reproduced"] * 3 + ["undecided"] * 3
    )
    assert {s.verdict for s in judged if s.text.startswith("beyond a certain I")} == {"reproduced"}
    (drift,) = (s for s in judged if "client drift" in s.text)
    # I = 32 after 6 of 24 rounds, a quarter of the way; I = 8 after all of them
    assert "I = 8 against I = 32 after 192 steps" in drift.setting
    assert drift.why.startswith(f"mean difference {0.8 - 0.9 / 4 + 0.75 * 3.5e-4:+.4f}")
    assert drift.verdict == "reproduced"
    gains = saturates | {"I = 32": made(0.95, 0.5, run=chosen["I = 32"])}
    judged = local_updates.sentences(gains)
    still = [s for s in judged if s.text.startswith("beyond a certain I")]
    assert [s.verdict for s in still] == ["undecided"] * 2
    assert all(s.why.startswith("not up to I = 32, and the print does not say") for s in still)
