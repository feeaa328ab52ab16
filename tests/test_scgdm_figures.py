"""Local-SCGDM's sine waves and few-shot tasks: what their parts are, by second routes."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from driftproof.synthetic.network_problems.adapted import AdaptedLosses
from driftproof.toolkit.discover import find
from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.federation import sampled_context
from driftproof.verifiers.experiment import Outcome
from driftproof.verifiers.papers.scgdm.experiments import _sine_tasks as tasks
from driftproof.verifiers.papers.scgdm.experiments import sine_wave
from driftproof.verifiers.papers.scgdm.experiments._alphabets import DRAWINGS, alphabets
from driftproof.verifiers.papers.scgdm.experiments._few_shot_run import METHODS, TRAINED, FewShotRun
from driftproof.verifiers.papers.scgdm.experiments._sine_run import SineRun, by_seed
from driftproof.verifiers.papers.scgdm.experiments.omniglot import sentences as _sentences

SMALL = FewShotRun(rounds=1, filters=2, side=14, queries=2, test_tasks=2, points=2)


def test_tasks_are_dealt_evenly_and_otherwise_for_every_seed():
    waves = tasks.training_tasks(range(3))
    assert waves.amplitude.shape == (5, 5, 3)
    dealt = np.stack([waves.amplitude, waves.phase * 5 / np.pi], -1).round().astype(int)
    for seed in range(3):
        pairs = {tuple(pair) for pair in dealt[:, :, seed].reshape(-1, 2)}
        assert pairs == {(a, b) for a in tasks.VALUES for b in tasks.VALUES}
    assert (dealt[..., 0, :] != dealt[..., 1, :]).any()
    unseen = tasks.unseen_tasks(range(2))
    assert unseen.amplitude.shape == (1, 600, 2)
    assert 0.1 <= unseen.amplitude.min() < 0.3
    assert 4.8 < unseen.amplitude.max() <= 5
    assert unseen.phase.min() >= 0
    assert np.pi * 0.97 < unseen.phase.max() <= np.pi


def test_the_tasks_mean_is_the_sine_wave_of_the_closed_form():
    mean = tasks.training_tasks(range(1)).values(tasks.GRID).mean((0, 1))[0]
    np.testing.assert_allclose(mean, tasks.mean_curve(tasks.GRID), atol=1e-12)
    np.testing.assert_allclose(tasks.unseen_task().values(tasks.GRID)[0, 0, 0],
                               2.5 * np.sin(tasks.GRID + 0.3 * np.pi))  # fmt: skip


def test_adapting_is_a_step_of_gradient_descent():
    """On one task: plain PyTorch from the same ten points."""
    run = SineRun(rounds=1, rate=0.01)
    ctx = run.context(run.problem)
    adapting = run.adapting(tasks.unseen_task(), ctx, "unseen")
    models = torch.from_numpy(run.problem.start()).float()
    x = (10 * adapting._support[0] - 5).view(-1, 1)
    at = models[:, 0].clone()
    for _ in range(3):
        at.requires_grad_()
        loss = (run.model(at, x)[:, 0] - 2.5 * torch.sin(x[:, 0] + 0.3 * np.pi)).square().mean()
        at = (at - 0.01 * torch.autograd.grad(loss, at)[0]).detach()
    torch.testing.assert_close(adapting.after(models, 3)[0, :, 0], at, rtol=1e-4, atol=1e-5)
    assert (adapting.after(models, 1)[0, :, 0] - at).abs().max() > 1e-4


def drained(steps, units_to_results):
    """Answer a generator that asks for units."""
    try:
        asked = next(steps)
        while True:
            asked = steps.send(units_to_results(asked))
    except StopIteration as stop:
        return stop.value


def test_a_seed_that_diverges_is_told_apart_from_the_others():
    worse = SineRun(rounds=4, points=2, seeds=2).with_(step_factor=1e8)
    fine = SineRun(rounds=2, points=2, seeds=2)
    done = drained(by_seed([worse, fine]), lambda units: [(u.work(), 0.0) for u in units])
    assert [len(done[run].results) for run in (worse, fine)] == [2, 2]
    assert all(told["bad_step"] is not None for told in done[worse].results)
    assert all(told["bad_step"] is None for told in done[fine].results)
    assert sine_wave.end(done[worse], "training").min() > 80  # a loss that no finite run has
    assert len(done[fine].results[0]["function"]) == len(tasks.GRID)


def test_what_is_worse_is_not_said_to_be_better():
    """Negative controls, on made results."""

    def made(scale):
        seeds = np.random.default_rng(0).normal(size=8)
        results = [
            {"bad_step": None, "training": [1.0, scale * np.exp(0.01 * s)],
             "validation": [1.0, scale * np.exp(0.02 * s)], "error 1": scale}
            for s in seeds
        ]  # fmt: skip
        return Outcome(None, results)

    runs = {"Local-SCGDM": made(0.5)} | dict.fromkeys(sine_wave.BASELINES, made(1.0))
    assert {s.verdict for s in sine_wave.of_methods(runs, 0.001)} == {"reproduced"}
    runs = {"Local-SCGDM": made(2.0)} | dict.fromkeys(sine_wave.BASELINES, made(1.0))
    assert {s.verdict for s in sine_wave.of_methods(runs, 0.001)} == {"not reproduced"}
    narrow = {"Local-SCGDM": made(0.9)} | dict.fromkeys(sine_wave.BASELINES, made(1.0))
    verdicts = [s.verdict for s in sine_wave.of_methods(narrow, 0.001)]
    assert verdicts == 6 * ["reproduced"] + 6 * ["not reproduced"]
    runs = {5: made(1.0), 1: made(1.5), 10: made(1.0)}
    periods = sine_wave._against_others("", "p", runs, 5, alike=True)
    assert [s.verdict for s in periods] == ["not reproduced", "reproduced"] * 2


def test_few_shot_sentences_have_negative_controls():
    def made(loss, accuracy):
        results = [
            {"bad_step": None, "training loss": [loss + k / 1e3],
             "validation accuracy": [accuracy + k / 1e3]} for k in range(7)
        ]  # fmt: skip
        return Outcome(None, results)

    runs = {method: made(1.0, 0.5) for method in METHODS}
    assert {s.verdict for s in _sentences((5, 1), runs)[:6]} == {"undecided"}
    better = runs | {"Local-SCGDM": made(0.5, 0.8)}
    assert {s.verdict for s in _sentences((5, 1), better)} == {"reproduced"}
    worse = runs | {"Local-SCGDM": made(1.5, 0.3)}
    assert {s.verdict for s in _sentences((5, 1), worse)} == {"not reproduced"}

    # of what is smaller than printed, only what the settings alone imply is kept
    small = _sentences((5, 1), worse, smaller="8 of 64 filters")
    kept = [s for s in small if s.verdict == "not reproduced"]
    assert len(kept) == 4
    assert all("great margin" in s.text and "by the printed settings" in s.why for s in kept)
    assert {s.verdict for s in _sentences((5, 1), better, smaller="x")} == {"undecided"}
    others = _sentences((5, 5), worse, cases=2)
    assert {s.verdict for s in others} == {"undecided"}
    assert all("setting of our own" in s.text for s in others)


def test_what_diverged_is_the_worst_and_is_no_nan():
    lost = [{"bad_step": 3, "training": [1.0], "validation": [1.0]}] * 8
    over = [{"bad_step": None, "training": [1.0, np.nan], "validation": [1.0, np.inf]}] * 8
    fine = Outcome(None, [{"bad_step": None, "training": [1.0, 1.0], "validation": [1.0, 1.0]}] * 8)
    for results in (lost, over):
        made = Outcome(None, results)
        for loss in sine_wave.LOSSES:
            assert sine_wave.end(made, loss) == pytest.approx(np.log(sine_wave.WORST))
        assert bool(sine_wave._not_paired({"FedAvg": made})) == (results is lost)
        assert sine_wave._pre_training(made).curves
        runs = {"Local-SCGDM": made} | dict.fromkeys(sine_wave.BASELINES, fine)
        for rate in sine_wave.RATES:
            sentences = sine_wave.of_methods(runs, rate)
            assert {s.verdict for s in sentences} == {"not reproduced"}
            assert all(("our own" in s.text) == (rate != 0.001) for s in sentences)


def test_generated_alphabets_are_characters_drawn_several_times():
    made = alphabets(None, 14)
    assert len(made.images) == 8
    images = made.images[0].astype(float)
    assert images.shape == (12, DRAWINGS, 14, 14)
    within = np.abs(images[:, 0] - images[:, 1]).mean()
    between = np.abs(images[:-1, 0] - images[1:, 0]).mean()
    assert 0 < within < 0.8 * between  # drawings of a character are alike, and not the same


def test_alphabets_are_clients_or_validation():
    training, others = SMALL.dealt
    assert len(training) == round(TRAINED * 8)
    assert len(training) + len(others) == 8
    every = {image.tobytes() for image in (*training, *others)}
    assert len(every) == 8
    assert any(
        not np.array_equal(a, b)
        for a, b in zip(training, SMALL.but(partition=1).dealt[0], strict=True)
    )


def test_a_models_accuracy_is_that_of_its_adapted_models():
    """By a second route: a loop over tasks in plain PyTorch."""
    problem = SMALL.problem
    ctx = SMALL.context(problem)
    point = torch.from_numpy(problem.start()).float()
    loss, accuracy = SMALL._tested(point, SMALL.dealt[0], "training", ctx)
    oracles = problem.oracles(torch.float32)
    assert isinstance(problem, AdaptedLosses)
    again = sampled_context(problem, (*SMALL.keys, "training"), replicates=2, dtype=torch.float32)
    draw = again.draw(oracles.inner_law(1), "xi")
    losses, right = [], []
    support, query = (
        next(data.held(torch.float32, "cpu", None).pieces(draw, 2))
        for data in (problem.data, problem.query)
    )
    for unit in range(10):
        at = point.clone().requires_grad_()
        inner = torch.nn.functional.cross_entropy(
            SMALL.model(at, support.inputs[unit]), support.targets[unit]
        )
        adapted = at - 0.4 * torch.autograd.grad(inner, at)[0]
        outputs = SMALL.model(adapted, query.inputs[unit]).detach()
        losses.append(float(torch.nn.functional.cross_entropy(outputs, query.targets[unit])))
        right.append(float((outputs.argmax(1) == query.targets[unit]).float().mean()))
    assert loss == pytest.approx(np.mean(losses), rel=1e-4)
    assert accuracy == pytest.approx(np.mean(right), abs=0.021)  # an argmax may be a tie


def test_a_table_is_no_omniglot(tmp_path):
    find("dataset", "mnist").load().sample(tmp_path)
    with pytest.raises(DriftproofError, match="grouped by alphabets"):
        alphabets(tmp_path, 14)


def test_omniglots_files_are_read(tmp_path):
    """The sample has two alphabets of one character to train on, and one in the test."""
    find("dataset", "omniglot").load().sample(tmp_path)
    made = alphabets(tmp_path, 28)
    assert [images.shape for images in made.images] == [(1, DRAWINGS, 28, 28)] * 3
    assert all(0 < images.mean() < 50 for images in made.images)  # a bar of ink on paper
