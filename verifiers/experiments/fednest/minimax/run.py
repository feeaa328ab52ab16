"""The runs of fednest/minimax: one method in one setting, on one seed's data and cohorts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from synthetic.problems.random_minimax import RandomMinimax
from toolkit.algorithm import Algorithm
from toolkit.algorithms.fedavg_s import FedAvgS
from toolkit.algorithms.fednest import FedNest
from toolkit.algorithms.lfednest import LFedNest
from verifiers.experiment import Run
from verifiers.experiments.fednest.minimax.predicted import predicted

RATE = 0.01
"""lr and hlr of the public notebook."""
WITHOUT = "FedNest, b left out"
SINGLE = "LFedNest, T = 1"
METHODS = ("FedNest", "LFedNest", "FedAvg-S", WITHOUT, SINGLE)


@dataclass(frozen=True)
class Setting:
    """The problem's parameters that are varied; the defaults are the slides' objective."""

    form: str = "printed"
    spread: float = 1.0
    regulariser: float = 0.1
    coupling: float = 0.1
    matrices_drawn: str = "multiples"
    centring: str = "entries"

    @property
    def label(self) -> str:
        """The setting on a plot."""
        form = "slides' objective" if self.form == "printed" else "public code's objective"
        parts = [form, f"s = {self.spread:g}"]
        if self.regulariser != Setting.regulariser:
            parts.append(f"λ = {self.regulariser:g}")
        if self.coupling != Setting.coupling:
            parts.append(f"t_i ~ U(0, {self.coupling:g})")
        if self.matrices_drawn == "general":
            parts.append("A_i general")
        if self.centring == "clients":
            parts.append("Σ b_i = 0")
        return ", ".join(parts)


@dataclass(frozen=True)
class Size:
    """What a profile runs.

    Attributes:
        clients, dim: m and d.
        sampled: the share of clients in a cohort where some are sampled.
        calls, inner_steps, outer_steps: T, and the local steps of FedInn and of FedOut.
    """

    seeds: int
    rounds: int
    clients: int = 1000
    dim: int = 10
    sampled: float = 0.05
    calls: int = 10
    inner_steps: int = 50
    outer_steps: int = 500


@dataclass(frozen=True, kw_only=True)
class MinimaxRun(Run):
    """One method in one setting.

    ``WITHOUT`` is FedNest as the public notebook writes it, without b_i in y's step. Its step on x
    knows no b_i either, so that it is FedNest on the problem whose b_i are 0; what it comes to is
    measured from the saddle point of the problem that has them.
    """

    fields = ("x", "y")

    method: str = "FedNest"
    setting: Setting
    participation: float = 1.0
    size: Size

    @property
    def problem(self) -> RandomMinimax:
        """The problem, b_i and all."""
        of = self.setting
        return RandomMinimax(
            clients=self.size.clients, dim=self.size.dim, spread=of.spread, coupling=of.coupling,
            matrices_drawn=of.matrices_drawn, centring=of.centring, regulariser=of.regulariser,
            form=of.form, partition=self.data_seed,
        )  # fmt: skip

    @property
    def algorithm(self) -> Algorithm:
        """The method; the notebook divides its rates by the dimension."""
        of = self.size
        rate = RATE / of.dim if self.setting.form == "halved" else RATE
        common: dict[str, Any] = {
            "inner_step_size": rate, "outer_step_size": rate, "participation": self.participation
        }  # fmt: skip
        if self.method == "FedAvg-S":
            steps = of.calls * of.inner_steps
            return FedAvgS(local_steps=steps, order="alternating", **common)
        calls, steps = of.calls, of.inner_steps
        if self.method == SINGLE:
            calls, steps = 1, calls * steps
        kind = LFedNest if self.method in ("LFedNest", SINGLE) else FedNest
        return kind(
            inner_calls=calls, inner_steps=steps, outer_steps=of.outer_steps, terms=0, **common
        )

    @property
    def keys(self) -> tuple[str, ...]:
        """The same for all methods, which are compared on the same cohorts."""
        return str(self.seed), "fednest/minimax", str(self.partition)

    def measured(self) -> dict[str, Any]:
        """Return squared distances and norms of the iterates, beside what is predicted."""
        problem = self.problem
        moved = replace(problem, spread=0.0) if self.method == WITHOUT else problem
        x, y = self.followed(moved).fields.values()
        expected = predicted(moved, self.algorithm, self.rounds)
        return {
            "x": _squares(x - problem.saddle[0]), "y": _squares(y - problem.saddle[1]),
            "norm of x": _squares(x), "norm of y": _squares(y),
            "saddle": [float(v @ v) for v in problem.saddle],
            "end": [*x[-1].tolist(), *y[-1].tolist()],
            "predicted x": expected.x.tolist(), "predicted y": expected.y.tolist(),
            "floor x": expected.floor_x, "floor y": expected.floor_y, "rate": expected.rate,
        }  # fmt: skip


def _squares(values: np.ndarray) -> list[float]:
    squares: list[float] = (values**2).sum(1).tolist()
    return squares
