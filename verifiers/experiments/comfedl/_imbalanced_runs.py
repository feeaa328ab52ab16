"""The units of comfedl/imbalanced…: one method on one partition, and the certified optimum."""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import inf
from pathlib import Path
from typing import Any

import numpy as np
import torch

from toolkit.algorithm import Algorithm
from toolkit.algorithms.comfedl import ComFedL
from toolkit.algorithms.drfl import DRFL
from toolkit.algorithms.fedavg import FedAvg
from toolkit.algorithms.q_fedavg import QFedAvg
from toolkit.errors import DriftproofError
from toolkit.federation import run, sampled_context
from toolkit.wire import WireFailure, run_on_wire
from verifiers.experiment import Plan, packed
from verifiers.experiments.comfedl._imbalanced_problem import Imbalanced
from verifiers.scheduler import Result

TAU, BATCH, PRINTED = 5, 20, 0.01
LABELS = {"comfedl": "ComFedL", "fedavg": "FedAvg", "q-fedavg": "q-FedAvg", "drfl": "DRFL"}
METHODS: dict[str, Callable[..., Algorithm]] = {
    "comfedl": partial(ComFedL, branch="special"),
    "fedavg": partial(FedAvg, weighting="samples"),
    "q-fedavg": partial(QFedAvg, fairness=0.2),
    "drfl": partial(DRFL, weight_step=0.08),
}
METRICS = ("validation average", "validation worst", "training average", "training worst")


@dataclass(frozen=True)
class OneRun:
    """A unit: one method on one partition.

    Attributes:
        method: "comfedl", "fedavg", "q-fedavg" or "drfl".
        temperature: γ of the objective (5) that is reported, and of ComFedL's step.
        local_steps: τ.
        sizes: training images of the large client, validation images of each client.
    """

    method: str
    temperature: float
    step_size: float
    seed: int
    partition: int
    rounds: int
    data: Path | None
    engine: str
    sizes: tuple[int, int]
    local_steps: int = TAU

    @property
    def name(self) -> str:
        """Everything that the result depends on."""
        return "comfedl/imbalanced " + repr(self)

    @property
    def label(self) -> str:
        """What the run is called on a plot."""
        gamma = f"γ = {self.temperature:g}, " if self.method == "comfedl" else ""
        return f"{LABELS[self.method]}, {gamma}η = {self.step_size:g}"

    @property
    def path(self) -> None:
        """No user's file."""
        return

    def but(self, **changes: Any) -> OneRun:
        """Return the run with some attributes changed."""
        return replace(self, **changes)

    def problem(self, form: str) -> Imbalanced:
        """Return the problem in one form."""
        large, validation = self.sizes
        partition = self.seed * 1000 + self.partition
        return Imbalanced(
            data=self.data, large=large, validation=validation, form=form,
            temperature=self.temperature, partition=partition,
        )  # fmt: skip

    def work(self) -> bytes:
        """Run, and measure each kept round's accuracies and the objective (5)."""
        problem = self.problem("exp" if self.method == "comfedl" else "average")
        algorithm = METHODS[self.method](
            local_steps=self.local_steps, step_size=self.step_size, batch=BATCH
        )
        names = (str(self.seed), "comfedl/imbalanced", self.method, str(self.partition))
        kept: list[np.ndarray] = []
        overflow = None
        if self.engine == "wire":
            try:
                done = run_on_wire(problem, algorithm, names, rounds=self.rounds)
            except WireFailure as failure:
                if failure.what != "not finite" or failure.done is None:
                    raise
                done = failure.done  # the rounds before it overflowed
            kept = [w[:, 0] for w in done.iterates]
        else:
            ctx = sampled_context(problem, names, replicates=1)
            made = run(
                problem, algorithm, ctx, rounds=self.rounds,
                watch=lambda s, state: kept.append(state.w[0, :, 0].numpy().copy()),
            )  # fmt: skip
            if made.bad_step is not None and "y" in ctx.marks:
                losses = torch.nan_to_num(ctx.marks["y"][:, 0, 0], nan=inf)
                overflow = {
                    "round": made.bad_step // self.local_steps,
                    "local_step": made.bad_step % self.local_steps,
                    "client": int(losses.argmax()),
                    "exponent": float(losses.max()) / self.temperature,
                }
        if len(kept) <= self.rounds and overflow is None:
            overflow = {"round": len(kept) - 1}
        return packed({"overflow": overflow, **self._measured(kept)})

    def _measured(self, kept: list[np.ndarray]) -> dict[str, Any]:
        problem = self.problem("log")
        at = sorted(set(np.linspace(0, len(kept) - 1, min(len(kept), 101)).astype(int).tolist()))
        made: dict[str, Any] = {"rounds": at}
        weights = problem.robust_weights_at(kept[-1])
        made["distance of r from 1/n"] = float(np.abs(weights - 1 / problem.clients).sum() / 2)
        made["largest_norm"] = max(float(np.linalg.norm(w)) for w in kept)
        models = np.stack([kept[s] for s in at], 1)  # all at once: the data are read once
        for part in ("training", "validation"):
            shares = problem.accuracy(models, validation=part == "validation")
            made[f"{part} average"] = shares.mean(0).tolist()
            made[f"{part} worst"] = shares.min(0).tolist()
        made["objective"] = problem.objective(torch.from_numpy(models)).tolist()
        return made


@dataclass(frozen=True)
class Optimum:
    """A unit: the certified optimum of (5) on the first partition."""

    run: OneRun

    @property
    def name(self) -> str:
        """Everything that the result depends on."""
        return f"comfedl/imbalanced optimum {self.run!r}"

    @property
    def path(self) -> None:
        """No user's file."""
        return

    def work(self) -> bytes:
        """Solve and certify."""
        found = self.run.problem("log").solution
        return packed({"low": found.low, "high": found.high, "certificate": found.certificate})


def sizes_of(plan: Plan) -> tuple[int, int]:
    """Return the large client's training images, and each client's validation images."""
    if plan.data is not None:
        return (1000, 200) if plan.profile == "smoke" else (5000, 1000)
    return (200, 60) if plan.profile == "smoke" else (1000, 60)


def over_seeds(run_: OneRun, seeds: int) -> list[OneRun]:
    """Return the run on every partition."""
    return [run_.but(partition=k) for k in range(seeds)]


def loaded(results: Sequence[Result]) -> list[dict[str, Any]]:
    """Return units' results as data."""
    return [json.loads(blob) for blob, _ in results]


def largest_that_runs(
    run_: OneRun, seeds: int
) -> Generator[
    Sequence[OneRun], list[Result], tuple[OneRun, list[dict[str, Any]], list[dict[str, Any]]]
]:
    """Run ComFedL at η = 0.01, 0.001, … until it runs on every seed.

    Returns:
        The run that does, its results, and where the printed η overflowed.
    """
    printed: list[dict[str, Any]] = []
    for power in range(2, 40):
        chosen = run_.but(step_size=10.0**-power)
        results = loaded((yield over_seeds(chosen, seeds)))
        failed = [result["overflow"] for result in results if result["overflow"]]
        if power == 2:
            printed = failed
        if not failed:
            return chosen, results, printed
    raise DriftproofError(
        f"{run_.label} overflows at every step size down to 1e-39",
        "a temperature at which ComFedL's step is finite",
        "choose a larger γ",
    )
