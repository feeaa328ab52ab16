"""One run of figure 3: a method on one deal of the people, its accuracy and its violation."""

from __future__ import annotations

from dataclasses import dataclass
from math import isqrt
from pathlib import Path
from typing import Any

import numpy as np
import torch

from synthetic.network_problems.fairness import FairLosses
from synthetic.network_problems.plain import NetworkLosses
from toolkit.algorithm import Algorithm
from toolkit.algorithms.fedavg import FedAvg
from toolkit.algorithms.feddro import FedDRO
from toolkit.algorithms.gcivr import GCIVR
from toolkit.networks.softmax import SoftmaxRegression
from verifiers.experiment import TrackedRun, averaged
from verifiers.experiment.theory import drift, plug_in_bias, squared_gradient
from verifiers.experiments.feddro.adult_fairness.people import Table, federation, people
from verifiers.experiments.feddro.adult_fairness.printed import (
    BATCH,
    CLIENTS,
    MOMENTA,
    PUBLIC,
    RATES,
    READINGS,
    SLACK,
    SPLITS,
)

LABELS = {"feddro": "FedDRO", "gcivr": "GCIVR", "unconstrained": "unconstrained"}


@dataclass(frozen=True, kw_only=True)
class FairRun(TrackedRun):
    """One method on one partition.

    Attributes:
        method: "feddro", "gcivr" or "unconstrained".
        local_steps: I, of FedDRO.
        step_size: η.
        momentum: β, of FedDRO.
        split: how people are dealt to clients.
        reading: of the penalty.
        theory: which of "left" (‖∇Φ‖²), "bias" (of the plug-in gradient) and "drift" are measured.
    """

    method: str = "feddro"
    local_steps: int = 1
    step_size: float = RATES[-1]
    momentum: float = MOMENTA[0]
    split: str = SPLITS[0]
    reading: str = PUBLIC
    theory: tuple[str, ...] = ()
    data: Path | None = None

    @property
    def label(self) -> str:
        """What the run is called on a plot."""
        name = LABELS[self.method]
        return f"{name}, I = {self.local_steps}" if self.method == "feddro" else name

    @property
    def problem(self) -> FairLosses | NetworkLosses:
        """Mean loss and penalty, or the mean loss alone."""
        held = federation(self.data, self.split, self.data_seed)
        model = SoftmaxRegression().model(held.data.example, 1)
        if self.method == "unconstrained":
            return NetworkLosses(model=model, data=held.data, loss="logistic")
        return FairLosses(
            model=model, data=held.data, loss="logistic", groups=held.member, slack=SLACK,
            **READINGS[self.reading],
        )  # fmt: skip

    @property
    def algorithm(self) -> Algorithm:
        """The method with its parameters."""
        if self.method == "unconstrained":
            return FedAvg(step_size=self.step_size, batch=BATCH)
        if self.method == "feddro":
            return FedDRO(
                local_steps=self.local_steps, step_size=self.step_size, momentum=self.momentum,
                batch=BATCH,
            )  # fmt: skip
        root = isqrt(len(people(self.data).train.labels))
        return GCIVR(step_size=self.step_size, batch=-(-root // CLIENTS), epoch_steps=root)

    @property
    def keys(self) -> tuple[str, ...]:
        """Methods on one deal of the people share the draws of equal names."""
        return str(self.seed), "feddro/adult-fairness", self.split, str(self.partition)

    def recorded(self, problem: Any, ctx: Any, state: Any) -> dict[str, Any]:
        """Return accuracy and violation, and where asked for what the theorem speaks of."""
        point = averaged(getattr(state, self.algorithm.iterate))
        known, measured = people(self.data), dict[str, float]()
        for name, table in (("test", known.test), ("train", known.train)):
            accuracy, rate, gaps = judged(table, point)
            measured |= {f"{name} accuracy": accuracy, f"{name} rate": rate}
            measured[f"{name} violation"] = float(gaps.max())
        if "left" in self.theory:
            measured["left"] = squared_gradient(problem, point)
        if "bias" in self.theory:
            measured["bias"] = plug_in_bias(problem, point, self.keys, batch=BATCH, draws=32)
        if "drift" in self.theory:
            marked = ctx.marks.get(self.algorithm.iterate)
            measured["drift"] = 0.0 if marked is None else drift(marked)
        return measured

    def concluded(self, problem: Any, ctx: Any, state: Any) -> dict[str, Any]:
        """Return the last objective of its own, and the test gaps of all groups."""
        point = averaged(getattr(state, self.algorithm.iterate))
        *_, gaps = judged(people(self.data).test, point)
        return {"objective": float(problem.objective(point[:, None])), "gaps": gaps.tolist()}


def judged(table: Table, point: torch.Tensor) -> tuple[float, float, np.ndarray]:
    """Return the accuracy, the true positive rate TPR, and TPR − TPR_j of each protected group j.

    A group without positives in the table has no rate; its gap is 0.
    """
    weights, bias = point[:-1].double().cpu().numpy(), float(point[-1])
    guessed = table.inputs @ weights + bias > 0
    found, positive = guessed & (table.labels == 1), table.labels == 1
    overall = found.sum() / positive.sum()
    in_group = (table.member & positive[:, None]).sum(0)
    rates = (table.member & found[:, None]).sum(0) / np.maximum(in_group, 1)
    accuracy = float((guessed == table.labels).mean())
    return accuracy, float(overall), np.where(in_group, overall - rates, 0.0)
