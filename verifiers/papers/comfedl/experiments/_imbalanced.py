"""What comfedl/imbalanced and comfedl/imbalanced-parameters share: their runs and figures."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import inf
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import torch

from driftproof.synthetic.image_problems.imbalanced import ImbalancedImages
from driftproof.toolkit.algorithm import Algorithm
from driftproof.toolkit.algorithms.comfedl import ComFedL
from driftproof.toolkit.algorithms.drfl import DRFL
from driftproof.toolkit.algorithms.fedavg import FedAvg
from driftproof.toolkit.algorithms.q_fedavg import QFedAvg
from driftproof.toolkit.errors import DriftproofError
from driftproof.verifiers import experiment as study
from driftproof.verifiers.experiment import Followed, Outcome

TAU, BATCH, PRINTED = 5, 20, 0.01
LABELS = {"comfedl": "ComFedL", "fedavg": "FedAvg", "q-fedavg": "q-FedAvg", "drfl": "DRFL"}
METHODS: dict[str, Callable[..., Algorithm]] = {
    "comfedl": partial(ComFedL, branch="special"),
    "fedavg": partial(FedAvg, weighting="samples"),
    "q-fedavg": partial(QFedAvg, fairness=0.2),
    "drfl": partial(DRFL, weight_step=0.08),
}
METRICS = ("validation average", "validation worst", "training average", "training worst")


@dataclass(frozen=True, kw_only=True)
class ImageRun(study.Run):
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
        sizes = {"large": self.large, "validation": self.validation}
        return ImbalancedImages(
            data=self.data,
            form=form,
            temperature=self.temperature,
            partition=self.data_seed,
            **sizes,
        )

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
        models = w[at].T.copy()  # all at once: the data are read once
        measured: dict[str, Any] = {
            "overflow": self._overflow(followed),
            "rounds": at,
            "distance of r from 1/n": float(np.abs(weights - 1 / problem.clients).sum() / 2),
            "largest_norm": max(float(np.linalg.norm(model)) for model in w),
            "objective": problem.objective(torch.from_numpy(models)).tolist(),
        }
        for part in ("training", "validation"):
            shares = problem.accuracy(models, validation=part == "validation")
            measured[f"{part} average"] = shares.mean(0).tolist()
            measured[f"{part} worst"] = shares.min(0).tolist()
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


Images: TypeAlias = Outcome[ImageRun]


def base_run(plan: study.Plan, rounds: int) -> ImageRun:
    """Return ComFedL as printed, at the sizes of a plan."""
    large, validation = (1000, 60) if plan.data is None else (5000, 1000)
    if plan.profile == "smoke":
        large, validation = (200, 60) if plan.data is None else (1000, 200)
    return ImageRun.planned(plan, rounds=rounds, large=large, validation=validation)


class Search(NamedTuple):
    """ComFedL at the largest η = 10^{-k} ≤ 0.01 that runs on every seed; where 0.01 overflowed."""

    found: Images
    overflows: list[dict[str, Any]]

    @property
    def told(self) -> str:
        """What the printed η does; its first step is η·exp(log 10/γ)/γ gradients long."""
        run = self.found.run
        first = PRINTED * 10.0 ** (1 / run.temperature) / run.temperature
        return (
            f"γ = {run.temperature:g}: at η = {PRINTED:g} as printed the first step is {first:.3g} "
            f"gradients long; exp(f/γ) overflows on {len(self.overflows)} seeds, within round "
            f"{max((of['round'] for of in self.overflows), default=0)}; the largest η = 10^-k that "
            f"runs is {run.step_size:g}."
        )


def largest_that_runs(run: ImageRun, seeds: int) -> study.Asked:
    """Return the Search of ComFedL's step size (``yield from``)."""
    printed: list[dict[str, Any]] | None = None
    for power in range(2, 40):
        found = (yield from study.outcomes({"": run.but(step_size=10.0**-power)}, seeds))[""]
        overflows = [result["overflow"] for result in found.results if result["overflow"]]
        printed = overflows if printed is None else printed
        if not overflows:
            return Search(found, printed)
    raise DriftproofError(
        f"{run.label} overflows at every step size down to 1e-39",
        "a temperature at which ComFedL's step is finite",
        "choose a larger γ",
    )


def speed(of: Images) -> np.ndarray:
    """Return each seed's mean validation accuracy over all rounds."""
    return np.array([np.mean(result["validation average"]) for result in of.results])


def panels(runs: dict[str, Images], prefix: str = "") -> list[study.Panel]:
    """Return one plot a metric, with a curve for each kind of run."""
    axis, named = study.Axis(along="rounds"), {of: of.replace(" ", "-") for of in METRICS}
    return [
        study.plot(f"{prefix}{name}", f"{of} accuracy", runs, of, "accuracy", axis)
        for of, name in named.items()
    ]


def setting(run: ImageRun, seeds: int) -> list[str]:
    """Return what was chosen, for the head of the page."""
    return study.setting(
        run,
        seeds,
        f"one client with {run.large:,} training images, nine with 20; softmax regression from 0",
        f"τ = {TAU} unless said otherwise, minibatches of {BATCH} (chosen here)",
        f"validation: {run.validation:,} other images a client (chosen here)",
    )
