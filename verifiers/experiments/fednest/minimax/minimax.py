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

"Linear" is judged by the slope of the log distance over the last quarter of the rounds: it has to
be more than half the predicted one.
"""

from __future__ import annotations

from dataclasses import replace

from verifiers.experiment import Conclusion, Plan, Steps, experiment, results_of
from verifiers.experiments.fednest.minimax.findings import findings
from verifiers.experiments.fednest.minimax.report import (
    Runs,
    distances,
    last_quarter,
    panels,
    sentences,
    where,
)
from verifiers.experiments.fednest.minimax.run import (
    METHODS,
    RATE,
    SINGLE,
    WITHOUT,
    MinimaxRun,
    Setting,
    Size,
)

SIZES = {
    "smoke": Size(2, 60, clients=4, dim=3, sampled=0.5, calls=2, outer_steps=100),
    "quick": Size(8, 200),
    "paper": Size(20, 200),
}
MAIN = tuple(Setting(form=form, spread=s) for form in ("printed", "halved") for s in (1.0, 10.0))
VARIED = (
    Setting(regulariser=1.0),
    Setting(coupling=1.0),
    Setting(matrices_drawn="general"),
    Setting(centring="clients"),
)
VARIED_SIZES = {"quick": (100, 100), "paper": (1000, 200)}
"""Clients and rounds where the rest is varied."""


@experiment(
    name="fednest/minimax",
    source="FedNest, slide Minimax Experiment",
    statement="LFedNest performs slightly better than FedAvg-S; FedNest converges linearly "
    "despite heterogeneity",
)
def minimax(plan: Plan) -> Steps:
    """Run all methods with all clients and with some, in the slides' setting and the code's."""
    size = SIZES[plan.profile]
    sizes = dict.fromkeys(MAIN, size)
    if plan.profile == "smoke":
        sizes = dict.fromkeys(MAIN[::2], size)
    else:
        clients, rounds = VARIED_SIZES[plan.profile]
        sizes |= dict.fromkeys(VARIED, replace(size, clients=clients, rounds=rounds))
    base = MinimaxRun(
        setting=MAIN[0], size=size, rounds=size.rounds, seed=plan.seed, engine=plan.engine
    )
    chosen = {
        (setting, share, method): base.but(
            method=method, setting=setting, participation=share, size=own, rounds=own.rounds
        )
        for setting, own in sizes.items()
        for share in (1.0, size.sampled)
        for method in METHODS
        if method not in (WITHOUT, SINGLE) or (setting in MAIN and share < 1)
    }
    runs = yield from results_of({key: run.over(size.seeds) for key, run in chosen.items()})
    return Conclusion(
        setting=_setting(size, plan),
        sentences=sentences(runs),
        findings=findings(runs, base),
        panels=panels(runs),
        numbers=_numbers(runs),
    )


def _setting(size: Size, plan: Plan) -> list[str]:
    told = [
        f"{size.clients:,} clients, d = {size.dim}, {size.rounds} rounds, {size.seeds} seeds (data "
        f"and cohorts), {100 * size.sampled:g} % of the clients where some are sampled",
        f"T = {size.calls} calls of FedInn of {size.inner_steps} steps, FedOut of "
        f"{size.outer_steps}; FedAvg-S {size.calls * size.inner_steps} steps",
        f"slides' objective: step size {RATE:g} (the slides give none); the code's: {RATE:g}/d",
        "no noise; the indirect part of the hypergradient left out, as in the code (N = 0)",
        "band: smallest and largest seed",
    ]
    if plan.profile == "quick":
        clients, rounds = VARIED_SIZES["quick"]
        told.append(f"λ, t_i, A_i and Σ b_i = 0 with {clients} clients and {rounds} rounds")
    return told


def _numbers(runs: Runs) -> dict[str, object]:
    """The means over seeds that the page's tables are made of."""
    means: dict[str, object] = {}
    for (setting, share, method), results in runs.items():
        mean = sum(last_quarter(distances(r)) for r in results) / len(results)
        floor = sum(r["floor x"] + r["floor y"] for r in results) / len(results)
        rate = sum(r["rate"] for r in results) / len(results)
        means[f"{where(setting, share)}; {method}"] = {
            "distance": mean, "floor": floor, "rate": rate
        }  # fmt: skip
    return means
