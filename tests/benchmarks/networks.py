"""Ten clients together against a loop over them in plain PyTorch.

``python tests/benchmarks/networks.py`` prints two tables, of which docs/networks.md shows a run:
training with FedAvg here and in a loop, on the same minibatches (the loop with images in channels
last too, the layout in which convolutions are computed here); and the ways to compute the
convolutions of ten clients. One thread, in processor time; the ways take turns, and the least time
of each counts.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import click
import numpy as np
import torch
from torch import Tensor, nn
from torch.func import vmap
from torch.nn import functional

from driftproof.synthetic.network_problems.plain import NetworkLosses
from driftproof.synthetic.network_problems.samples import ClientData
from driftproof.toolkit.algorithms import FedAvg
from driftproof.toolkit.federation import run, sampled_context
from driftproof.toolkit.network import Model, Network
from driftproof.toolkit.networks import FourConvolutions, Perceptron, ResNet, SoftmaxRegression

CLIENTS, IMAGES, RATE = 10, 100, 0.05
TURNS = 3


@dataclass(frozen=True)
class Training:
    """What is trained, by FedAvg with τ local steps."""

    title: str
    network: Network
    example: tuple[int, ...]
    outputs: int
    batch: int
    local_steps: int
    rounds: int
    loss: str = "cross-entropy"


TRAININGS = (
    Training("softmax regression, 784", SoftmaxRegression(), (784,), 10, 20, 5, 4),
    Training("softmax regression, 64", SoftmaxRegression(), (64,), 10, 20, 5, 4),
    Training("40 units, sine wave", Perceptron(), (1,), 1, 10, 5, 4, "half-square"),
    Training("40 units, 64", Perceptron(), (64,), 10, 20, 5, 4),
    Training("four convolutions", FourConvolutions(), (3, 32, 32), 10, 10, 2, 2),
    Training("ResNet-20", ResNet(), (3, 32, 32), 10, 16, 1, 1),
)


class Plain(nn.Module):
    """The network as anybody would write it: parameters of a module."""

    def __init__(self, model: Model, start: Tensor) -> None:
        super().__init__()
        self.model = model
        shapes = model.shapes.values()
        self.weights = nn.ParameterList([nn.Parameter(torch.empty(shape)) for shape in shapes])
        nn.utils.vector_to_parameters(start.clone(), self.parameters())

    def forward(self, inputs: Tensor) -> Tensor:
        """Return the outputs."""
        return self.model.apply(dict(zip(self.model.shapes, self.weights, strict=True)), inputs)


def half_square(outputs: Tensor, targets: Tensor) -> Tensor:
    """Return the mean over a minibatch."""
    return 0.5 * (outputs - targets).square().sum(1).mean()


def trained(of: Training) -> tuple[dict[str, float], float, float]:
    """Return the seconds here and in the loops, and the largest difference of the parameters.

    The last is measured in single precision, and again in double.
    """
    random = np.random.default_rng(0)
    inputs = [random.normal(size=(IMAGES, *of.example)).astype(np.float32) for _ in range(CLIENTS)]
    targets = [
        random.integers(0, of.outputs, IMAGES)
        if of.loss == "cross-entropy"
        else random.normal(size=(IMAGES, 1)).astype(np.float32)
        for _ in range(CLIENTS)
    ]
    model = of.network.model(of.example, of.outputs)
    problem = NetworkLosses(model=model, data=ClientData(inputs, targets), loss=of.loss)
    algorithm = FedAvg(local_steps=of.local_steps, step_size=RATE, batch=of.batch)
    start = torch.from_numpy(model.start(0))
    draws = _draws(problem, of)
    loss = functional.cross_entropy if of.loss == "cross-entropy" else half_square

    def here(dtype: torch.dtype = torch.float32) -> Tensor:
        context = sampled_context(problem, ("speed",), replicates=1, dtype=dtype)
        ended: Tensor = run(problem, algorithm, context, rounds=of.rounds).state.w[0, :, 0]
        return ended

    def loop(
        dtype: torch.dtype = torch.float32, layout: torch.memory_format = torch.contiguous_format
    ) -> Tensor:
        held = [(_as(dtype, x), _as(dtype, y)) for x, y in zip(inputs, targets, strict=True)]
        modules = [Plain(model, start).to(dtype) for _ in range(CLIENTS)]
        optimisers = [torch.optim.SGD(module.parameters(), lr=RATE) for module in modules]
        for s in range(of.rounds):
            for k, (module, optimiser) in enumerate(zip(modules, optimisers, strict=True)):
                for t in range(of.local_steps):
                    rows = draws[s * of.local_steps + t][k]
                    optimiser.zero_grad()
                    images = held[k][0][rows].contiguous(memory_format=layout)
                    loss(module(images), held[k][1][rows]).backward()
                    optimiser.step()
            every = [nn.utils.parameters_to_vector(m.parameters()).detach() for m in modules]
            average = torch.stack(every).mean(0)
            for module in modules:
                nn.utils.vector_to_parameters(average.clone(), module.parameters())
        return average

    single, double = (
        float((here(dtype) - loop(dtype)).abs().max()) for dtype in (torch.float32, torch.float64)
    )
    ways: dict[str, Callable[[], object]] = {"here": here, "loop": loop}
    if len(of.example) == 3:
        ways["channels last"] = lambda: loop(layout=torch.channels_last)
    return in_turns(ways), single, double


def _as(dtype: torch.dtype, values: np.ndarray) -> Tensor:
    """Return a tensor of the type, unless the values are labels."""
    made = torch.from_numpy(values)
    return made.to(dtype) if made.is_floating_point() else made


def _draws(problem: NetworkLosses, of: Training) -> list[Tensor]:
    """Return the minibatches that the run draws, [clients, batch] for every step."""
    context = sampled_context(problem, ("speed",), replicates=1, dtype=torch.float32)
    law = problem.data.held(torch.float32, "cpu", None).law(of.batch)
    made = []
    for context.t in range(of.rounds * of.local_steps):
        drawn = context.draw(law, "xi")
        assert drawn is not None
        made.append(drawn[:, :, 0])
    return made


def in_turns(ways: Mapping[str, Callable[[], object]]) -> dict[str, float]:
    """Return the least seconds of each way."""
    least = dict.fromkeys(ways, float("inf"))
    for _ in range(TURNS):
        for name, way in ways.items():
            began = time.process_time()
            way()
            least[name] = min(least[name], time.process_time() - began)
    return least


def convolutions(batch: int) -> dict[str, tuple[float, float]]:
    """Return the seconds of each way to compute ten clients, and max_pool2d's share of them."""
    network = FourConvolutions(normalisation="none")
    model = network.model((3, 32, 32), CLIENTS)
    start = torch.from_numpy(model.start(0)).float()
    points = start + 0.01 * torch.randn(CLIENTS, model.dim)
    inputs = torch.randn(CLIENTS, batch, 3, 32, 32)
    targets = torch.randint(0, CLIENTS, (CLIENTS, batch))

    def loss(parameters: Tensor, images: Tensor, labels: Tensor) -> Tensor:
        return functional.cross_entropy(model(parameters, images), labels)

    def together() -> Tensor:
        leaf = points.clone().requires_grad_()
        return torch.autograd.grad(vmap(loss)(leaf, inputs, targets).sum(), leaf)[0]

    def one_by_one(layout: torch.memory_format) -> Tensor:
        slopes = []
        for k in range(CLIENTS):
            leaf = points[k].clone().requires_grad_()
            images = inputs[k].contiguous(memory_format=layout)
            slopes.append(torch.autograd.grad(loss(leaf, images, targets[k]), leaf)[0])
        return torch.stack(slopes)

    ways: dict[str, Callable[[], Tensor]] = {
        "together: vmap, a grouped convolution": together,
        "one after another": lambda: one_by_one(torch.contiguous_format),
        "one after another, channels last": lambda: one_by_one(torch.channels_last),
    }
    expected = together()
    for way in ways.values():
        torch.testing.assert_close(way(), expected, rtol=1e-3, atol=1e-5)
    least = in_turns(ways)
    return {name: (least[name], pooling_share(way)) for name, way in ways.items()}


def pooling_share(way: Callable[[], object]) -> float:
    """Return max_pool2d's share of the processor's time, both passes."""
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
        way()
    spent = {event.key: event.self_cpu_time_total for event in profile.key_averages()}
    pooled = sum(time for name, time in spent.items() if "max_pool2d" in name)
    return float(pooled / sum(spent.values()))


def main() -> None:
    """Print both tables."""
    torch.set_num_threads(1)
    torch.manual_seed(0)
    click.echo("| ten clients | here | loop | times as fast | loop, channels last | times as fast "
               "| apart, single | apart, double |")  # fmt: skip
    click.echo("|---|---|---|---|---|---|---|---|")
    for of in TRAININGS:
        least, single, double = trained(of)
        times = [f"{1e3 * least['here']:.0f} ms"]
        for way in ("loop", "channels last"):
            seconds = least.get(way)
            times += (
                [f"{1e3 * seconds:.0f} ms", f"{seconds / least['here']:.2f}"]
                if seconds
                else ["–", "–"]
            )
        click.echo(
            f"| {of.title}, {of.batch} | {' | '.join(times)} | {single:.0e} | {double:.0e} |"
        )
    click.echo("\n| ten clients' gradients | time | of it max_pool2d |\n|---|---|---|")
    for name, (seconds, share) in convolutions(10).items():
        click.echo(f"| {name} | {1e3 * seconds:.1f} ms | {share:.0%} |")


if __name__ == "__main__":
    main()
