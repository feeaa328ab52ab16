"""The tasks of Local-SCGDM's sine waves, and how well a model does on tasks after adapting."""

from collections.abc import Sequence
from itertools import product
from math import pi
from typing import Any

import numpy as np
import torch
from torch import Tensor

from driftproof.synthetic.network_problems.adapted import AdaptedLosses, AdaptedOracles
from driftproof.synthetic.network_problems.sine_waves import REACH, SineWaves
from driftproof.toolkit.engines.batched import BatchedContext
from driftproof.toolkit.federation import sampled_context
from driftproof.toolkit.network import Model

CLIENTS, TASKS, SAMPLED, POINTS = 5, 5, 3, 10
VALUES = (1, 2, 3, 4, 5)
"""Of A and of b in training."""
TEST_TASKS, TEST_AMPLITUDES, TEST_PHASES = 600, (0.1, 5.0), (0.0, 5.0)
UNSEEN = (2.5, 1.5)
"""A and b of figure 1's unseen task, (5/2) sin(x + (3/2)π/5)."""
GRID = np.linspace(-REACH, REACH, 201)
"""Where functions are drawn and integrated."""
TEST_GRID = 21
"""Points at which the loss of an adapted model is taken."""


def training_tasks(seeds: Sequence[int], **changes: bool) -> SineWaves:
    """Return the 25 tasks, dealt evenly at random to the clients for each seed."""
    every = np.array(list(product(VALUES, VALUES)), dtype=float)
    dealt = [every[np.random.default_rng([seed, 0]).permutation(len(every))] for seed in seeds]
    of_client = np.array(dealt).reshape(len(seeds), CLIENTS, TASKS, 2)
    amplitude, b = of_client.transpose(3, 1, 2, 0)
    return SineWaves(amplitude, b * pi / 5, points=POINTS, **changes)


def of_one_client(waves: SineWaves) -> SineWaves:
    """Return all clients' tasks as tasks of one client, to be tested on."""
    amplitude, phase = (
        array.reshape(1, -1, array.shape[2]) for array in (waves.amplitude, waves.phase)
    )
    return SineWaves(amplitude, phase, points=waves.points, grid=TEST_GRID)


def unseen_tasks(seeds: Sequence[int]) -> SineWaves:
    """Return 600 unseen tasks for each seed."""
    drawn = [np.random.default_rng([seed, 1]).random((2, TEST_TASKS)) for seed in seeds]
    of_amplitude, of_phase = np.array(drawn).transpose(1, 2, 0)[:, None]
    low, high = TEST_AMPLITUDES
    first, last = TEST_PHASES
    phase = (first + (last - first) * of_phase) * pi / 5
    return SineWaves(low + (high - low) * of_amplitude, phase, points=POINTS, grid=TEST_GRID)


def unseen_task() -> SineWaves:
    """Return figure 1's task."""
    amplitude, b = (np.full((1, 1, 1), value) for value in UNSEEN)
    return SineWaves(amplitude, b * pi / 5, points=POINTS)


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
        self, waves: SineWaves, model: Model, rate: float, keys: Sequence[str], like: BatchedContext
    ) -> None:
        problem = AdaptedLosses(model=model, data=waves, adaptation=rate, loss="square")
        self._oracles: AdaptedOracles = problem.oracles(like.dtype, like.device)
        kind: dict[str, Any] = {"dtype": like.dtype, "device": like.device}
        ctx = sampled_context(problem, tuple(keys), replicates=like.replicates, **kind)
        self._support = ctx.draw(self._oracles.inner_law(1), "support")

    def after(self, models: Tensor, steps: int) -> Tensor:
        """Return the models after some steps, [1, tasks·dim, seeds]."""
        adapted = models[None]
        for _ in range(steps):
            adapted, _ = self._oracles.inner(adapted, self._support)
        return adapted

    def error(self, adapted: Tensor) -> list[float]:
        """Return the mean squared error of models that were adapted."""
        errors: list[float] = self._oracles.outer_value(adapted)[0].tolist()
        return errors


def curves(model: Model, models: Tensor) -> np.ndarray:
    """Return the functions of models [dim, seeds] on the grid, [seeds, points]."""
    x = torch.from_numpy(GRID).to(models)[:, None]
    return np.array([model(one, x)[:, 0].detach().cpu().numpy() for one in models.T])
