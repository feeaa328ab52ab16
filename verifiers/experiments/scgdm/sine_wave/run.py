"""One method on the sine waves, several seeds beside each other, measured on its way.

A seed deals the tasks to the clients, starts the network and draws the points. Seeds are the
replicates of one run: 8 of them take less than twice the time of one. If one of them diverges,
nothing more is known of the others, so such a run is done again seed by seed (``results_by_seed``).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike

from synthetic.network_problems.adapted import AdaptedLosses
from synthetic.network_problems.base import NetworkProblem
from synthetic.network_problems.plain import NetworkLosses
from toolkit.algorithm import Algorithm
from toolkit.algorithms.fedavg import FedAvg
from toolkit.algorithms.local_bsgd import LocalBSGD
from toolkit.algorithms.local_moml import LocalMOML
from toolkit.algorithms.local_scgd import LocalSCGD
from toolkit.algorithms.local_scgdm import LocalSCGDM
from toolkit.engines.batched import BatchedContext
from toolkit.federation import sampled_context
from toolkit.network import Model
from toolkit.problem import Problem
from verifiers.experiment import TrackedRun, results_of
from verifiers.experiments.scgdm.sine_wave import printed, tasks
from verifiers.running.scheduler import Result, Task

_TASKS: dict[str, Any] = {"task_blocks": printed.TASKS, "sampled_tasks": printed.SAMPLED}
METHODS: dict[str, Callable[..., Algorithm]] = {
    "Local-BSGD": partial(LocalBSGD, **_TASKS),
    "Local-SCGD": partial(LocalSCGD, **_TASKS),
    "Local-MOML": partial(LocalMOML, **_TASKS),
    "Local-SCGDM": partial(LocalSCGDM, **_TASKS),
    "FedAvg": FedAvg,
}
SETTINGS: dict[str, dict[str, Any]] = {
    "Local-BSGD": {"step_size": 0.01},
    "Local-SCGD": {"step_size": 0.01, "inner_momentum": 0.9},
    "Local-MOML": {"step_size": 0.01, "inner_momentum": 0.7},
    "Local-SCGDM": {
        "step_size": 1.0, "step_factor": 0.01, "momentum": 0.8, "inner_momentum": 0.7
    },
    "FedAvg": {"step_size": 0.01},  # chosen here: plain pre-training has no rate in print
}  # fmt: skip
"""As printed in section 5.1."""
WORST = float(np.finfo(np.float32).max)
"""The loss that a run counts as which diverged: it is a result, and no other is worse."""
Results = list[dict[str, Any]]
"""What was measured, one a seed."""


@dataclass(frozen=True, kw_only=True)
class SineRun(TrackedRun):
    """One method.

    Attributes:
        method: a key of METHODS.
        changed: settings that are not the printed ones, by name.
        local_steps: p.
        rate: the inner learning rate.
        hidden_layers: of the network.
        seeds: how many, from ``partition`` on.
    """

    method: str = "Local-SCGDM"
    changed: tuple[tuple[str, Any], ...] = ()
    local_steps: int = printed.LOCAL_STEPS
    rate: float = printed.INNER_RATE
    hidden_layers: int = 1
    seeds: int = 1

    def with_(self, **changed: float | str) -> SineRun:
        """Return the run with some settings changed; what is as printed is not named."""
        other = {name: v for name, v in changed.items() if SETTINGS[self.method].get(name) != v}
        return self.but(changed=tuple(other.items()))

    @property
    def algorithm(self) -> Algorithm:
        """The method with its settings."""
        settings = SETTINGS[self.method] | dict(self.changed)
        return METHODS[self.method](local_steps=self.local_steps, **settings)

    @property
    def model(self) -> Model:
        """The network."""
        return tasks.network(self.hidden_layers)

    @property
    def numbers(self) -> range:
        """The numbers of its seeds."""
        first = self.data_seed
        return range(first, first + self.seeds)

    @property
    def problem(self) -> NetworkProblem:
        """The clients' tasks: meta-learning, or all tasks of a client together for FedAvg."""
        return self.problem_of(self.numbers)

    def problem_of(self, numbers: range) -> NetworkProblem:
        """Return the problem of some seeds."""
        plain = self.method == "FedAvg"
        shared: dict[str, Any] = {
            "model": self.model, "loss": "square", "starts": tuple(numbers),
            "data": tasks.training_tasks(numbers, together=plain),
        }  # fmt: skip
        return NetworkLosses(**shared) if plain else AdaptedLosses(adaptation=self.rate, **shared)

    @property
    def keys(self) -> tuple[str, ...]:
        """All methods and settings see the same points where they draw as many."""
        return str(self.seed), "scgdm/sine-wave", str(self.partition)

    def context(self, problem: Problem) -> BatchedContext:
        """Return what it runs in, a replicate a seed."""
        dtype = torch.float32 if self.precision == "single" else torch.float64
        return sampled_context(
            problem, self.keys, replicates=self.seeds, dtype=dtype, device=self.device
        )

    def recorded(self, problem: Any, ctx: BatchedContext, state: Any) -> dict[str, Any]:
        """Return the squared errors after a step on the training tasks and on 600 others."""
        models = getattr(state, self.algorithm.iterate).mean(0)
        training, test = self._tested(ctx)
        return {
            "training": training.loss(models),
            "validation": test.loss(models),
            "not adapted": test.error(models[None].repeat(1, printed.TEST_TASKS, 1)),
        }

    def _tested(self, ctx: BatchedContext) -> tuple[tasks.Adapting, tasks.Adapting]:
        training = tasks.of_one_client(tasks.training_tasks(self.numbers))
        return (
            self._adapting(training, ctx, "training"),
            self._adapting(tasks.unseen_tasks(self.numbers), ctx, "test"),
        )

    def _adapting(self, waves: Any, ctx: BatchedContext, name: str) -> tasks.Adapting:
        return tasks.Adapting(waves, self.model, self.rate, (*self.keys, name), ctx)

    def concluded(self, problem: Any, ctx: BatchedContext, state: Any) -> dict[str, Any]:
        """Return the fitted curves of every seed, and their errors, on figure 1's task."""
        models = getattr(state, self.algorithm.iterate).mean(0)
        adapting = self._adapting(tasks.unseen_task(), ctx, "unseen")
        told: dict[str, Any] = {"function": tasks.curves(self.model, models).tolist()}
        adapted, taken = models[None], 0
        for steps in printed.STEPS_SHOWN:
            adapted, taken = adapting.after(adapted[0], steps - taken), steps
            told[f"fitted {steps}"] = tasks.curves(self.model, adapted[0]).tolist()
            told[f"error {steps}"] = adapting.error(adapted)
        return told


LISTS = ("training", "validation", "not adapted")
"""Of a number a seed at every moment."""


def results_by_seed(
    runs: Collection[SineRun],
) -> Generator[Sequence[Task], list[Result], dict[SineRun, Results]]:
    """Run, all seeds at once; seed by seed where one diverged (``yield from``)."""
    together = yield from results_of({run: [run] for run in runs})
    broken = [run for run, (whole,) in together.items() if whole["bad_step"] is not None]
    alone = yield from results_of(
        {run: [one.but(seeds=1) for one in run.over(run.seeds)] for run in broken}
    )
    whole_seeds = {
        run: [_of_seed(whole, k) for k in range(run.seeds)]
        for run, (whole,) in together.items()
        if run not in alone
    }
    return whole_seeds | {run: [_of_seed(one, 0) for one in ones] for run, ones in alone.items()}


def _of_seed(whole: Mapping[str, Any], k: int) -> dict[str, Any]:
    """Return what one seed of a run measured."""
    told = {name: whole[name] for name in ("round", "sent", "reals", "bad_step")}
    told |= {name: [values[k] for values in whole[name]] for name in LISTS}
    last = [name for name in whole if name.startswith(("function", "fitted", "error"))]
    return told | {name: whole[name][k] for name in last}


def end(results: Results, name: str) -> np.ndarray:
    """Return the log of each seed's last loss; the worst where it diverged."""
    last = [np.nan if told["bad_step"] is not None else told[name][-1] for told in results]
    return np.asarray(np.log(counted(last)))


def counted(losses: ArrayLike) -> np.ndarray:
    """Return losses, with single precision's largest number, the worst, where one is not finite."""
    values = np.asarray(losses, float)
    return np.where(np.isfinite(values), np.minimum(values, WORST), WORST)
