"""Local-SCGDM's sine waves and few-shot tasks: what their parts are, by second routes."""

import numpy as np
import pytest
import torch

from driftproof.synthetic.network_problems.adapted import AdaptedLosses
from driftproof.toolkit.discover import find
from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.federation import sampled_context
from driftproof.verifiers.experiment import WORST, Outcome, judge, smaller
from driftproof.verifiers.papers.scgdm.experiments import _sine_run as tasks
from driftproof.verifiers.papers.scgdm.experiments import sine_wave
from driftproof.verifiers.papers.scgdm.experiments._few_shot_run import (
    DRAWINGS,
    METHODS,
    TRAINED,
    FewShotRun,
    alphabets,
)
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


def test_the_tasks_mean_is_no_zero_function():
    """The phases cover half a circle only: it is 1.94 sin(x + 3π/5)."""
    mean = tasks.training_tasks(range(1)).values(tasks.GRID).mean((0, 1))[0]
    amplitude = 3 / (5 * np.sin(np.pi / 10))
    np.testing.assert_allclose(mean, amplitude * np.sin(tasks.GRID + 0.6 * np.pi), atol=1e-12)
    np.testing.assert_allclose(
        tasks.unseen_task().values(tasks.GRID)[0, 0, 0], 2.5 * np.sin(tasks.GRID + 0.3 * np.pi)
    )


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
    worse = SineRun(rounds=4, points=2).with_(step_factor=1e8)
    fine = SineRun(rounds=2, points=2)
    asked = by_seed({"worse": worse, "fine": fine}, 2)
    done = drained(asked, lambda units: [(u.work(), 0.0) for u in units])
    assert [len(of.results) for of in done.values()] == [2, 2]
    assert len(done["worse"].bad_steps) == 2
    assert not done["fine"].bad_steps
    assert done["worse"].last("training").max() < -80  # a loss that no finite run has
    assert len(done["fine"].results[0]["function"]) == len(tasks.GRID)


def made(scale, start=9.0):
    """Return eight seeds' losses that end near a number."""
    results = [
        {
            "bad_step": None,
            "training": [start, scale, scale * np.exp(0.01 * s)],
            "validation": [start, scale, scale * np.exp(0.02 * s)],
            **{f"error {steps}": scale for steps in sine_wave.STEPS_SHOWN},
        }
        for s in np.random.default_rng(0).normal(size=8)
    ]
    return Outcome(SineRun(rounds=2, points=3), results)


def verdicts(says, runs):
    return {sentence.verdict for sentence in judge(says, runs)}


def test_what_is_worse_is_not_said_to_be_better():
    """Negative controls, on made results."""
    better, great = sine_wave.outperforms("", lambda method: method)
    for own, wanted in (
        (0.5, ("reproduced", "reproduced")),
        (0.9, ("reproduced", "not reproduced")),
        (2.0, ("not reproduced", "not reproduced")),
    ):
        runs = dict.fromkeys(sine_wave.BASELINES, made(1.0)) | {sine_wave.OURS: made(own)}
        assert tuple(verdicts(says, runs) for says in (better, great)) == tuple(
            {each} for each in wanted
        )
    lost = Outcome(made(1).run, [{"bad_step": 3, "training": [1.0], "validation": [1.0]}] * 8)
    runs = dict.fromkeys(sine_wave.BASELINES, made(1.0)) | {sine_wave.OURS: lost}
    assert verdicts(better, runs) == {"not reproduced"}


def test_every_sentence_of_the_sine_waves_has_its_runs():
    runs = sine_wave._runs(SineRun(rounds=300))
    assert {
        key
        for says in sine_wave.SAYS
        for pair in says.pairs
        for key in pair
        if isinstance(key, str)
    } <= set(runs)
    some = {key: Outcome(run.but(points=3), made(1.0).results) for key, run in runs.items()}
    some[sine_wave._value("p", 1)] = made(1.5)
    (periods,) = (says for says in sine_wave.SAYS if "different p" in says.text)
    assert verdicts(periods, some) == {"not reproduced", "reproduced"}
    (diverges,) = (says for says in sine_wave.SAYS if "diverges" in says.text)
    grown = dict.fromkeys(runs, made(1.0, start=0.5)) | {"Local-SCGD, γ = 0.1": made(0.1)}
    assert verdicts(diverges, grown) == {"reproduced", "not reproduced"}
    zero = dict.fromkeys(runs, made(9.0, start=20.0))  # no better than the function 0
    for says in sine_wave.outperforms("", lambda method: method):
        assert verdicts(says, zero | {sine_wave.OURS: made(8.0)}) == {"undecided"}


def test_few_shot_sentences_have_negative_controls():
    def ended(loss, accuracy):
        results = [
            {
                "bad_step": None,
                "training loss": [9, loss, loss + k / 1e3],
                "validation accuracy": [0.1, accuracy, accuracy + k / 1e3],
            }
            for k in range(8)
        ]
        return Outcome(SMALL.but(rounds=2, points=3), results)

    def said(own, case=(5, 1), **given):
        runs = {(method, f"{case[0]}-way {case[1]}-shot"): ended(1.0, 0.5) for method in METHODS}
        runs["Local-SCGDM", f"{case[0]}-way {case[1]}-shot"] = own
        return [s.verdict for says in _sentences(case, 2) for s in judge(says, runs, **given)]

    assert set(said(ended(1.0, 0.5))[:6]) == {"undecided"}
    assert set(said(ended(0.5, 0.8))) == {"reproduced"}
    assert set(said(ended(1.5, 0.3))) == {"not reproduced"}
    assert set(said(ended(0.95, 0.52))) == {"reproduced", "not reproduced"}
    assert set(said(ended(0.5, 0.8), size=smaller({"filters": (8, 64)}))) == {"undecided"}
    assert set(said(ended(1.5, 0.3), case=(5, 5))) == {"undecided"}  # settings of our own


def test_plain_pre_training_is_zero_or_not():
    def functions(size):
        return Outcome(SineRun(rounds=1), [{"function": [size * (1 + k / 10)]} for k in range(8)])

    assert sine_wave.pre_training(functions(0.01))[0].verdict == "reproduced"
    assert sine_wave.pre_training(functions(1.3))[0].verdict == "not reproduced"
    lost = Outcome(SineRun(rounds=1), [{"bad_step": 1}] * 8)
    (sentence,) = sine_wave.pre_training(lost)
    assert sentence.verdict == "not reproduced"
    assert sentence.effect < -WORST / 2


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
