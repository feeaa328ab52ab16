"""Networks behind the oracle protocols: against plain PyTorch, client by client."""

import re
from itertools import pairwise
from math import log
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

import driftproof
from driftproof import networks
from driftproof.synthetic.network_problems.adapted import AdaptedLosses
from driftproof.synthetic.network_problems.evaluated import evaluated
from driftproof.synthetic.network_problems.means import SampleMeans
from driftproof.synthetic.network_problems.plain import NetworkLosses
from driftproof.synthetic.network_problems.robust import RobustClients, RobustSamples
from driftproof.synthetic.network_problems.samples import IMAGES, PIECE, ClientData
from driftproof.synthetic.problems import PenalisedDRO
from driftproof.toolkit.discover import leaves
from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.federation import sampled_context
from driftproof.toolkit.network import TRIAL, Network, uniform_by_fan_in
from driftproof.toolkit.networks import FourConvolutions, Perceptron, ResNet, SoftmaxRegression
from driftproof.toolkit.oracles import OFFERS, SampleLosses
from driftproof.toolkit.own_model import from_function, from_module

EXAMPLE, CLASSES = (3, 8, 8), 4
SMALL = {
    "four-convolutions": FourConvolutions(filters=3, blocks=2),
    "resnet": ResNet(width=2, blocks=1),
}
NETWORKS = [
    pytest.param(SMALL.get(leaf.name) or leaf.load()(), id=leaf.name)
    for leaf in leaves("network").values()
]


def images(clients=3, levels=True):
    """Return clients with 4, 5, … images."""
    random = np.random.default_rng(0)
    inputs = [random.integers(0, 256, (4 + k, *EXAMPLE)).astype(np.uint8) for k in range(clients)]
    labels = [random.integers(0, CLASSES, 4 + k) for k in range(clients)]
    return ClientData(inputs if levels else [x / 255.0 for x in inputs], labels)


def points(model, clients, replicates=2):
    """Return a point for each client and replicate, near the model's start."""
    noise = torch.from_numpy(np.random.default_rng(1).normal(size=(clients, model.dim, replicates)))
    return torch.from_numpy(model.start(0))[None, :, None] + 0.1 * noise


def by_hand(model, data, x, draw, loss=torch.nn.functional.cross_entropy):
    """Return losses and gradients of a loop over clients and replicates in plain PyTorch."""
    losses, gradients = torch.zeros(x.shape[0], x.shape[2]), torch.zeros_like(x)
    for k in range(x.shape[0]):
        for r in range(x.shape[2]):
            rows = slice(None) if draw is None else draw[k, :, r].numpy()
            at = x[k, :, r].clone().requires_grad_()
            inputs = torch.from_numpy(data.inputs[k][rows] / 255.0)
            value = loss(model(at, inputs), torch.from_numpy(data.targets[k][rows]))
            gradients[k, :, r] = torch.autograd.grad(value, at)[0]
            losses[k, r] = value.detach()
    return losses, gradients


def drawn(problem, oracles, batch, replicates=2):
    ctx = sampled_context(problem, ("test",), replicates=replicates)
    return ctx.draw(oracles.field_law(batch), "xi")


@pytest.mark.parametrize("network", NETWORKS)
@pytest.mark.parametrize("together", [True, False])
def test_clients_together_are_the_loop_over_clients(network, together):
    data, model = images(), network.model(EXAMPLE, CLASSES)
    problem = NetworkLosses(model=model, data=data)
    oracles = problem.oracles(torch.float64)
    oracles._means._one_by_one = not together
    x = points(model, 3)
    xi = drawn(problem, oracles, 5)
    losses, gradients = by_hand(model, data, x, xi)
    torch.testing.assert_close(oracles.batch_loss(x, xi), losses.double(), rtol=1e-6, atol=1e-6)
    torch.testing.assert_close(oracles.field_grad(x, xi), gradients, rtol=1e-9, atol=1e-10)
    values, pullback = oracles._means.samples(x, xi)
    assert values.shape == (3, 5, 2)
    torch.testing.assert_close(pullback(torch.full_like(values, 1 / 5)), gradients)


@pytest.mark.parametrize(
    "network", [SoftmaxRegression(), ResNet(width=2, blocks=1, normalisation="group")]
)
def test_all_samples_are_their_mean_whatever_a_client_is_padded_to(network):
    data, model = images(), network.model(EXAMPLE, CLASSES)
    oracles = NetworkLosses(model=model, data=data).oracles(torch.float64)
    x = points(model, 3)
    losses, gradients = by_hand(model, data, x, None)
    torch.testing.assert_close(oracles.mean_loss(x), losses.double(), rtol=1e-6, atol=1e-6)
    torch.testing.assert_close(oracles.field_grad(x, None), gradients, rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(oracles.client_weights.flatten(), np.array([4, 5, 6]) / 15)


@pytest.mark.parametrize(
    "network", [Perceptron(hidden=3), ResNet(width=2, blocks=1, normalisation="group")]
)
@pytest.mark.parametrize("kind", ["plain", "kl", "chi-square"])
@pytest.mark.parametrize("all_of_them", [False, True])
def test_losses_of_samples_are_those_of_one_after_another(network, kind, all_of_them):
    """Drawn or all, for clients with 4, 5 and 6 images: two are padded."""
    data, model = images(), network.model(EXAMPLE, CLASSES)
    given = {"model": model, "data": data}
    problem = NetworkLosses(**given) if kind == "plain" else RobustSamples(divergence=kind, **given)
    oracles, x = problem.oracles(torch.float64), points(model, 3)
    assert "samples" in OFFERS[problem.offers]
    assert isinstance(oracles, SampleLosses)
    xi = None if all_of_them else drawn(problem, oracles, 5)
    losses, pullback = oracles.sample_losses(x, xi)
    weights = torch.linspace(-1, 2, losses.numel(), dtype=x.dtype).view_as(losses)
    if all_of_them:
        counted = oracles.sample_weights > 0
        assert counted.sum((1, 2)).tolist() == [4, 5, 6]
        weights = weights * counted
    slope = pullback(weights)
    for k in range(3):
        for r in range(2):
            at = x[k, :, r].clone().requires_grad_()
            rows = range(len(data.targets[k])) if xi is None else xi[k, :, r].tolist()
            total = torch.zeros((), dtype=x.dtype)
            for j, row in enumerate(rows):
                image = torch.from_numpy(data.inputs[k][row : row + 1] / 255.0)
                outputs = model(at, image)
                target = torch.from_numpy(data.targets[k][row : row + 1])
                loss = torch.nn.functional.cross_entropy(outputs, target)
                torch.testing.assert_close(losses[k, j, r], loss.detach())
                total = total + weights[k, j, r] * loss
            torch.testing.assert_close(slope[k, :, r], torch.autograd.grad(total, at)[0])


def test_losses_of_more_samples_than_a_piece_are_pulled_back():
    random = np.random.default_rng(2)
    count = PIECE + 3
    data = ClientData([random.normal(size=(count, 2))] * 2, [random.integers(0, 2, count)] * 2)
    model = SoftmaxRegression().model((2,), 2)
    oracles = NetworkLosses(model=model, data=data).oracles(torch.float64)
    x = points(model, 2)
    losses, pullback = oracles.sample_losses(x, None)
    assert losses.shape == (2, count, 2)
    torch.testing.assert_close(losses.mean(1), oracles.mean_loss(x))
    torch.testing.assert_close(pullback(oracles.sample_weights), oracles.field_grad(x, None))
    last = torch.zeros_like(losses)
    last[:, -1] = 1.0
    drawn_last = torch.full((2, 1, 2), count - 1)
    torch.testing.assert_close(pullback(last), oracles.field_grad(x, drawn_last))


def test_bytes_are_the_numbers_that_they_stand_for():
    model = SoftmaxRegression().model(EXAMPLE, CLASSES)
    x = points(model, 3)
    of_bytes, of_numbers = (
        NetworkLosses(model=model, data=images(levels=levels)).oracles(torch.float64).mean_loss(x)
        for levels in (True, False)
    )
    torch.testing.assert_close(of_bytes, of_numbers, rtol=0, atol=0)


def test_more_samples_than_a_piece_are_all_counted():
    random = np.random.default_rng(2)
    count = PIECE + 3
    data = ClientData([random.normal(size=(count, 2))], [random.integers(0, 2, count)])
    model = SoftmaxRegression().model((2,), 2)
    oracles = NetworkLosses(model=model, data=data).oracles(torch.float64)
    x = points(model, 1, 1)
    at = x[0, :, 0].requires_grad_()
    loss = torch.nn.functional.cross_entropy(
        model(at, torch.from_numpy(data.inputs[0])), torch.from_numpy(data.targets[0])
    )
    torch.testing.assert_close(oracles.mean_loss(x.detach())[0, 0], loss.detach())
    expected = torch.autograd.grad(loss, at)[0]
    torch.testing.assert_close(oracles.field_grad(x.detach(), None)[0, :, 0], expected)


@pytest.mark.parametrize(("divergence", "penalty"), [("kl", 1.0), ("chi-square", 2.0)])
def test_robust_samples_are_the_closed_form_of_the_linear_model(divergence, penalty):
    """PenalisedDRO has the same objective for a linear model, with formulas of its own."""
    exact = PenalisedDRO(divergence=divergence, penalty=penalty, clients=3, dim=2, samples=4)
    linear = from_function(
        lambda parameters, inputs: inputs @ parameters["w"][:, None],
        {"w": (2,)},
        example=(2,),
        outputs=1,
        initial=lambda random: np.zeros(2),
    )
    data = ClientData(list(exact.rows), [np.ones(4, dtype=np.int64)] * 3)
    problem = RobustSamples(
        model=linear, data=data, loss="logistic", divergence=divergence, penalty=penalty
    )
    x = torch.tensor([[0.3, -0.4], [0.1, 0.7]], dtype=torch.float64)
    torch.testing.assert_close(problem.objective(x), exact.objective(x))
    torch.testing.assert_close(problem.gradient(x), exact.gradient(x))
    own = torch.stack([x, 2 * x, -x])
    draw = torch.tensor([[[0, 1], [3, 2]]] * 3)
    theirs, ours = exact.oracles(torch.float64), problem.oracles(torch.float64)
    for oracles in (theirs, ours):
        value, pullback = oracles.inner(own, draw)
        slope = pullback(oracles.outer_grad(value, None)) + oracles.plain_grad(own, draw)
        if oracles is theirs:
            expected = value, slope
    torch.testing.assert_close(value, expected[0])
    torch.testing.assert_close(slope, expected[1])


def test_robust_clients_weigh_by_the_exponential_of_the_loss():
    data, model = images(), Perceptron(hidden=3).model(EXAMPLE, CLASSES)
    problem = RobustClients(model=model, data=data, temperature=2.0)
    plain = NetworkLosses(model=model, data=data).oracles(torch.float64)
    x = points(model, 1)[0]
    every = x.expand(3, *x.shape)
    weight = torch.exp(plain.mean_loss(every) / 2.0)
    torch.testing.assert_close(problem.objective(x), weight.mean(0))
    expected = (weight[:, None] / 2.0 * plain.field_grad(every, None)).mean(0)
    torch.testing.assert_close(problem.gradient(x), expected)


@pytest.mark.parametrize("network", [Perceptron(hidden=3), FourConvolutions(filters=2, blocks=2)])
@pytest.mark.parametrize("temperature", [0.0, 1.5])
def test_adapted_losses_have_the_gradient_of_the_loss_after_a_step(network, temperature):
    """By a second route: differentiate through the step, client by client."""
    data, model = images(), network.model(EXAMPLE, CLASSES)
    problem = AdaptedLosses(model=model, data=data, adaptation=0.3, temperature=temperature)
    oracles = problem.oracles(torch.float64)
    x = points(model, 3)
    xi = torch.tensor([[[0, 1], [3, 2]]] * 3)
    zeta = torch.tensor([[[2, 0], [1, 1], [0, 3]]] * 3)
    adapted, pullback = oracles.inner(x, xi)
    direction = pullback(oracles.outer_grad(adapted, zeta))
    cross_entropy = torch.nn.functional.cross_entropy
    for k in range(3):
        for r in range(2):
            at = x[k, :, r].clone().requires_grad_()

            def loss(at, rows, k=k):
                inputs = torch.from_numpy(data.inputs[k][rows] / 255.0)
                return cross_entropy(model(at, inputs), torch.from_numpy(data.targets[k][rows]))

            inner = loss(at, xi[k, :, r].numpy())
            step = at - 0.3 * torch.autograd.grad(inner, at, create_graph=True)[0]
            value = loss(step, zeta[k, :, r].numpy())
            value = torch.exp(value / temperature) if temperature else value
            torch.testing.assert_close(adapted[k, :, r], step.detach())
            expected = torch.autograd.grad(value, at)[0]
            torch.testing.assert_close(direction[k, :, r], expected, rtol=1e-6, atol=1e-9)
            batch_value = oracles.outer_batch_value(adapted, zeta)[k, r]
            torch.testing.assert_close(batch_value, value.detach())


def test_the_exact_pullback_of_the_inner_step_is_that_of_all_samples():
    data, model = images(), Perceptron(hidden=3).model(EXAMPLE, CLASSES)
    oracles = AdaptedLosses(model=model, data=data, adaptation=0.3).oracles(torch.float64)
    x = points(model, 3, 1)
    v = torch.randn(x.shape, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    adapted, pullback = oracles.inner(x, None)
    step = 1e-5
    moved, back = (oracles.inner(x + sign * step * v, None)[0] for sign in (1, -1))
    torch.testing.assert_close(pullback(v), (moved - back) / (2 * step), rtol=1e-5, atol=1e-7)
    assert adapted.shape == x.shape


@pytest.mark.parametrize(("example", "piece"), [((3,), PIECE), ((1, 2, 2), IMAGES)])
def test_a_step_on_more_samples_than_a_piece_is_that_of_plain_pytorch(example, piece):
    """MAML's adapted parameters and gradient, where one client has many samples and one few."""
    random, sizes = np.random.default_rng(3), (piece + 9, 5)
    inputs = [random.normal(size=(size, *example)) for size in sizes]
    data = ClientData(inputs, [random.integers(0, 2, size) for size in sizes])
    model = Perceptron(hidden=2).model(example, 2)
    oracles = AdaptedLosses(model=model, data=data, adaptation=0.3).oracles(torch.float64)
    x = points(model, 2, 1)
    adapted, pullback = oracles.inner(x, None)
    direction = pullback(oracles.outer_grad(adapted, None))
    for k in range(2):
        rows, classes = torch.from_numpy(inputs[k]), torch.from_numpy(data.targets[k])

        def loss(at, rows=rows, classes=classes):
            return torch.nn.functional.cross_entropy(model(at, rows), classes)

        at = x[k, :, 0].clone().requires_grad_()
        step = at - 0.3 * torch.autograd.grad(loss(at), at, create_graph=True)[0]
        torch.testing.assert_close(adapted[k, :, 0], step.detach())
        expected = torch.autograd.grad(loss(step), at)[0]
        torch.testing.assert_close(direction[k, :, 0], expected)


@pytest.mark.parametrize(("example", "piece"), [((3,), PIECE), ((1, 2, 2), IMAGES)])
def test_scores_are_means_over_more_samples_than_a_piece(example, piece):
    random, sizes = np.random.default_rng(4), (2 * piece + 7, 3)
    inputs = [random.normal(size=(size, *example)) for size in sizes]
    labels = [random.integers(0, 2, size) for size in sizes]
    model = Perceptron(hidden=2).model(example, 2)
    parameters = list(points(model, 2, 1)[..., 0])
    scores = evaluated(model, parameters, inputs, labels)
    for k, own in enumerate(parameters):
        outputs, classes = model(own, torch.from_numpy(inputs[k])), torch.from_numpy(labels[k])
        right = np.mean(outputs.argmax(1).numpy() == labels[k])
        loss = float(torch.nn.functional.cross_entropy(outputs, classes))
        assert (scores.accuracy[k], scores.loss[k]) == pytest.approx((right, loss), rel=1e-12)


def test_a_module_and_a_function_are_the_same_model():
    module = torch.nn.Sequential(
        torch.nn.Flatten(), torch.nn.Linear(192, 5), torch.nn.Tanh(), torch.nn.Linear(5, CLASSES)
    ).double()

    def layers(parameters, inputs):
        hidden = torch.tanh(inputs.flatten(1) @ parameters["a"].T + parameters["b"])
        return hidden @ parameters["c"].T + parameters["d"]

    shapes = {"a": (5, 192), "b": (5,), "c": (CLASSES, 5), "d": (CLASSES,)}
    given = {"example": EXAMPLE, "outputs": CLASSES}
    own, plain = from_module(module, **given), from_function(layers, shapes, **given)
    assert own.dim == plain.dim
    data, start = images(), own.start(0)
    x = torch.from_numpy(start)[None, :, None].expand(3, -1, 2)
    one, other = (
        NetworkLosses(model=model, data=data).oracles(torch.float64).field_grad(x, None)
        for model in (own, plain)
    )
    torch.testing.assert_close(one, other)
    outputs = module(torch.from_numpy(data.inputs[0] / 255.0))
    torch.testing.assert_close(
        own(torch.from_numpy(start), torch.from_numpy(data.inputs[0] / 255.0)), outputs
    )


def test_what_a_model_may_not_be_is_told():
    with pytest.raises(DriftproofError, match="with buffers"):
        from_module(torch.nn.BatchNorm2d(3), example=EXAMPLE, outputs=3)
    with pytest.raises(DriftproofError, match="without parameters"):
        from_module(torch.nn.ReLU(), example=EXAMPLE, outputs=3)
    wrong = from_module(torch.nn.Linear(8, 2).double(), example=EXAMPLE, outputs=CLASSES)
    with pytest.raises(DriftproofError, match=rf"outputs of shape \({TRIAL}, 3, 8, 2\)"):
        wrong.start(0)
    with pytest.raises(DriftproofError, match="images, of shape"):
        ResNet().model((7,), 2)
    with pytest.raises(DriftproofError, match="client 1 with 0 inputs"):
        ClientData([np.ones((1, 2)), np.ones((0, 2))], [np.zeros(1), np.zeros(0)])


@settings(max_examples=20, deadline=None)
@given(outputs=st.integers(2, 6), side=st.integers(4, 12), channels=st.integers(1, 3))
def test_networks_give_a_row_an_example(outputs, side, channels):
    for case in NETWORKS:
        network = case.values[0]
        assert isinstance(network, Network)
        model = network.model((channels, side, side), outputs)
        assert model.start(3).shape == (model.dim,)
        np.testing.assert_array_equal(model.start(3), model.start(3))


def test_tasks_stand_beside_each_other():
    """Two tasks of a client, each with its own point: as two clients with a task each."""
    data, model = images(2), Perceptron(hidden=3).model(EXAMPLE, CLASSES)
    problem = NetworkLosses(model=model, data=data)
    apart = problem.means(data.held(torch.float64, "cpu", None), "cpu")

    class Together:
        clients, tasks = 1, 2
        client_weights = torch.ones(1, 1, 1)

        def pieces(self, draw, replicates):
            return apart.source.pieces(draw, replicates)

    means = SampleMeans(Together(), model, problem.losses_of_samples())
    x = points(model, 2)
    both = x.reshape(1, -1, 2)
    torch.testing.assert_close(means.gradient(both, None).reshape(x.shape), apart.gradient(x, None))
    torch.testing.assert_close(means.value(both, None)[0], apart.value(x, None)[:, 0])
    shared = x[:1]
    each, pullback = means.each_gradient(shared, None)
    one, by_client = apart.each_gradient(shared.expand(2, -1, -1), None)
    torch.testing.assert_close(each.reshape(x.shape), one)
    torch.testing.assert_close(pullback(both), by_client(x).sum(0, keepdim=True))


@pytest.mark.parametrize("together", [True, False])
def test_batch_statistics_do_not_see_what_pads_a_smaller_client(together):
    """Clients of 3, 70 and 9 images; 70 are a piece of 64 and one of 6."""
    random = np.random.default_rng(4)
    sizes = 3, 70, 9
    inputs = [random.normal(size=(size, *EXAMPLE)) for size in sizes]
    data = ClientData(inputs, [random.integers(0, CLASSES, size) for size in sizes])
    model = FourConvolutions(filters=3, blocks=2, normalisation="batch").model(EXAMPLE, CLASSES)
    oracles = NetworkLosses(model=model, data=data).oracles(torch.float64)
    oracles._means._one_by_one = not together
    x = points(model, 3)
    values, gradients = oracles.mean_loss(x), oracles.field_grad(x, None)
    for k, size in enumerate(sizes):
        for r in range(2):
            at = x[k, :, r].clone().requires_grad_()
            cuts = [slice(0, 64), slice(64, size)] if size > 64 else [slice(0, size)]
            value = (
                sum(
                    torch.nn.functional.cross_entropy(
                        model(at, torch.from_numpy(inputs[k][cut])),
                        torch.from_numpy(data.targets[k][cut]),
                        reduction="sum",
                    )
                    for cut in cuts
                )
                / size
            )
            torch.testing.assert_close(values[k, r], value.detach())
            expected = torch.autograd.grad(value, at)[0]
            torch.testing.assert_close(gradients[k, :, r], expected, rtol=1e-7, atol=1e-9)


def test_one_number_a_channel_is_its_own_mean():
    model = FourConvolutions(filters=2, blocks=3, normalisation="batch").model((1, 4, 4), 2)
    outputs = model(torch.from_numpy(model.start(0)), torch.ones(1, 1, 4, 4, dtype=torch.float64))
    assert torch.isfinite(outputs).all()


def test_what_a_loss_or_a_model_does_not_take_is_told():
    images_, labels = [np.ones((2, 3))], [np.array([0, 1])]
    two, one = (SoftmaxRegression().model((3,), outputs) for outputs in (2, 1))
    for problem, match in (
        (lambda: NetworkLosses(model=two, data=ClientData(images_, [labels[0] + 1])), "1 to 2"),
        (lambda: NetworkLosses(model=two, data=ClientData(images_, [labels[0] - 0.5])), "float64"),
        (lambda: NetworkLosses(model=one, data=ClientData(images_, labels)), "with 1 outputs"),
        (
            lambda: NetworkLosses(
                model=one, loss="logistic", data=ClientData(images_, [2 * labels[0] - 1])
            ),
            "from -1 to 1",
        ),
        (lambda: NetworkLosses(model=two, data=ClientData([np.ones((2, 4))], labels)), "data of"),
        (lambda: ClientData([np.ones((2, 3), dtype=int)], labels), "inputs of type int64"),
        (lambda: ClientData([np.ones((2, 3)), np.ones((2, 3), np.uint8)], labels * 2), "several"),
    ):
        with pytest.raises(DriftproofError, match=match):
            problem()


# -- docs/networks.md: its files run, its lists are complete


PAGE = (Path(__file__).parents[1] / "docs" / "networks.md").read_text(encoding="utf-8")
FILES = dict(re.findall(r"In\s`(\w+\.py)`:\n\n```python\n(.*?)```", PAGE, re.S))


def test_a_model_of_ones_own_takes_under_20_lines_and_learns(capsys):
    assert set(FILES) == {"mine_function.py", "mine_module.py"}
    assert PAGE.count("```python") == len(FILES)
    told = {}
    for name, text in FILES.items():
        assert len([line for line in text.splitlines() if line.strip()]) < 20
        exec(compile(text, name, "exec"), {"__name__": "__main__"})
        told[name] = capsys.readouterr().out.strip()
    assert float(told["mine_function.py"]) < 0.8 * log(2)  # log 2 is guessing
    assert told["mine_module.py"] == "None True"


def test_the_page_names_every_network_and_every_problem():
    rows = re.findall(r"^\| `([\w-]+)` \|", PAGE, re.M)
    assert set(leaves("network")) <= set(rows)
    problems = {name for name in networks.__all__ if hasattr(getattr(networks, name), "oracles")}
    assert len(problems) == 5
    assert problems <= set(rows)
    for leaf in leaves("network").values():
        assert f"`{leaf.symbol}`" in PAGE
        assert getattr(driftproof.networks, leaf.symbol) is leaf.load()


def test_the_page_says_which_problems_an_algorithm_fits():
    table = PAGE.split("| an algorithm's `needs` |")[1].split("\n\n")[0]
    rows = dict(re.findall(r"^\| `([\w-]+)` \| (.*) \|$", table, re.M))
    told = {needs: set(re.findall(r"`(\w+)`", row)) for needs, row in rows.items()}
    random = np.random.default_rng(0)
    data = ClientData([random.normal(size=(6, 2))] * 2, [np.arange(6) % 2] * 2)
    groups = [np.eye(2)[np.arange(6) % 2]] * 2
    more = {"FairLosses": {"groups": groups}}
    model = Perceptron(hidden=2).model((2,), 2)
    offered = {
        name: getattr(networks, name)(model=model, data=data, **more.get(name, {})).offers
        for name in networks.__all__
        if hasattr(getattr(networks, name), "oracles")
    }
    fitting = {
        needs: {name for name, offers in offered.items() if needs in OFFERS[offers]}
        for needs in set.union(*OFFERS.values())
    }
    assert told == fitting
    assert {leaf.load().needs for leaf in leaves("algorithm").values()} <= set(told)


# -- what networks are made of: outputs and start against PyTorch's own modules


WIDTH = 16


class Block(nn.Module):
    """Two convolutions beside a shortcut without parameters: option A of He et al. 2016."""

    def __init__(self, before, after, norm):
        super().__init__()
        stride = after // before
        self.branch = nn.Sequential(
            nn.Conv2d(before, after, 3, stride, 1, bias=False),
            norm(after),
            nn.ReLU(),
            nn.Conv2d(after, after, 3, 1, 1, bias=False),
            norm(after),
        )

    def forward(self, values):
        branch = self.branch(values)
        count, after, height, width = branch.shape
        stride, before = values.shape[2] // height, values.shape[1]
        shortcut = torch.zeros(count, after, height, width, dtype=values.dtype)
        begins = (after - before) // 2  # as many channels of 0 before as after
        shortcut[:, begins : begins + before] = values[:, :, ::stride, ::stride]
        return torch.relu(branch + shortcut)


def plain(norm, outputs):
    """Return a ResNet of one block a stage, made of modules."""
    sizes = [WIDTH, WIDTH, 2 * WIDTH, 4 * WIDTH]
    blocks = [Block(before, after, norm) for before, after in pairwise(sizes)]
    return nn.Sequential(
        nn.Conv2d(3, WIDTH, 3, 1, 1, bias=False),
        norm(WIDTH),
        nn.ReLU(),
        *blocks,
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(4 * WIDTH, outputs),
    ).double()


NORMS = {
    "none": lambda channels: nn.Identity(),
    "batch": nn.BatchNorm2d,
    "group": lambda channels: nn.GroupNorm(8, channels),
}


@pytest.mark.parametrize("normalisation", NORMS)
def test_a_resnet_is_that_of_plain_pytorch(normalisation):
    model = ResNet(width=WIDTH, blocks=1, normalisation=normalisation).model((3, 8, 8), 5)
    module = plain(NORMS[normalisation], 5)
    random = np.random.default_rng(0)
    own = torch.from_numpy(model.start(0) + 0.05 * random.normal(size=model.dim))
    nn.utils.vector_to_parameters(own, module.parameters())
    images = torch.from_numpy(random.normal(size=(4, 3, 8, 8)))
    torch.testing.assert_close(model(own, images), module(images).detach())


@settings(max_examples=20, deadline=None)
@given(units=st.integers(60, 90), before=st.integers(1, 5), side=st.integers(1, 3))
def test_a_convolution_starts_within_the_bound_of_pytorchs_own(units, before, side):
    shapes = {"0.weight": (units, before, side, side), "0.bias": (units,)}
    made = np.abs(uniform_by_fan_in(shapes, np.random.default_rng([units, before, side])))
    weight, bias = np.split(made, [units * before * side * side])
    bound = (before * side * side) ** -0.5
    with torch.random.fork_rng():
        torch.manual_seed(0)
        layer = nn.Conv2d(before, units, side)
    for ours, theirs in ((weight, layer.weight), (bias, layer.bias)):
        for largest in (ours.max(), float(theirs.detach().abs().max())):
            assert 0.8 * bound < largest <= bound * (1 + 1e-6)
