"""The runs of fednest/minimax: one method in one setting, on one seed's data and cohorts."""

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

import numpy as np

from driftproof.synthetic.problems.random_minimax import RandomMinimax
from driftproof.toolkit.algorithm import Algorithm
from driftproof.toolkit.algorithms.fedavg_s import FedAvgS
from driftproof.toolkit.algorithms.fednest import FedNest
from driftproof.toolkit.algorithms.lfednest import LFedNest
from driftproof.verifiers.experiment import Run
from driftproof.verifiers.minimax_rounds import moments

RATE = 0.01
"""lr and hlr of the public notebook."""
WITHOUT = "FedNest, b left out"
SINGLE = "LFedNest, T = 1"
METHODS = ("FedNest", "LFedNest", "FedAvg-S", WITHOUT, SINGLE)


@dataclass(frozen=True)
class Setting:
    """The problem's parameters that are varied; the defaults are the slides' objective."""

    form: Literal["printed", "halved"] = "printed"
    spread: float = 1.0
    regulariser: float = 0.1
    coupling: float = 0.1
    matrices_drawn: Literal["multiples", "general"] = "multiples"
    centring: Literal["entries", "clients", "none"] = "entries"

    def named(self, *names: Callable[[Any], str]) -> list[str]:
        """Return what differs from the slides' objective: λ, t_i, A_i and b_i, in words given."""
        values = (self.regulariser, self.coupling, self.matrices_drawn, self.centring)
        usual = (Setting.regulariser, Setting.coupling, Setting.matrices_drawn, Setting.centring)
        every = zip(names, values, usual, strict=True)
        return [name(value) for name, value, default in every if value != default]

    @property
    def label(self) -> str:
        """The setting on a plot."""
        form = "slides' objective" if self.form == "printed" else "public code's objective"
        more = self.named(
            "λ = {:g}".format,
            "t_i ~ U(0, {:g})".format,
            "A_i {}".format,
            {"clients": "Σ b_i = 0"}.__getitem__,
        )
        return ", ".join([form, f"s = {self.spread:g}", *more])

    def short(self, share: float) -> str:
        """Return a name for files."""
        form = "slides" if self.form == "printed" else "code"
        more = self.named("lambda{:g}".format, "t{:g}".format, str, str)
        return "-".join([form, f"s{self.spread:g}", *more, "all" if share == 1 else "sampled"])


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
    scales = {"distance": "loss", "norm of x": "loss", "norm of y": "loss"}

    method: str = "FedNest"
    setting: Setting
    participation: float = 1.0
    size: Size

    @property
    def problem(self) -> RandomMinimax:
        """The problem, b_i and all."""
        of, size = asdict(self.setting), self.size
        return RandomMinimax(clients=size.clients, dim=size.dim, partition=self.data_seed, **of)

    @property
    def algorithm(self) -> Algorithm:
        """The method; the notebook divides its rates by the dimension."""
        of = self.size
        rate = RATE / of.dim if self.setting.form == "halved" else RATE
        common: dict[str, Any] = dict.fromkeys(("inner_step_size", "outer_step_size"), rate)
        common["participation"] = self.participation
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
    def sizes(self) -> str:
        """Clients, sampled ones, dimension."""
        sampled = f"{100 * self.participation:g} % sampled"
        return f"{self.size.clients:,} clients, {sampled}, d = {self.size.dim}"

    @property
    def keys(self) -> tuple[str, ...]:
        """The same for all methods, which are compared on the same cohorts."""
        return str(self.seed), "fednest/minimax", str(self.partition)

    def measured(self) -> dict[str, Any]:
        """Return squared distances from the saddle point, norms, and what is predicted.

        The mean squared distance of each round, its limit, and the rate: the spectral radius of a
        round's mean map, less the constant.
        """
        problem = self.problem
        moved = replace(problem, spread=0.0) if self.method == WITHOUT else problem
        x, y = self.followed(moved).fields.values()
        of_round, d = moments(moved, self.algorithm), moved.dim
        expected, limit = of_round.squares(self.rounds), of_round.limit()
        away = _squares(x - problem.saddle[0]) + _squares(y - problem.saddle[1])
        return {
            "round": list(range(len(away))),
            "distance": away.tolist(),
            "norm of x": _squares(x).tolist(),
            "norm of y": _squares(y).tolist(),
            "saddle": [float(v @ v) for v in problem.saddle],
            "end": [*x[-1].tolist(), *y[-1].tolist()],
            "predicted": (expected[:, :d].sum(1) + expected[:, d:].sum(1)).tolist(),
            "floor": float(limit[:d].sum()) + float(limit[d:].sum()),
            "rate": of_round.rate,
        }


def _squares(values: np.ndarray) -> np.ndarray:
    squares: np.ndarray = (values**2).sum(1)
    return squares
