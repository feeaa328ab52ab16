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

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from driftproof.verifiers import experiment as study
from driftproof.verifiers.experiment import Outcome, Panel, Says, Sentence, curve, experiment
from driftproof.verifiers.papers.fednest.experiments._minimax_run import (
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
SMALL = 1e-22
"""Share of the first squared distance under which rounding begins to be seen."""
Runs = Mapping[tuple[Setting, float, str], Outcome[MinimaxRun]]
"""By setting, participation and method."""


@experiment(
    name="fednest/minimax",
    source="FedNest, slide Minimax Experiment",
    statement="LFedNest performs slightly better than FedAvg-S; FedNest converges linearly "
    "despite heterogeneity",
)
def minimax(plan: study.Plan) -> study.Steps:
    """Run all methods with all clients and with some, in the slides' setting and the code's."""
    size = SIZES[plan.profile]
    sizes = dict.fromkeys(MAIN[::2] if plan.profile == "smoke" else MAIN, size)
    if plan.profile != "smoke":
        clients, rounds = VARIED_SIZES[plan.profile]
        sizes |= dict.fromkeys(VARIED, replace(size, clients=clients, rounds=rounds))
    base = MinimaxRun.planned(plan, setting=MAIN[0], size=size, rounds=size.rounds)
    wanted = {
        (setting, share, method): base.but(
            method=method, setting=setting, participation=share, size=own, rounds=own.rounds
        )
        for setting, own in sizes.items()
        for share in (1.0, size.sampled)
        for method in METHODS
        if method not in (WITHOUT, SINGLE) or (setting in MAIN and share < 1)
    }
    runs = yield from study.outcomes(wanted, size.seeds)
    few = next(reversed(sizes.values()))
    return study.Conclusion(
        setting=[
            f"{size.clients:,} clients, d = {size.dim}, {size.rounds} rounds, {size.seeds} seeds "
            f"(data and cohorts), {100 * size.sampled:g} % of the clients where some are sampled; "
            "λ, t_i, A_i and Σ b_i = 0 are varied with "
            f"{few.clients:,} clients, {few.rounds} rounds",
            f"T = {size.calls} calls of FedInn of {size.inner_steps} steps, FedOut of "
            f"{size.outer_steps}; FedAvg-S {size.calls * size.inner_steps} steps",
            f"slides' objective: step size {RATE:g} (the slides give none); the code's: {RATE:g}/d",
            "no noise; the indirect part of the hypergradient left out, as in the code (N = 0)",
        ],
        sentences=sentences(runs),
        findings=_findings(runs),
        panels=_panels(runs),
        numbers={
            f"{where(setting, share)}; {method}": {
                "distance": float(last_quarter(of, "distance").mean()),
                "predicted": float(last_quarter(of, "predicted").mean()),
                **{
                    name: float(np.mean([r[name] for r in of.results]))
                    for name in ("floor", "rate")
                },
            }
            for (setting, share, method), of in runs.items()
        },
    )


def last_quarter(of: Outcome[Any], name: str) -> np.ndarray:
    """Return each seed's mean over the last quarter of the rounds."""
    values = of.over(name)
    return np.asarray(values[:, -max(1, values.shape[1] // 4) :].mean(1))


def nearness(of: Outcome[Any], name: str) -> np.ndarray:
    """Return minus the logarithm to base 10 of that mean, [seeds]."""
    return np.asarray(-np.log10(last_quarter(of, name)))


def linear(of: Outcome[Any], name: str) -> np.ndarray:
    """Return each seed's ``steepness`` of the distances, or of the notebook's norms."""
    distances = {"distance": lambda r: r["distance"], "norms": norms}[name]
    return np.array([steepness(distances(r), r["rate"]) for r in of.results])


def norms(result: Mapping[str, Any]) -> np.ndarray:
    """Return ‖x_k‖² + ‖y_k‖²: what the public notebook calls convergence."""
    total: np.ndarray = np.add(result["norm of x"], result["norm of y"])
    return total


def steepness(distances: Any, rate: float) -> float:
    """Return the slope of log(squared distance) over that of rate^{2k}: 1 is linear as predicted.

    Over the last quarter of the rounds before rounding is seen.
    """
    values = np.asarray(distances)
    end = int(np.flatnonzero(values > SMALL * values[0])[-1])
    first = end - max(2, end // 4)
    slope = np.polyfit(np.arange(first, end + 1), np.log(values[first : end + 1]), 1)[0]
    return float(slope / (2 * np.log(rate)))


def where(setting: Setting, participation: float) -> str:
    """Name a setting."""
    share = "all clients" if participation == 1 else f"{100 * participation:g} % of clients sampled"
    return f"{setting.label}; {share}"


def sentences(runs: Runs) -> list[Sentence]:
    """Judge both sentences in every setting, and the second of the notebook's own variant."""
    keyed = {_key(key): of for key, of in runs.items()}
    main, other = (
        list(dict.fromkeys(where(*key[:2]) for key in runs if (key[0] in MAIN) == own))
        for own in (True, False)
    )
    without = [_key(key) for key in runs if key[2] == WITHOUT]
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
    says.append(
        Says(text=f"{text} (of the notebook's ‖x‖² + ‖y‖², b left out of y's step)",
             pairs=[(key, 0.5) for key in without], of=("norms",), **slope)
    )  # fmt: skip
    return [sentence for each in says for sentence in study.judge(each, keyed)]


def _key(key: tuple[Setting, float, str]) -> tuple[str, str]:
    return where(*key[:2]), key[2]


def _findings(runs: Runs) -> list[str]:
    """Return what the runs show beside the sentences; the numbers have distances and floors.

    All Hessians are equal, so that variance reduction changes no average: FedNest and LFedNest are
    the same method here.
    """
    gap = max(
        float(np.abs(np.subtract(one["end"], other["end"])).max())
        for (setting, share, method), of in runs.items()
        if method == "FedNest"
        for one, other in zip(of.results, runs[setting, share, "LFedNest"].results, strict=True)
    )
    left_out = {key: of for key, of in runs.items() if key[2] == WITHOUT}
    ends = {
        key: [np.mean([r[f"norm of {v}"][-1] for r in of.results]) for v in ("x", "y")]
        for key, of in left_out.items()
    }
    there = {key: np.mean([r["saddle"] for r in of.results], 0) for key, of in left_out.items()}
    halved = [
        [r["norm of y"] for r in of.results]
        for key, of in left_out.items()
        if key[0].form == "halved"
    ]
    apart = np.abs(np.subtract(halved[0], halved[-1])).max() if len(halved) > 1 else np.nan
    return [
        "On the same cohorts the last iterates of FedNest and LFedNest differ by at most "
        f"{gap:.2g} in any entry, over all settings and seeds.",
        *(
            f"{where(*key[:2])}: with b left out of y's step FedNest goes to 0 (‖x‖² = "
            f"{ends[key][0]:.2g}, ‖y‖² = {ends[key][1]:.2g} at the end) and not to the saddle "
            f"point (‖x*‖² = {there[key][0]:.2g}, ‖y*‖² = {there[key][1]:.2g})."
            for key in left_out
        ),
        f"With b left out, s is not in the iteration: with the public code's objective the curves "
        f"for s = 1 and s = 10, where both are run, differ by {apart:.2g}.",
    ]


def _panels(runs: Runs) -> list[Panel]:
    """Return a plot of the distances in every setting, and of the notebook's norms."""
    plots, norm_plots = [], []
    for setting, share in dict.fromkeys((s, p) for s, p, _ in runs):
        own = {m: of for (s, p, m), of in runs.items() if (s, p) == (setting, share)}
        name, place = setting.short(share), where(setting, share)
        rounds = range(own["FedNest"].run.rounds + 1)
        predicted = [
            curve(f"{m}, predicted mean", rounds,
                  np.array([r["predicted"] for r in own[m].results]), "y")
            for m in ("FedNest", "FedAvg-S")
        ]  # fmt: skip
        label = "squared distance from the saddle point"
        shown = study.plot(name, place, own, "distance", label, log="y")
        plots.append(replace(shown, curves=[*shown.curves, *predicted]))
        if WITHOUT in own:
            some = {m: of for m, of in own.items() if m != SINGLE}
            title = f"as the public code plots: {place}"
            norm_plots += [
                study.plot(f"norm-{v}-{name}", title, some, f"norm of {v}", f"‖{v}‖²", log="y")
                for v in ("x", "y")
            ]
    return plots + norm_plots
