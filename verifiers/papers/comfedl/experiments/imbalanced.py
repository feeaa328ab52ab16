r"""Robust averaging on one large and nine small clients: ComFedL beside other methods.

The preprint's figure 3 and the journal version's figure 2.

Printed: MNIST, logistic regression, ten workers of which one has 5,000 images and nine have 20;
lr 0.01, τ = 5; ComFedL with γ = 0.5 (preprint) or 0.2 (journal version), DRFL with 0.08 for the
weights, q-FedAvg with q = 0.2. Here: softmax regression on raw pixels and a constant, from w = 0;
minibatches of 20 drawn with replacement (the text gives no size); validation images split evenly
over clients (the text does not say how); on scikit-learn's digits the large client has 1,000.

ComFedL's printed step is η exp(f_B/γ)/γ·∇f_B. At w = 0, f = log 10, so the first step is
η·10^{1/γ}/γ times a gradient: 5,000 gradients at γ = 0.2 and 2 at γ = 0.5, for η = 0.01. Where that
overflows, the largest η = 10^{-k} that runs on every seed is taken, and FedAvg is run both at the
printed rate and with ComFedL's own first step, so that "converges faster" does not merely compare
step sizes. FedAvg weighs clients by their samples (journal version, section 5.1).

Each sentence of the papers is tested at level 0.05, divided by the comparisons it makes.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log
from typing import Any

import numpy as np

from driftproof.verifiers import experiment as study
from driftproof.verifiers.experiment import Sentence, experiment, judged
from driftproof.verifiers.papers.comfedl.experiments._imbalanced import (
    METRICS,
    PRINTED,
    ImageRun,
    Images,
    Search,
    base_run,
    largest_that_runs,
    panels,
    setting,
    speed,
)

SIZES = {"smoke": (2, 10), "quick": (10, 200), "paper": (20, 1000)}
"""Profile: seeds and rounds."""
GAMMAS = (0.5, 0.2)


@dataclass(frozen=True)
class Optimum(study.Computed):
    """The certified optimum of (5) on the first partition."""

    run: ImageRun

    def measured(self) -> dict[str, Any]:
        """Solve and certify."""
        found = self.run.in_form("log").solution
        return {"low": found.low, "high": found.high, "certificate": found.certificate}


@experiment(
    name="comfedl/imbalanced",
    source="ComFedL, preprint figure 3, journal version figure 2",
    statement="ComFedL beats FedAvg, q-FedAvg and DRFL in average and in worst accuracy, training "
    "and validation, and converges faster; q-FedAvg and DRFL beat FedAvg",
)
def imbalanced(plan: study.Plan) -> study.Steps:
    """Run ComFedL as printed and where it runs, and the others; judge the sentences."""
    seeds, rounds = SIZES[plan.profile]
    base = base_run(plan, rounds)
    searches: dict[float, Search] = {}
    for gamma in GAMMAS:
        searches[gamma] = yield from largest_that_runs(base.but(temperature=gamma), seeds)
    ours = searches[0.5].found.run
    first = ours.step_size * 10.0 ** (1 / 0.5) / 0.5
    others = [base.but(method=name) for name in ("fedavg", "q-fedavg", "drfl")]
    others.append(base.but(method="fedavg", step_size=first))
    runs = {search.found.run.label: search.found for search in searches.values()}
    runs |= yield from study.outcomes({other.label: other for other in others}, seeds)
    ((blob, seconds),) = yield [Optimum(base)]
    (optimum,) = study.unpacked([(blob, seconds)])
    labels = [other.label for other in others]
    return study.Conclusion(
        setting=setting(base, seeds),
        sentences=[
            *(_printed(searches[gamma], seeds) for gamma in sorted(GAMMAS)),
            *(each for label in labels for each in _against(runs, ours.label, label, len(labels))),
            *(
                each
                for label in labels[1:3]
                for metric in METRICS[:2]
                for each in judged(
                    f"{label.split(',')[0]} outperforms FedAvg in {metric} accuracy",
                    {f"{label} against {labels[0]}": _last(runs, metric, label, labels[0])},
                    comparisons=4,
                )
            ),
        ],
        findings=_findings(searches, optimum | {"seconds": seconds}, runs),
        panels=[*panels(runs), _suboptimality(runs, optimum["high"])],
        numbers={
            "optimum": optimum | {"seconds": seconds},
            "step_sizes": {str(g): search.found.run.step_size for g, search in searches.items()},
        },
    )


def _last(runs: dict[str, Images], metric: str, one: str, other: str) -> Any:
    return runs[one].last(metric), runs[other].last(metric)


def _against(runs: dict[str, Images], ours: str, other: str, others: int) -> list[Sentence]:
    """ComFedL against another method: four accuracies, and the speed."""
    where = f"{ours} against {other}"
    sentences = [
        each
        for metric in METRICS
        for each in judged(
            f"ComFedL has the better {metric.replace(' ', ' accuracy, ')}",
            {where: _last(runs, metric, ours, other)},
            comparisons=len(METRICS) * others,
        )
    ]
    text = "ComFedL converges faster (mean validation accuracy over all rounds)"
    pair = speed(runs[ours]), speed(runs[other])
    return sentences + judged(text, {where: pair}, comparisons=others)


def _printed(search: Search, seeds: int) -> Sentence:
    where = f"as printed: γ = {search.found.run.temperature:g}, η = {PRINTED:g}"
    text = "ComFedL beats the other methods in every metric"
    if not search.overflows:
        return Sentence(text, where, "undecided", "runs without overflow; compare the plots")
    at = search.overflows[0]
    why = (
        f"exp overflows on {len(search.overflows)} of {seeds} seeds; on the first, in round "
        f"{at['round']}"
    )
    if "exponent" in at:
        why += (
            f", local step {at['local_step']}, at client {at['client']}, where f/γ = "
            f"{at['exponent']:.3g} (exp overflows above 709.8)"
        )
    return Sentence(text, where, "not reproduced", why)


def _suboptimality(runs: dict[str, Images], optimum: float) -> study.Panel:
    curves = [
        study.curve(name, of.results[0]["rounds"], np.array([of.results[0]["objective"]]) - optimum)
        for name, of in runs.items()
        if "γ = 0.2" not in name  # its objective is another one
    ]
    title = "objective (5), γ = 0.5, above its certified optimum (first seed)"
    return study.Panel("suboptimality", title, "round", "suboptimality", curves, log="y")


def _findings(
    searches: dict[float, Search], optimum: dict[str, Any], runs: dict[str, Images]
) -> list[str]:
    certificate = optimum["certificate"]
    norm = max(result["largest_norm"] for of in runs.values() for result in of.results)
    return [
        *(search.told for search in searches.values()),
        f"Optimum of (5) on the first seed, ‖w‖ ≤ 30, by {certificate['method']}: between "
        f"{optimum['low']:.10g} and {optimum['high']:.10g} (Frank–Wolfe gap "
        f"{certificate['frank_wolfe_gap']:.2g}), in {optimum['seconds']:.0f} s. The models' norms "
        f"stay below {norm:.3g}.",
        f"A step of ComFedL at f = log 10 = {log(10):.3f} is {10.0 ** (1 / 0.5) / 0.5:g} times as "
        "long as FedAvg's at the same η (γ = 0.5), so equal learning rates do not compare the "
        "methods.",
    ]
