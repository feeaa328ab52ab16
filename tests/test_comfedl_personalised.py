"""Personalised learning by the ComFedL papers: data, personal models, and what is judged."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from driftproof.toolkit.datasets.adult import Adult
from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.federation import run, sampled_context
from driftproof.verifiers.experiment.sentence import LEVEL
from driftproof.verifiers.papers.comfedl.experiments import (
    damaml_cifar,
    maml_cifar,
    personalised_cifar,
)
from driftproof.verifiers.papers.comfedl.experiments._dominant_classes import Images, dealt, smaller
from driftproof.verifiers.papers.comfedl.experiments._personal_models import (
    Kind,
    better,
    extreme,
    robust,
)
from driftproof.verifiers.papers.comfedl.experiments._personalised import (
    NAMES,
    TEMPERATURES,
    PersonalisedRun,
)
from driftproof.verifiers.papers.comfedl.experiments.damaml_cifar import gradients
from driftproof.verifiers.papers.comfedl.experiments.personalised_cifar import (
    JOURNAL,
    OTHERS,
    _diverged,
    _diverging,
)

SMALL = Images(training=20, validation=10, adapting=8, side=8)
RUN = PersonalisedRun(rounds=2, points=3, images=SMALL, filters=2, local_steps=2, batch=4)


def test_training_and_validation_have_the_same_shares_and_no_image_in_common():
    held = dealt(None, Images(50, 50, 10, 8), 0.28, 3)
    for client in range(10):
        for part in (held.training, held.validation):
            counts = np.bincount(part.targets[client], minlength=10)
            assert counts[client] == 14
            assert set(np.delete(counts, client)) == {4}
    rows = np.concatenate([*held.training.inputs, *held.validation.inputs]).reshape(1000, -1)
    assert len(np.unique(rows, axis=0)) == 1000  # digits repeat no image
    for few, all_images in zip(held.adapting.inputs, held.training.inputs, strict=True):
        np.testing.assert_array_equal(few, all_images[:10])
    assert "total variation 0.18" in held.told


def test_a_table_is_refused(tmp_path):
    Adult.sample(tmp_path)
    with pytest.raises(DriftproofError, match="images, for a network of convolutions"):
        dealt(tmp_path, SMALL, 0.28, 0)


def test_a_picture_is_made_smaller_by_means_of_blocks():
    pictures = np.random.default_rng(0).uniform(size=(2, 3, 9, 8))
    small = smaller(pictures, 4)
    assert small.shape == (2, 3, 4, 4)
    assert small[1, 2, 3, 0] == pytest.approx(pictures[1, 2, 6:8, :2].mean())
    np.testing.assert_array_equal(smaller(pictures, 5), pictures)


@pytest.mark.parametrize("method", NAMES)
def test_personal_models_are_scored_as_in_plain_pytorch(method):
    """Two routes: what is recorded after a run, and a loop over clients with autograd."""
    of = RUN.but(method=method, precision="double", **JOURNAL.get(method, {}))
    if method == "damaml":
        of = of.but(step_size=1e-4)
    whole, held = of.measured(), of.dealt
    assert len(whole["accuracy"]) == 3
    ctx = sampled_context(of.problem, of.keys, replicates=1)
    state = run(of.problem, of.algorithm, ctx, rounds=2).state
    losses, right = [], []
    for client in range(10):
        own = state.w[client, :, 0]
        if method == "ditto":
            own = state.v[client, :, 0]
        else:
            at = own.clone().requires_grad_()
            inputs, classes = scaled(held.adapting, client)
            torch.nn.functional.cross_entropy(of.model(at, inputs), classes).backward()
            own = own - (of.step_size if method == "fedavg" else of.adaptation) * at.grad
        inputs, classes = scaled(held.validation, client)
        outputs = of.model(own, inputs)
        losses.append(float(torch.nn.functional.cross_entropy(outputs, classes)))
        right.append(float((outputs.argmax(1) == classes).double().mean()))
    assert whole["loss"][-1] == pytest.approx(np.mean(losses), rel=1e-6)
    assert whole["accuracy"][-1] == pytest.approx(np.mean(right))
    assert whole["worst"][-1] == pytest.approx(min(right))


def test_methods_are_told_apart_and_share_their_start():
    ends = {m: RUN.but(method=m, **JOURNAL.get(m, {})).measured() for m in NAMES}
    assert ends["maml"]["loss"][0] == ends["tr-maml"]["loss"][0]  # the same inner learning rate
    assert len({tuple(whole["loss"]) for whole in ends.values()}) == len(NAMES)


def test_the_beginning_of_a_run_is_the_shorter_run():
    whole = Kind(RUN, [RUN.measured()])
    short = RUN.but(rounds=1, points=2)
    assert whole.until(1).results == [short.measured()]
    assert whole.until(1).run == short


def test_a_step_of_damaml_is_that_many_gradients_long():
    """Two routes: exp(f/γ)/γ, and the first step of both methods at the losses of the start."""
    steps = {}
    for method in ("maml", "damaml"):
        of = RUN.but(method=method, precision="double", step_size=1e-9)
        problem = of.problem
        start = torch.from_numpy(problem.start())[:, None]
        steps[method] = problem.client_gradients(start)[..., 0]
        losses = problem.oracles(torch.float64).inner(start[None].expand(10, -1, -1), None)[0]
    value = RUN.but(method="maml").problem.oracles(torch.float64).outer_value(losses)[:, 0]
    ratio = steps["damaml"].norm(dim=1) / steps["maml"].norm(dim=1)
    torch.testing.assert_close(ratio, torch.exp(value / 0.5) / 0.5)
    assert gradients(0.5, 10) == pytest.approx(200)


def scaled(part, client):
    """Return a client's images as numbers, and its class numbers."""
    inputs = torch.from_numpy(part.inputs[client]) / part.levels
    return inputs.double(), torch.from_numpy(part.targets[client])


def kind(level, rise=0.0, seeds=7, bad=None):
    """Return results of curves that end at a level and rise by so much in the last of 4 rounds."""
    results = [
        {
            "accuracy": [0.1, 0.1, 0.1, level - rise + seed / 1e4, level + seed / 1e4],
            "loss": [2.0, 2.0, 2.0, 2.3 - level, 2.3 - level], "bad_step": bad,
        }
        for seed in range(seeds)
    ]  # fmt: skip
    if bad is not None:
        results = [{k: v[:1] if isinstance(v, list) else v for k, v in r.items()} for r in results]
    return Kind(RUN.but(rounds=4, points=5), results)


def test_the_better_is_said_to_be_better_unless_it_is_early():
    def verdict(one, other):
        return better("better", {"one": one, "other": other}, comparisons=3).verdict

    assert verdict(kind(0.5), kind(0.4)) == "reproduced"
    assert verdict(kind(0.4), kind(0.5)) == "not reproduced"
    assert verdict(kind(0.5), kind(0.4, rise=0.2)) == "undecided"  # it may catch up
    assert verdict(kind(0.5, rise=0.2), kind(0.4)) == "reproduced"  # it may not
    assert verdict(kind(0.5, seeds=4), kind(0.4, seeds=4)) == "undecided"
    lost = better("better", {"one": kind(0.9, bad=3), "other": kind(0.4)}, comparisons=2)
    assert lost.verdict == "not reproduced"
    assert "not finite from local step 3 on 7 seeds" in lost.setting
    assert better("", {"a": kind(0.5), "b": kind(0.4)}, by="loss", comparisons=2).verdict == (
        "reproduced"
    )


def test_two_runs_that_overflow_do_not_show_that_a_method_is_robust():
    overflowing, finite = kind(0.1, bad=1), kind(0.5)
    (judged,) = robust("", {0.1: overflowing, 0.5: overflowing}, 0.5, "")
    assert judged.verdict == "undecided"
    assert "7 of 7 seeds neither" in judged.why
    (judged,) = robust("", {0.1: overflowing, 0.5: finite}, 0.5, "")
    assert judged.verdict == "not reproduced"


def test_the_best_is_better_than_each_other():
    kinds = {"a": kind(0.5), "b": kind(0.6), "c": kind(0.3)}
    for label, best, verdict in (
        ("a", True, "not reproduced"), ("b", True, "reproduced"), ("c", False, "reproduced"),
        ("a", False, "not reproduced"),
    ):  # fmt: skip
        made = extreme("", label, kinds, by="accuracy", best=best, comparisons=2)
        assert made.verdict == verdict, label
    assert made.why.startswith("c: mean difference")  # who is worse than the supposed worst
    assert "b: " not in made.why
    tied = kinds | {"d": kind(0.6)}
    assert extreme("", "b", tied, by="accuracy", best=True, comparisons=2).verdict == "undecided"


def test_noise_does_not_refute_that_one_of_equal_methods_is_best():
    """By simulation: at most 5 in 100 expected, as no method is better than the first."""
    random, base = np.random.default_rng(18), Kind(RUN.but(rounds=1, points=2), [])
    verdicts = []
    for _ in range(60):
        ends = random.normal(0.5, 0.01, (5, 9))
        kinds = {
            str(label): Kind(base.run, [{"accuracy": [0.1, end], "bad_step": None} for end in own])
            for label, own in enumerate(ends)
        }
        verdicts.append(extreme("", "0", kinds, by="accuracy", best=True, comparisons=1).verdict)
    assert verdicts.count("not reproduced") <= 6  # P(Binomial(60, 0.05) > 6) = 0.03
    assert verdicts.count("reproduced") <= 6


def test_there_are_seeds_enough_to_decide_either_way():
    """The least p is 2^(−seeds); a margin is left on one of two sides."""
    studied = 2 * (len(TEMPERATURES) - 1)
    for profile in ("quick", "paper"):
        assert 0.5 ** personalised_cifar.SIZES[profile].seeds <= LEVEL / (4 * len(OTHERS))
        assert 0.5 ** damaml_cifar.SIZES[profile].seeds <= LEVEL / studied / 2
        assert 0.5 ** maml_cifar.SIZES[profile].seeds <= LEVEL / 3


def test_a_parameter_that_matters_is_not_called_robust():
    by_gamma = {0.1: kind(0.2), 0.5: kind(0.5), 1.0: kind(0.505), 5.0: kind(0.45, rise=0.2)}
    verdicts = [s.verdict for s in robust("", by_gamma, 0.5, "")]
    assert verdicts == ["not reproduced", "reproduced", "undecided"]
    # seven seeds refute one of three comparisons, and not one of six
    shared = [s.verdict for s in robust("", by_gamma, 0.5, "", studies=2)]
    assert shared == ["undecided", "reproduced", "undecided"]


def test_divergence_is_counted():
    assert not _diverged(kind(0.5)).any()
    assert _diverged(kind(0.5, bad=2)).all()
    assert _diverged(kind(0.2)).all()  # the loss ends above its start
    some = {name: np.full(7, name in "abc") for name in "abcde"}
    assert _diverging(some, "")[0].verdict == "reproduced"
    assert _diverging(some | {"c": np.zeros(7, bool)}, "")[0].verdict == "not reproduced"
