"""FedDRO's figures 1 and 2: who holds what, what is judged of it, and both at smoke size."""

import numpy as np
import pytest
import torch

from driftproof.toolkit.dataset import read
from driftproof.toolkit.discover import find
from driftproof.verifiers.experiment import Outcome, judge
from driftproof.verifiers.papers.feddro.experiments import imbalanced_cifar, local_updates
from driftproof.verifiers.papers.feddro.experiments._step_imbalance import (
    CLIENTS,
    METHODS,
    SHARE,
    ImbalancedRun,
    Net,
    dealt,
    smaller,
)

SMALL = Net(2, 1, 8)


def test_rare_classes_are_few_and_the_test_is_of_other_images():
    images, (train, choosing, judging) = dealt(None, 8, 5), read(None).apart
    held = np.concatenate(images.train.targets)
    of_class = np.bincount(train.labels)
    expected = np.where(np.arange(10) < 5, np.ceil(SHARE * of_class), of_class)
    np.testing.assert_array_equal(np.bincount(held), expected)
    assert len(images.train.inputs) == CLIENTS
    assert np.ptp([len(part) for part in images.train.inputs]) <= 1
    np.testing.assert_array_equal(np.bincount(images.classes), np.bincount(judging.labels))
    search = dealt(None, 8, 5, choosing=True)
    np.testing.assert_array_equal(np.bincount(search.classes), np.bincount(choosing.labels))
    together = np.concatenate(images.train.inputs)
    np.testing.assert_allclose([together.mean(), together.std()], [0, 1], atol=1e-4)
    # by a second route: undo the normalisation of a test image and find it in the file
    low, high = (images.inputs[3].min(), images.inputs[3].max())
    image = (images.inputs[3].ravel() - low) / (high - low)

    def nearest(split):
        rows = split.scaled().astype(np.float32).reshape(-1, 64)
        span = rows.max(1, keepdims=True) - rows.min(1, keepdims=True)
        return np.abs((rows - rows.min(1, keepdims=True)) / span - image).max(1).min()

    assert nearest(judging) < 1e-5 < min(nearest(train), nearest(choosing))


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
        method=method, divergence="chi-square", rounds=1, points=2, net=SMALL, shown=8
    )
    got = run.measured()
    assert got["bad_step"] is None
    assert np.isfinite(got["drift"]).all()


def made(training, test, *, rare=0.5, run=None):
    """Return results that rise to an accuracy on every seed, a little different on each."""
    run = run or ImbalancedRun(rounds=8, points=9, net=SMALL)
    results = [
        {
            "training": np.linspace(0, training * (1 + seed / 1e4), 9).tolist(),
            "test": np.linspace(0, test * (1 + seed / 1e4), 9).tolist(),
            "rare": rare,
            "bad_step": None,
        }
        for seed in range(8)
    ]
    return Outcome(run, results)


ON = ["objective (4), KL"]


def judged(runs, objectives=ON):
    keyed = {(method, on): of for method, of in runs.items() for on in objectives}
    says = imbalanced_cifar.sentences(objectives, 10)
    return [each.verdict for one in says[:2] for each in judge(one, keyed)]


@pytest.mark.parametrize(
    ("own", "others", "superior", "comparable"),
    [
        ((0.8, 0.5), (0.4, 0.49), "reproduced", "reproduced"),
        ((0.4, 0.5), (0.8, 0.2), "not reproduced", "reproduced"),  # better is no failure
        ((0.4, 0.2), (0.8, 0.5), "not reproduced", "not reproduced"),
        ((0.2, 0.1), (0.1, 0.1), "undecided", "undecided"),  # one class for every image
    ],
)
def test_a_worse_method_is_not_said_to_be_better(own, others, superior, comparable):
    runs = {method: made(*others) for method in METHODS} | {"FedDRO": made(*own)}
    assert judged(runs) == [superior] * 3 + [comparable] * 3
    two = judged(runs, [*ON, "objective (5), χ²"])  # eight seeds are enough for six comparisons
    assert two == [superior] * 6 + [comparable] * 6


def test_models_without_a_rare_class_decide_nothing():
    runs = dict.fromkeys(METHODS, made(0.4, 0.2, rare=0.0))
    assert judged(runs | {"FedDRO": made(0.8, 0.5, rare=0.0)}) == ["undecided"] * 6


def test_what_is_smaller_than_printed_is_said():
    assert "2 of 16 channels, 8 of 20 layers" in smaller(ImbalancedRun(rounds=1, net=SMALL))


def test_saturation_is_told_from_gain():
    chosen = {
        f"I = {steps}": ImbalancedRun(rounds=24, points=9, net=SMALL, local_steps=steps)
        for steps in (1, 2, 4, 8, 16, 32)
    }
    training = zip(chosen.items(), (0.2, 0.4, 0.6, 0.8, 0.9, 0.9), strict=True)
    saturates = {label: made(end, 0.3, run=run) for (label, run), end in training}
    _, no_further, _ = local_updates.sentences(list(chosen), 10)
    assert {s.verdict for s in judge(no_further, saturates)} == {"reproduced"}
    ((where, (early, late)),) = local_updates.at_equal_steps(saturates).items()
    # I = 32 after 6 of 24 rounds, a quarter of the way; I = 8 after all of them
    assert "I = 8 against I = 32 after 192 steps" in where
    assert (early - late).mean() == pytest.approx((0.8 - 0.9 / 4) * (1 + 3.5e-4))
    gains = saturates | {"I = 32": made(0.95, 0.5, run=chosen["I = 32"])}
    still = judge(no_further, gains)
    assert [s.verdict for s in still] == ["undecided"] * 2
    assert all("the print does not say from which I on" in s.why for s in still)
