r"""The tasks of Local-SCGDM's sine waves, and how well a model does on tasks after adapting.

A common function of all training tasks is no zero function. The mean of A sin(x + bπ/5) over A, b
in {1, …, 5} is 3·0.6472 sin(x + 3π/5) = 1.94 sin(x + 3π/5), since the five phases cover half a
circle only:

>>> round(mean_amplitude(), 3)
1.942
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import pi, sin

import numpy as np
import torch
from torch import Tensor

from synthetic.network_problems.adapted import AdaptedLosses, AdaptedOracles
from synthetic.network_problems.sine_waves import REACH, SineWaves
from toolkit.engines.batched import BatchedContext
from toolkit.federation import sampled_context
from toolkit.network import Model
from toolkit.networks import Perceptron
from verifiers.experiments.scgdm.sine_wave import printed

GRID = np.linspace(-REACH, REACH, 201)
"""Where functions are drawn and integrated."""
TEST_GRID = 21
"""Points at which the loss of an adapted model is taken."""


def mean_amplitude() -> float:
    """Return the amplitude of the training tasks' mean, which is a sine wave of phase 3π/5."""
    return 3 * sin(pi / 2) / (5 * sin(pi / 10))


def mean_curve(x: np.ndarray) -> np.ndarray:
    """Return the training tasks' mean: what a model that does not adapt should be."""
    curve: np.ndarray = mean_amplitude() * np.sin(x + 3 * pi / 5)
    return curve


def training_tasks(seeds: Sequence[int], **changes: bool) -> SineWaves:
    """Return the 25 tasks, dealt evenly at random to the clients for each seed."""
    every = np.array(list(product(printed.VALUES, printed.VALUES)), dtype=float)
    dealt = [every[np.random.default_rng([seed, 0]).permutation(len(every))] for seed in seeds]
    of_client = np.array(dealt).reshape(len(seeds), printed.CLIENTS, printed.TASKS, 2)
    amplitude, b = of_client.transpose(3, 1, 2, 0)
    return SineWaves(amplitude, b * pi / 5, points=printed.POINTS, **changes)


def of_one_client(waves: SineWaves) -> SineWaves:
    """Return all clients' tasks as tasks of one client, to be tested on."""
    amplitude, phase = (
        array.reshape(1, -1, array.shape[2]) for array in (waves.amplitude, waves.phase)
    )
    return SineWaves(amplitude, phase, points=waves.points, grid=TEST_GRID)


def unseen_tasks(seeds: Sequence[int]) -> SineWaves:
    """Return 600 unseen tasks for each seed."""
    drawn = [np.random.default_rng([seed, 1]).random((2, printed.TEST_TASKS)) for seed in seeds]
    of_amplitude, of_phase = np.array(drawn).transpose(1, 2, 0)[:, None]
    low, high = printed.TEST_AMPLITUDES
    first, last = printed.TEST_PHASES
    phase = (first + (last - first) * of_phase) * pi / 5
    return SineWaves(
        low + (high - low) * of_amplitude, phase, points=printed.POINTS, grid=TEST_GRID
    )


def unseen_task() -> SineWaves:
    """Return figure 1's task."""
    amplitude, b = (np.full((1, 1, 1), value) for value in printed.UNSEEN)
    return SineWaves(amplitude, b * pi / 5, points=printed.POINTS)


def network(hidden_layers: int) -> Model:
    """Return the network."""
    model: Model = Perceptron(hidden_layers=hidden_layers).model((1,), 1)
    return model


class Adapting:
    """Models [dim, seeds] that adapt to tasks by gradient steps on ten points each.

    The points are drawn once for each seed: all methods and moments see the same.

    Args:
        waves: tasks of one client.
        rate: of a step.
        keys: of the points.
        like: where the models are trained.
    """

    def __init__(
        self,
        waves: SineWaves,
        model: Model,
        rate: float,
        keys: tuple[str, ...],
        like: BatchedContext,
    ) -> None:
        problem = AdaptedLosses(model=model, data=waves, adaptation=rate, loss="square")
        self._oracles: AdaptedOracles = problem.oracles(like.dtype, like.device)
        ctx = sampled_context(
            problem, keys, replicates=like.replicates, dtype=like.dtype, device=like.device
        )
        self._support = ctx.draw(self._oracles.inner_law(1), "support")

    def after(self, models: Tensor, steps: int) -> Tensor:
        """Return the models after some steps, [1, tasks·dim, seeds]."""
        adapted = models[None]
        for _ in range(steps):
            adapted, _ = self._oracles.inner(adapted, self._support)
        return adapted

    def loss(self, models: Tensor) -> list[float]:
        """Return the tasks' mean squared error after one step, a number a seed."""
        return self.error(self.after(models, 1))

    def error(self, adapted: Tensor) -> list[float]:
        """Return the mean squared error of models that were adapted."""
        errors: list[float] = self._oracles.outer_value(adapted)[0].tolist()
        return errors


def curves(model: Model, models: Tensor) -> np.ndarray:
    """Return the functions of models [dim, seeds] on the grid, [seeds, points]."""
    x = torch.from_numpy(GRID).to(models)[:, None]
    return np.array([model(one, x)[:, 0].detach().cpu().numpy() for one in models.T])
