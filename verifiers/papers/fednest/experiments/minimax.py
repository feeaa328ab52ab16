r"""The minimax experiment of the FedNest slides: FedNest, LFedNest, FedAvg-S.

Printed: min_x (1/m) max_y Σ f_i, f_i = −[½‖y‖² − b_iᵀy + yᵀA_i x] + (λ/2)‖x‖², on non-i.i.d.
synthetic data; nothing else. The public code (ucr-optml/FedNest, minmax_synthetic.ipynb) has 1,000
clients, 50 sampled, 200 rounds, T = 10 calls of FedInn of 50 local steps, FedOut of 500, d = 10,
lr = hlr = 0.01, A_i = t_i I with t_i ~ U(0, 0.1), b_i ~ N(0, s_i² I) less the mean of its entries,
s_i ~ U(0, 2s), s = 1 or 10, λ = 0.1, x_0 = y_0 = 10·1; FedAvg-S steps y, then x, 500 times.

Two objectives: the slides' at the rate 0.01, and the code's, which has ½ before b_i and A_i and
divides the rates by d. Each with all clients and with 5 % sampled. Beside the slides' FedNest runs
the code's, whose y has no b_i. LFedNest with T = 1 and all 500 steps in one cohort tells what new
cohorts at every FedInn are worth. On the side λ, the t_i, general A_i and Σ b_i = 0 are varied.

All Hessians are equal, so that variance reduction changes no average: FedNest and LFedNest are the
same method here.

"Linear" is judged by the slope of the log distance over the last quarter of the rounds: it has to
be more than half the predicted one.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from driftproof.synthetic.problems.random_minimax import RandomMinimax
from driftproof.toolkit.algorithm import Algorithm
from driftproof.toolkit.algorithms.fedavg_s import FedAvgS
from driftproof.toolkit.algorithms.fednest import FedNest
from driftproof.toolkit.algorithms.lfednest import LFedNest
from driftproof.verifiers import experiment as study
from driftproof.verifiers.experiment import Figure, Outcome, Outcomes, Run, Says, experiment
from driftproof.verifiers.papers.fednest.claims._minimax import moments

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


MAIN: dict[str, tuple[str, dict[str, Any]]] = {
    "slides' objective, s = 1": ("slides-s1", {}),
    "slides' objective, s = 10": ("slides-s10", {"spread": 10.0}),
    "public code's objective, s = 1": ("code-s1", {"form": "halved"}),
    "public code's objective, s = 10": ("code-s10", {"form": "halved", "spread": 10.0}),
}
VARIED: dict[str, tuple[str, dict[str, Any]]] = {
    "slides' objective, s = 1, λ = 1": ("lambda1", {"regulariser": 1.0}),
    "slides' objective, s = 1, t_i ~ U(0, 1)": ("t1", {"coupling": 1.0}),
    "slides' objective, s = 1, A_i general": ("general", {"matrices_drawn": "general"}),
    "slides' objective, s = 1, Σ b_i = 0": ("centred", {"centring": "clients"}),
}
"""Settings: a name for files, and parameters of the problem."""
PRINTED = RandomMinimax(clients=1000, dim=10)
SIZES = {
    "smoke": (
        2,
        {"rounds": 60, "calls": 2, "outer_steps": 100},
        replace(PRINTED, clients=4, dim=3),
        0.5,
    ),
    "quick": (8, {"rounds": 200}, PRINTED, 0.05),
    "paper": (20, {"rounds": 200}, PRINTED, 0.05),
}
"""Seeds, what runs have, the problem, and the share of clients where some are sampled."""
FEW = {"quick": (100, 100), "paper": (1000, 200)}
"""Clients and rounds where the rest is varied."""
SMALL = 1e-22
"""Share of the first squared distance under which rounding begins to be seen."""


@experiment(
    name="fednest/minimax",
    source="FedNest, slide Minimax Experiment",
    statement="LFedNest performs slightly better than FedAvg-S; FedNest converges linearly "
    "despite heterogeneity",
)
def minimax(plan: study.Plan) -> study.Study:
    """Run all methods with all clients and with some, in the slides' setting and the code's."""
    seeds, given, problem, sampled = SIZES[plan.profile]
    base = MinimaxRun.planned(plan, objective=problem, **given)
    few = base
    if plan.profile in FEW:
        clients, rounds = FEW[plan.profile]
        few = base.but(objective=replace(problem, clients=clients), rounds=rounds)
    main = list(MAIN)[:: 2 if plan.profile == "smoke" else 1]
    other = list(VARIED) if plan.profile in FEW else []
    runs: dict[Any, MinimaxRun] = {}
    figures = []
    for setting in (*main, *other):
        name, changed = (MAIN | VARIED)[setting]
        own = base if setting in MAIN else few
        objective = replace(own.objective, **changed)
        for share in (1.0, sampled):
            place = where(setting, share)
            keys = [
                (place, method)
                for method in METHODS
                if method not in (WITHOUT, SINGLE) or (setting in MAIN and share < 1)
            ]
            runs |= {
                key: own.but(method=key[1], objective=objective, participation=share)
                for key in keys
            }
            file = f"{name}-{'all' if share == 1 else 'sampled'}"
            figures.append(Figure(file, place, "distance", keys, log="y"))
    shares = 1.0, sampled
    return study.Study(
        methods=runs,
        seeds=seeds,
        says=sentences(
            *([where(setting, share) for setting in of for share in shares] for of in (main, other))
        ),
        setting=[
            f"d = {problem.dim}, {100 * sampled:g} % of the clients where some are sampled; "
            "λ, t_i, A_i and Σ b_i = 0 are varied with "
            f"{few.objective.clients:,} clients, {few.rounds} rounds",
            f"T = {base.calls} calls of FedInn of {base.inner_steps} steps, FedOut of "
            f"{base.outer_steps}; FedAvg-S {base.calls * base.inner_steps} steps",
            f"slides' objective: step size {RATE:g} (the slides give none); the code's: {RATE:g}/d",
            "no noise; the indirect part of the hypergradient left out, as in the code (N = 0)",
        ],
        shown=("distance",),
        figures=figures,
        more=_more,
    )


def where(setting: str, participation: float) -> str:
    """Name a setting and who takes part."""
    share = "all clients" if participation == 1 else f"{100 * participation:g} % of clients sampled"
    return f"{setting}; {share}"


def last_quarter(of: Outcome[Any], name: str) -> np.ndarray:
    """Return each seed's mean over the last quarter of the rounds."""
    values = of.over(name)
    return np.asarray(values[:, -max(1, values.shape[1] // 4) :].mean(1))


def nearness(of: Outcome[Any], name: str) -> np.ndarray:
    """Return minus the logarithm to base 10 of that mean, [seeds]."""
    return np.asarray(-np.log10(last_quarter(of, name)))


def linear(of: Outcome[Any], name: str) -> np.ndarray:
    """Return each seed's ``steepness`` of the distances, or of the notebook's norms."""
    return np.array([steepness(r[name], r["rate"]) for r in of.results])


def steepness(distances: Any, rate: float) -> float:
    """Return the slope of log(squared distance) over that of rate^{2k}: 1 is linear as predicted.

    Over the last quarter of the rounds before rounding is seen.
    """
    values = np.asarray(distances)
    end = int(np.flatnonzero(values > SMALL * values[0])[-1])
    first = end - max(2, end // 4)
    slope = np.polyfit(np.arange(first, end + 1), np.log(values[first : end + 1]), 1)[0]
    return float(slope / (2 * np.log(rate)))


def sentences(main: list[str], other: list[str]) -> list[Says]:
    """Return both sentences in every place, and the second of the notebook's own variant."""
    slope: Any = {"by": linear, "how": "slope of its log over the predicted one, at the end"}
    text = "FedNest converges linearly despite heterogeneity"
    says = [
        each
        for places, own in ((main, ""), (other, " (in settings of our own)"))
        if places
        for each in (
            Says(
                text=f"LFedNest performs slightly better than FedAvg-S{own}",
                pairs=[((place, "LFedNest"), (place, "FedAvg-S")) for place in places],
                of=("distance",),
                by=nearness,
                how="powers of ten, mean over the last quarter",
            ),
            Says(
                text=f"{text}{own}",
                pairs=[((place, "FedNest"), 0.5) for place in places],
                of=("distance",),
                **slope,
            ),
        )
    ]
    notebooks = f"{text} (of the notebook's ‖x‖² + ‖y‖², b left out of y's step)"
    pairs = [((place, WITHOUT), 0.5) for place in main if place.endswith("sampled")]
    return [*says, Says(text=notebooks, pairs=pairs, of=("norms",), **slope)]


def _more(runs: Outcomes) -> study.Conclusion:
    """Return what the runs show beside the sentences, with the predicted floors and rates."""
    gap = max(
        float(np.abs(np.subtract(one["end"], other["end"])).max())
        for (place, method), of in runs.items()
        if method == "FedNest"
        for one, other in zip(of.results, runs[place, "LFedNest"].results, strict=True)
    )
    findings = [
        "On the same cohorts the last iterates of FedNest and LFedNest differ by at most "
        f"{gap:.2g} in any entry, over all settings and seeds."
    ]
    for (place, method), of in runs.items():
        if method == WITHOUT:
            x, y = np.mean([np.square(r["end"]).sum(1) for r in of.results], 0)
            there = np.mean([r["saddle"] for r in of.results], 0)
            findings.append(
                f"{place}: with b left out of y's step FedNest goes to 0 (‖x‖² = {x:.2g}, ‖y‖² = "
                f"{y:.2g} at the end) and not to the saddle point (‖x*‖² = {there[0]:.2g}, ‖y*‖² = "
                f"{there[1]:.2g})."
            )
    numbers = {
        study.called(key): {
            "distance": float(last_quarter(of, "distance").mean()),
            **{name: float(np.mean([r[name] for r in of.results])) for name in ("floor", "rate")},
        }
        for key, of in runs.items()
    }
    return study.Conclusion(findings=findings, numbers=numbers)
