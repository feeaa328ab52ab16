"""The units of comfedl/imbalanced: one method on one partition, and the certified optimum."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import Any

import numpy as np
import torch

from toolkit.algorithms.comfedl import ComFedL
from toolkit.algorithms.fedavg import FedAvg
from toolkit.engines.wire import run_on_wire
from toolkit.federation import run, sampled_context
from verifiers.experiment import packed
from verifiers.experiments.comfedl._imbalanced_problem import Imbalanced

TAU, BATCH = 5, 20
METRICS = ("validation average", "validation worst", "training average", "training worst")


@dataclass(frozen=True)
class OneRun:
    """A unit: one method on one partition.

    Attributes:
        method: "comfedl" or "fedavg".
        temperature: γ of the objective (5) that is reported, and of ComFedL's step.
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

    @property
    def name(self) -> str:
        """Everything that the result depends on."""
        return "comfedl/imbalanced " + repr(self)

    @property
    def path(self) -> None:
        """No user's file."""
        return

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
        if self.method == "comfedl":
            problem = self.problem("exp")
            algorithm: Any = ComFedL(
                local_steps=TAU, step_size=self.step_size, batch=BATCH, branch="special"
            )
        else:
            problem = self.problem("average")
            algorithm = FedAvg(
                local_steps=TAU, step_size=self.step_size, batch=BATCH, weighting="samples"
            )
        names = (str(self.seed), "comfedl/imbalanced", self.method, str(self.partition))
        kept: list[np.ndarray] = []
        overflow = None
        if self.engine == "wire":
            iterates, _ = run_on_wire(
                problem, algorithm, names, rounds=self.rounds, processes=problem.clients
            )
            kept = [w[:, 0] for w in iterates if np.all(np.isfinite(w))]
        else:
            ctx = sampled_context(problem, names, replicates=1)
            made = run(
                problem, algorithm, ctx, rounds=self.rounds,
                watch=lambda s, state: kept.append(state.w[0, :, 0].numpy().copy()),
            )  # fmt: skip
            if made.bad_step is not None and "y" in ctx.marks:
                losses = torch.nan_to_num(ctx.marks["y"][:, 0, 0], nan=inf)
                overflow = {
                    "round": made.bad_step // TAU,
                    "local_step": made.bad_step % TAU,
                    "client": int(losses.argmax()),
                    "exponent": float(losses.max()) / self.temperature,
                }
        if len(kept) <= self.rounds and overflow is None:
            overflow = {"round": len(kept) - 1}
        return packed({"overflow": overflow, **self._measured(kept)})

    def _measured(self, kept: list[np.ndarray]) -> dict[str, Any]:
        problem = self.problem("log")
        at = sorted(set(np.linspace(0, len(kept) - 1, min(len(kept), 101)).astype(int).tolist()))
        made: dict[str, Any] = {"rounds": at, **{metric: [] for metric in METRICS}, "objective": []}
        made["largest_norm"] = max(float(np.linalg.norm(w)) for w in kept)
        for s in at:
            for part in ("training", "validation"):
                shares = problem.accuracy(kept[s], validation=part == "validation")
                made[f"{part} average"].append(float(shares.mean()))
                made[f"{part} worst"].append(float(shares.min()))
            made["objective"].append(problem.value_and_gradient(kept[s])[0])
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
