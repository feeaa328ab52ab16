"""The runs of fednest/minimax: one method in one setting, on one seed's data and cohorts."""

from dataclasses import dataclass, replace
from typing import Any

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


@dataclass(frozen=True, kw_only=True)
class MinimaxRun(Run):
    """One method in one setting.

    ``WITHOUT`` is FedNest as the public notebook writes it, without b_i in y's step. Its step on x
    knows no b_i either, so that it is FedNest on the problem whose b_i are 0; where it ends is
    measured from the saddle point of the problem that has them.

    Attributes:
        objective: the problem, whose data are drawn for each seed.
        participation: the share of clients in a cohort.
        calls, inner_steps, outer_steps: T, and the local steps of FedInn and of FedOut.
    """

    fields = ("x", "y")
    scales = {"distance": "loss"}
    units = {"distance": "squared, from the saddle point"}
    drawn = ("fednest/minimax",)
    """All methods are compared on the same cohorts."""

    method: str = "FedNest"
    objective: RandomMinimax
    participation: float = 1.0
    calls: int = 10
    inner_steps: int = 50
    outer_steps: int = 500

    @property
    def problem(self) -> RandomMinimax:
        """The problem, b_i and all."""
        return replace(self.objective, partition=self.data_seed)

    @property
    def algorithm(self) -> Algorithm:
        """The method; the notebook divides its rates by the dimension."""
        rate = RATE / self.objective.dim if self.objective.form == "halved" else RATE
        rates = {"inner_step_size": rate, "outer_step_size": rate}
        calls, steps = self.calls, self.inner_steps
        if self.method == "FedAvg-S":
            return self.made(FedAvgS, local_steps=calls * steps, order="alternating", **rates)
        if self.method == SINGLE:
            calls, steps = 1, calls * steps
        kind = LFedNest if self.method in ("LFedNest", SINGLE) else FedNest
        return self.made(kind, inner_calls=calls, inner_steps=steps, terms=0, **rates)

    @property
    def sizes(self) -> str:
        """Clients, sampled ones, dimension."""
        sampled = f"{100 * self.participation:g} % sampled"
        return f"{self.objective.clients:,} clients, {sampled}, d = {self.objective.dim}"

    def measured(self) -> dict[str, Any]:
        """Return squared distances from the saddle point, ‖x‖² + ‖y‖², and what is predicted.

        That is the limit of the mean squared distance, and the rate: the spectral radius of a
        round's mean map, less the constant.
        """
        problem = self.problem
        moved = replace(problem, spread=0.0) if self.method == WITHOUT else problem
        x, y = self.followed(moved).fields.values()
        of_round, d = moments(moved, self.algorithm), moved.dim
        limit = of_round.limit()
        away = _squares(x - problem.saddle[0]) + _squares(y - problem.saddle[1])
        return {
            "round": list(range(len(away))),
            "distance": away.tolist(),
            "norms": (_squares(x) + _squares(y)).tolist(),
            "saddle": [float(v @ v) for v in problem.saddle],
            "end": [x[-1].tolist(), y[-1].tolist()],
            "floor": float(limit[:d].sum()) + float(limit[d:].sum()),
            "rate": of_round.rate,
        }


def _squares(values: np.ndarray) -> np.ndarray:
    squares: np.ndarray = (values**2).sum(1)
    return squares
