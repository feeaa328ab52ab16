"""Tasks that are drawn: few-shot classification and sine waves."""

from dataclasses import replace
from math import pi

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from driftproof.synthetic.network_problems.adapted import AdaptedLosses
from driftproof.synthetic.network_problems.few_shot import TURNS, FewShot
from driftproof.synthetic.network_problems.sine_waves import REACH, SineWaves
from driftproof.toolkit.algorithms import LocalBSGD, LocalSCGD, LocalSCGDM
from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.federation import run, sampled_context
from driftproof.toolkit.networks import FourConvolutions, Perceptron

SIDE, DRAWINGS = 4, 6


def numbered(characters=(3, 5)):
    """Return images that tell client, character, drawing and how they were turned."""
    images = []
    for client, count in enumerate(characters):
        part = np.zeros((count, DRAWINGS, SIDE, SIDE), np.uint8)
        part[..., 0, 0] = 255  # the corner tells the turn
        part[..., 1, 1] = part[..., 1, 2] = part[..., 2, 1] = part[..., 2, 2] = (
            100 * client + 10 * np.arange(count)[:, None] + np.arange(DRAWINGS)
        )
        images.append(part)
    return images


def told(image):
    """Return (client, character, drawing, turn) of an image that was drawn."""
    pixels = (image[0] * 255).round().int()
    code = int(pixels[1, 1])
    corners = [int(pixels[i, j]) == 255 for i, j in ((0, 0), (-1, 0), (-1, -1), (0, -1))]
    return code // 100, code % 100 // 10, code % 10, corners.index(True)


@settings(max_examples=20, deadline=None)
@given(ways=st.integers(2, 12), shots=st.integers(1, 3), queries=st.integers(1, 3))
def test_support_and_query_of_a_draw_are_one_task(ways, shots, queries):
    support = FewShot(numbered(), ways, shots, queries)
    sources = [
        replace(support, part=part).held(torch.float64, "cpu", None)
        for part in ("support", "query")
    ]
    law = sources[0].law(1)
    assert law == sources[1].law(1)
    random = np.random.default_rng([ways, shots, queries])
    draw = torch.from_numpy(random.random((2, law.count, 2)))
    batches = [next(source.pieces(draw, 2)) for source in sources]
    for unit in range(4):
        seen = [
            [(*told(image), int(label)) for image, label in zip(*pair, strict=True)]
            for pair in ((batch.inputs[unit], batch.targets[unit]) for batch in batches)
        ]
        of_label = {}
        for client, character, _, turn, label in (*seen[0], *seen[1]):
            assert client == unit // 2
            of_label.setdefault(label, set()).add((character, turn))
        assert set(of_label) == set(range(ways))
        assert all(len(classes) == 1 for classes in of_label.values())
        assert len({next(iter(c)) for c in of_label.values()}) == ways  # all classes differ
        drawn = [(character, turn, drawing) for _, character, drawing, turn, _ in seen[0] + seen[1]]
        assert len(set(drawn)) == len(drawn) == ways * (shots + queries)


def test_every_class_is_drawn_as_often():
    source = FewShot(numbered((3,)), 2, 1, 1).held(torch.float64, "cpu", None)
    random = np.random.default_rng(0)
    draw = torch.from_numpy(random.random((1, source.law(1).count, 4000)))
    batch = next(source.pieces(draw, 4000))
    found = [told(image)[1::2] for image in batch.inputs[:, 0]]
    _, counts = np.unique(found, axis=0, return_counts=True)
    assert len(counts) == 3 * TURNS
    expected = 4000 / len(counts)
    assert ((counts - expected) ** 2 / expected).sum() < 31  # chi-square, 11 degrees, p = 0.001


@pytest.mark.parametrize(
    "algorithm",
    [
        LocalBSGD(samples="one"),
        LocalSCGD(samples="one", evaluate_at="after", inner_momentum=1.0),
        LocalSCGDM(
            samples="one",
            step_size=1.0,
            inner_momentum=0.9999999,
            momentum=0.9999999,
            step_factor=0.1,
            local_steps=1,
        ),
    ],
)
def test_one_step_is_that_of_the_tasks_own_query(algorithm):
    """By a second route: differentiate the query loss through the support step."""
    data = FewShot(numbered(), 3, 1, 2)
    model = FourConvolutions(filters=2, blocks=1).model((1, SIDE, SIDE), 3)
    problem = AdaptedLosses(
        model=model, data=data, query=replace(data, part="query"), adaptation=0.4
    )
    ctx = sampled_context(problem, ("test",), replicates=1)
    made = run(problem, algorithm, ctx, rounds=1).state.x
    oracles = problem.oracles(torch.float64)
    ctx.t = 0
    draw = ctx.draw(oracles.inner_law(1), "xi")
    start, slopes = torch.from_numpy(problem.start()), []
    support, query = (
        next(replace(data, part=part).held(torch.float64, "cpu", None).pieces(draw, 1))
        for part in ("support", "query")
    )
    cross_entropy = torch.nn.functional.cross_entropy
    for k in range(2):
        at = start.clone().requires_grad_()
        loss = cross_entropy(model(at, support.inputs[k]), support.targets[k])
        adapted = at - 0.4 * torch.autograd.grad(loss, at, create_graph=True)[0]
        value = cross_entropy(model(adapted, query.inputs[k]), query.targets[k])
        slopes.append(torch.autograd.grad(value, at)[0])
    expected = start - 0.1 * torch.stack(slopes).mean(0)
    torch.testing.assert_close(made[0, :, 0], expected, rtol=1e-6, atol=1e-8)
    other = run(problem, replace(algorithm, samples="two"), ctx, rounds=1).state.x
    assert (other - made).abs().max() > 1e-4  # the query of another task


def test_what_a_task_cannot_be_made_of_is_told():
    with pytest.raises(DriftproofError, match="client 0"):
        FewShot(numbered(), 13, 1, 1)
    with pytest.raises(DriftproofError, match="7 drawings"):
        FewShot(numbered(), 2, 4, 3)
    other = FewShot(numbered(), 2, 1, 2)
    data = FewShot(numbered((3, 6)), 2, 1, 1)
    model = FourConvolutions(filters=2, blocks=1).model((1, SIDE, SIDE), 2)
    oracles = AdaptedLosses(model=model, data=data, query=other).oracles(torch.float64)
    with pytest.raises(DriftproofError, match="one sample for an inner loss"):
        oracles.same_sample(torch.zeros(1))


def waves(seeds=1, **changes):
    random = np.random.default_rng(0)
    amplitude, phase = random.uniform(1, 2, (2, 3, 2, seeds))
    return SineWaves(amplitude, pi * phase, points=4, **changes)


@pytest.mark.parametrize("together", [False, True])
def test_points_lie_on_their_tasks_curves(together):
    """Of every client, task and seed; the loss of the function 0 is the mean square there."""
    data = waves(seeds=2, together=together)
    source = data.held(torch.float64, "cpu", None)
    draw = torch.from_numpy(np.random.default_rng(1).random((3, 8, 2)))
    batch = next(source.pieces(draw, 2))
    x = (2 * REACH * draw.numpy() - REACH).reshape(3, 2, 4, 2).transpose(0, 1, 3, 2)
    y = data.amplitude[..., None] * np.sin(x + data.phase[..., None])  # [clients, tasks, seeds, …]
    if together:
        x, y = (v.transpose(0, 2, 1, 3).reshape(6, 8) for v in (x, y))
    else:
        x, y = (v.reshape(12, 4) for v in (x, y))
    np.testing.assert_allclose(batch.inputs[..., 0].numpy(), x)
    np.testing.assert_allclose(batch.targets.numpy(), y)


def test_an_even_grid_stands_for_all_points():
    data = waves(seeds=1, grid=2001)
    model = Perceptron(hidden=3).model((1,), 1)
    problem = AdaptedLosses(model=model, data=data, adaptation=1e-9, loss="square")
    zero = torch.zeros(model.dim, 1, dtype=torch.float64)
    x = np.linspace(-REACH, REACH, 100_001)
    exact = np.square(data.values(x)).mean()
    assert float(problem.objective(zero)) == pytest.approx(exact, rel=1e-3)


def test_seeds_beside_each_other_are_the_seeds_alone():
    """Of each its tasks, its start and its draws."""
    model = Perceptron(hidden=3).model((1,), 1)
    data, algorithm = waves(seeds=2), LocalSCGDM(task_blocks=2, sampled_tasks=1)

    def final(seeds, replicates):
        part = replace(data, amplitude=data.amplitude[..., seeds], phase=data.phase[..., seeds])
        problem = AdaptedLosses(model=model, data=part, loss="square", starts=tuple(seeds))
        ctx = sampled_context(problem, ("test",), replicates=replicates)
        return run(problem, algorithm, ctx, rounds=3).state.x

    both = final([0, 1], 2)
    torch.testing.assert_close(both[..., :1], final([0], 1))
    assert (both[..., 1] - both[..., 0]).abs().max() > 0.1
