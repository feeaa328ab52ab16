r"""One method on the sine waves, several seeds beside each other, measured on its way.

A seed deals the tasks to the clients, starts the network and draws the points. Seeds are the
replicates of one run: 8 of them take less than twice the time of one. If one of them diverges,
nothing more is known of the others, so such a run is done again seed by seed (``by_seed``).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import pi
from typing import Any, Self

import numpy as np
import torch
from torch import Tensor

from driftproof.synthetic.network_problems.adapted import AdaptedLosses, AdaptedOracles
from driftproof.synthetic.network_problems.base import NetworkProblem
from driftproof.synthetic.network_problems.plain import NetworkLosses
from driftproof.synthetic.network_problems.sine_waves import REACH, SineWaves
from driftproof.toolkit.algorithm import Algorithm
from driftproof.toolkit.algorithms.fedavg import FedAvg
from driftproof.toolkit.algorithms.local_bsgd import LocalBSGD
from driftproof.toolkit.algorithms.local_moml import LocalMOML
from driftproof.toolkit.algorithms.local_scgd import LocalSCGD
from driftproof.toolkit.algorithms.local_scgdm import LocalSCGDM
from driftproof.toolkit.engines.batched import BatchedContext
from driftproof.toolkit.federation import sampled_context
from driftproof.toolkit.network import Model
from driftproof.toolkit.networks import Perceptron
from driftproof.toolkit.problem import Problem
from driftproof.verifiers.experiment import Asked, Outcome, TrackedRun, results_of

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


INNER_RATE, LOCAL_STEPS = 0.001, 5
STEPS_SHOWN = (1, 10, 100)
"""Adaptation steps of figure 1."""
_TASKS: dict[str, Any] = {"task_blocks": TASKS, "sampled_tasks": SAMPLED}
METHODS: dict[str, Any] = {
    "Local-BSGD": LocalBSGD(step_size=0.01, **_TASKS),
    "Local-SCGD": LocalSCGD(step_size=0.01, inner_momentum=0.9, **_TASKS),
    "Local-MOML": LocalMOML(step_size=0.01, inner_momentum=0.7, **_TASKS),
    "Local-SCGDM": LocalSCGDM(
        step_size=1.0, step_factor=0.01, momentum=0.8, inner_momentum=0.7, **_TASKS
    ),
    "FedAvg": FedAvg(step_size=0.01),  # chosen here: plain pre-training has no rate in print
}
"""With the settings of section 5.1."""
LISTS = ("training", "validation", "not adapted")
"""Of a number a seed at every moment."""


@dataclass(frozen=True, kw_only=True)
class SineRun(TrackedRun):
    """One method.

    Attributes:
        method: a key of METHODS.
        changed: settings that are not the printed ones, by name.
        local_steps: p.
        rate: the inner learning rate.
        seeds: how many, from ``partition`` on.
    """

    scales = dict.fromkeys((*LISTS, *(f"error {steps}" for steps in STEPS_SHOWN)), "loss")
    units = dict.fromkeys(LISTS, "squared error")
    drawn = ("scgdm/sine-wave",)
    """All methods and settings see the same points where they draw as many."""

    method: str = "Local-SCGDM"
    changed: tuple[tuple[str, Any], ...] = ()
    local_steps: int = LOCAL_STEPS
    rate: float = INNER_RATE
    seeds: int = 1

    def with_(self, **changed: float | str) -> Self:
        """Return the run with some settings changed; what is as printed is not named."""
        printed = METHODS[self.method]
        other = {name: v for name, v in changed.items() if getattr(printed, name) != v}
        return self.but(changed=tuple(other.items()))

    @property
    def sizes(self) -> str:
        """Clients and network."""
        return f"{CLIENTS} clients of {TASKS} tasks, {self.model.dim} parameters"

    @property
    def trivial(self) -> Mapping[str, float]:
        """The zero function."""
        grid, seed = np.linspace(-REACH, REACH, TEST_GRID), [self.data_seed]
        waves = {"training": training_tasks(seed), "validation": unseen_tasks(seed)}
        return {name: float(np.square(of.values(grid)).mean()) for name, of in waves.items()}

    @property
    def algorithm(self) -> Algorithm:
        changed = {"local_steps": self.local_steps} | dict(self.changed)
        return replace(METHODS[self.method], **changed)  # type: ignore[no-any-return]

    @property
    def model(self) -> Model:
        """The network."""
        model: Model = Perceptron().model((1,), 1)
        return model

    @property
    def numbers(self) -> range:
        """The numbers of its seeds."""
        return range(self.data_seed, self.data_seed + self.seeds)

    @property
    def problem(self) -> NetworkProblem:
        """The clients' tasks: meta-learning, or all tasks of a client together for FedAvg."""
        plain = self.method == "FedAvg"
        shared: dict[str, Any] = {
            "model": self.model,
            "loss": "square",
            "starts": tuple(self.numbers),
            "data": training_tasks(self.numbers, together=plain),
        }
        return NetworkLosses(**shared) if plain else AdaptedLosses(adaptation=self.rate, **shared)

    def context(self, problem: Problem) -> BatchedContext:
        """Return what it runs in, a replicate a seed."""
        dtype = torch.float32 if self.precision == "single" else torch.float64
        return sampled_context(
            problem, self.keys, replicates=self.seeds, dtype=dtype, device=self.device
        )

    def recorded(self, problem: Any, ctx: BatchedContext, state: Any) -> dict[str, Any]:
        """Return the squared errors after a step on the training tasks and on 600 others."""
        models = getattr(state, self.algorithm.iterate).mean(0)
        waves = of_one_client(training_tasks(self.numbers))
        training = self.adapting(waves, ctx, "training")
        test = self.adapting(unseen_tasks(self.numbers), ctx, "test")
        return {
            "training": training.error(training.after(models, 1)),
            "validation": test.error(test.after(models, 1)),
            "not adapted": test.error(models[None].repeat(1, TEST_TASKS, 1)),
        }

    def adapting(self, waves: SineWaves, ctx: BatchedContext, name: str) -> Adapting:
        """Return what adapts models to tasks, by points that are keyed by a name."""
        return Adapting(waves, self.model, self.rate, (*self.keys, name), ctx)

    def concluded(self, problem: Any, ctx: BatchedContext, state: Any) -> dict[str, Any]:
        """Return the fitted curves of every seed, and their errors, on figure 1's task."""
        models = getattr(state, self.algorithm.iterate).mean(0)
        adapting = self.adapting(unseen_task(), ctx, "unseen")
        told: dict[str, Any] = {"function": curves(self.model, models).tolist()}
        adapted, taken = models[None], 0
        for steps in STEPS_SHOWN:
            adapted, taken = adapting.after(adapted[0], steps - taken), steps
            told[f"fitted {steps}"] = curves(self.model, adapted[0]).tolist()
            told[f"error {steps}"] = adapting.error(adapted)
        return told


def by_seed(wanted: Mapping[Any, SineRun], seeds: int) -> Asked:
    """Return Outcomes (``yield from``): all seeds at once; alone where one diverged."""
    runs = list(dict.fromkeys(run.but(seeds=seeds) for run in wanted.values()))
    together = yield from results_of({run: [run] for run in runs})
    broken = [run for run, (whole,) in together.items() if whole["bad_step"] is not None]
    alone = yield from results_of(
        {run: [one.but(seeds=1) for one in run.over(run.seeds)] for run in broken}
    )
    made = {
        run: [_of_seed(one, 0) for one in alone[run]]
        if run in alone
        else [_of_seed(whole, k) for k in range(seeds)]
        for run, (whole,) in together.items()
    }
    return {key: Outcome(run, made[run.but(seeds=seeds)]) for key, run in wanted.items()}


def _of_seed(whole: Mapping[str, Any], k: int) -> dict[str, Any]:
    """Return what one seed of a run measured."""
    told = {name: whole[name] for name in ("round", "sent", "reals", "bad_step")}
    told |= {name: [values[k] for values in whole[name]] for name in LISTS}
    last = [name for name in whole if name.startswith(("function", "fitted", "error"))]
    return told | {name: whole[name][k] for name in last}
