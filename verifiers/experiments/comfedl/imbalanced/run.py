"""What comfedl/imbalanced and comfedl/imbalanced-parameters share: their runs and figures."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import inf
from pathlib import Path
from typing import Any

import numpy as np
import torch

from synthetic.image_problems.imbalanced import ImbalancedImages
from toolkit.algorithm import Algorithm
from toolkit.algorithms.comfedl import ComFedL
from toolkit.algorithms.drfl import DRFL
from toolkit.algorithms.fedavg import FedAvg
from toolkit.algorithms.q_fedavg import QFedAvg
from toolkit.dataset import read
from toolkit.errors import DriftproofError
from verifiers.experiment import Computed, Followed, Panel, Plan, Run, curve, results_of
from verifiers.running.scheduler import Result, Task

TAU, BATCH, PRINTED = 5, 20, 0.01
LABELS = {"comfedl": "ComFedL", "fedavg": "FedAvg", "q-fedavg": "q-FedAvg", "drfl": "DRFL"}
METHODS: dict[str, Callable[..., Algorithm]] = {
    "comfedl": partial(ComFedL, branch="special"),
    "fedavg": partial(FedAvg, weighting="samples"),
    "q-fedavg": partial(QFedAvg, fairness=0.2),
    "drfl": partial(DRFL, weight_step=0.08),
}
METRICS = ("validation average", "validation worst", "training average", "training worst")
Results = dict[str, list[dict[str, Any]]]
"""What a run is called → its result for each seed."""


@dataclass(frozen=True, kw_only=True)
class ImageRun(Run):
    """One method on one partition.

    Attributes:
        method: "comfedl", "fedavg", "q-fedavg" or "drfl".
        temperature: γ of the objective (5) that is reported, and of ComFedL's step.
        local_steps: τ.
        large, validation: training images of the large client, validation images of each client.
    """

    method: str = "comfedl"
    temperature: float = 0.5
    step_size: float = PRINTED
    local_steps: int = TAU
    large: int = 1000
    validation: int = 60
    data: Path | None = None

    @property
    def label(self) -> str:
        """What the run is called on a plot."""
        gamma = f"γ = {self.temperature:g}, " if self.method == "comfedl" else ""
        return f"{LABELS[self.method]}, {gamma}η = {self.step_size:g}"

    @property
    def problem(self) -> ImbalancedImages:
        """The problem in the form that the method asks for."""
        return self.in_form("exp" if self.method == "comfedl" else "average")

    def in_form(self, form: str) -> ImbalancedImages:
        """Return the problem in one form; "log" is the objective (5)."""
        return ImbalancedImages(
            data=self.data, large=self.large, validation=self.validation, form=form,
            temperature=self.temperature, partition=self.data_seed,
        )  # fmt: skip

    @property
    def algorithm(self) -> Algorithm:
        """The method."""
        return METHODS[self.method](
            local_steps=self.local_steps, step_size=self.step_size, batch=BATCH
        )

    @property
    def keys(self) -> tuple[str, ...]:
        """A method's draws are the same in every experiment on these clients."""
        return str(self.seed), "comfedl/imbalanced", self.method, str(self.partition)

    def measured(self) -> dict[str, Any]:
        """Return at most 101 rounds' accuracies and objective (5), and where it overflowed."""
        followed, problem = self.followed(), self.in_form("log")
        w = followed.fields["w"]
        at = sorted(set(np.linspace(0, len(w) - 1, min(len(w), 101)).astype(int).tolist()))
        weights = problem.robust_weights_at(w[-1])
        measured: dict[str, Any] = {
            "overflow": self._overflow(followed),
            "rounds": at,
            "distance of r from 1/n": float(np.abs(weights - 1 / problem.clients).sum() / 2),
            "largest_norm": max(float(np.linalg.norm(model)) for model in w),
        }
        models = w[at].T.copy()  # all at once: the data are read once
        for part in ("training", "validation"):
            shares = problem.accuracy(models, validation=part == "validation")
            measured[f"{part} average"] = shares.mean(0).tolist()
            measured[f"{part} worst"] = shares.min(0).tolist()
        measured["objective"] = problem.objective(torch.from_numpy(models)).tolist()
        return measured

    def _overflow(self, followed: Followed) -> dict[str, Any] | None:
        """Return where a value was first not finite; in ComFedL's exp(f/γ), at which client."""
        if followed.bad_step is not None and "y" in followed.marks:
            losses = torch.nan_to_num(followed.marks["y"][:, 0, 0], nan=inf)
            return {
                "round": followed.bad_step // self.local_steps,
                "local_step": followed.bad_step % self.local_steps,
                "client": int(losses.argmax()),
                "exponent": float(losses.max()) / self.temperature,
            }
        ended = len(followed.fields["w"])
        return {"round": ended - 1} if ended <= self.rounds else None


@dataclass(frozen=True)
class Optimum(Computed):
    """The certified optimum of (5) on the first partition."""

    run: ImageRun

    def measured(self) -> dict[str, Any]:
        """Solve and certify."""
        found = self.run.in_form("log").solution
        return {"low": found.low, "high": found.high, "certificate": found.certificate}


def base_run(plan: Plan, rounds: int) -> ImageRun:
    """Return ComFedL as printed, at the sizes of a plan."""
    large, validation = (1000, 60) if plan.data is None else (5000, 1000)
    if plan.profile == "smoke":
        large, validation = (200, 60) if plan.data is None else (1000, 200)
    return ImageRun(
        rounds=rounds, seed=plan.seed, data=plan.data, engine=plan.engine, large=large,
        validation=validation,
    )  # fmt: skip


@dataclass(frozen=True)
class Search:
    """The step sizes η = 0.01, 0.001, … of ComFedL at one γ, up to the first that runs.

    Attributes:
        run: with the largest η = 10^{-k} that runs on every seed.
        results: its, one a seed.
        overflows: where the printed η = 0.01 overflowed, on the seeds where it did.
    """

    run: ImageRun
    results: list[dict[str, Any]]
    overflows: list[dict[str, Any]]

    @property
    def told(self) -> str:
        """What the printed η does."""
        gamma, steps = self.run.temperature, 10.0 ** (1 / self.run.temperature)
        told = (
            f"γ = {gamma:g}: at η = {PRINTED:g} as printed the first step is "
            f"{PRINTED * steps / gamma:.3g} gradients long (η·exp(log 10/γ)/γ)"
        )
        if not self.overflows:
            return f"{told} and runs."
        last = max(overflow["round"] for overflow in self.overflows)
        return (
            f"{told}, the losses grow, and exp(f/γ) overflows within round {last} on "
            f"{len(self.overflows)} seeds; the largest η = 10^-k that runs is "
            f"{self.run.step_size:g}."
        )


def largest_that_runs(run: ImageRun, seeds: int) -> Generator[Sequence[Task], list[Result], Search]:
    """Run ComFedL at η = 0.01, 0.001, … until it runs on every seed (``yield from``)."""
    printed: list[dict[str, Any]] = []
    for power in range(2, 40):
        chosen = run.but(step_size=10.0**-power)
        results = (yield from results_of({"": chosen.over(seeds)}))[""]
        overflows = [result["overflow"] for result in results if result["overflow"]]
        if power == 2:
            printed = overflows
        if not overflows:
            return Search(chosen, results, printed)
    raise DriftproofError(
        f"{run.label} overflows at every step size down to 1e-39",
        "a temperature at which ComFedL's step is finite",
        "choose a larger γ",
    )


def last(results: Sequence[Mapping[str, Any]], metric: str) -> np.ndarray:
    """Return each seed's accuracy at the end."""
    return np.array([result[metric][-1] for result in results])


def speed(results: Sequence[Mapping[str, Any]]) -> np.ndarray:
    """Return each seed's mean validation accuracy over all rounds."""
    return np.array([np.mean(result["validation average"]) for result in results])


def panels(runs: Results, prefix: str = "") -> list[Panel]:
    """Return one plot a metric, with a curve for each kind of run."""
    return [
        Panel(
            prefix + metric.replace(" ", "-"), f"{metric} accuracy", "round", "accuracy",
            [
                curve(name, results[0]["rounds"], np.array([r[metric] for r in results]))
                for name, results in runs.items()
            ],
        )
        for metric in METRICS
    ]  # fmt: skip


def setting(run: ImageRun, seeds: int) -> list[str]:
    """Return what was chosen, for the head of the page."""
    return [
        f"data: {read(run.data).title}; one client with {run.large:,} training images, nine with "
        "20; softmax regression from w = 0",
        f"τ = {TAU} unless said otherwise, minibatch {BATCH} (chosen here), {run.rounds} rounds, "
        f"{seeds} seeds (partition and minibatches)",
        f"validation: {run.validation:,} other images a client (chosen here)",
        "band: smallest and largest seed",
    ]
