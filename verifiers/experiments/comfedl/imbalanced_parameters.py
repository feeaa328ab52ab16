r"""The synchronisation gap and the regularisation of ComFedL (000 figure 2, 001 figure 3).

Printed: the data of comfedl/imbalanced, τ varied (the text gives no values; 1, 5, 10 and 20 here)
and γ ∈ {0.1, 0.2, 2, 5}. ComFedL's step is η exp(f/γ)/γ times a gradient, so one η cannot serve all
γ: at w = 0 it is 10^{11}·η gradients long for γ = 0.1 and 0.3·η for γ = 5. Each γ runs at the
printed η = 0.01 where that does not overflow, else at the largest 10^{-k} that runs on every seed;
and each at the η that makes its first step as long as a gradient times 0.05, so that speeds are
compared at equal first steps as well.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from verifiers.experiment import Conclusion, Plan, Sentence, Steps, experiment, judged_by_seeds
from verifiers.experiments.comfedl._imbalanced_panels import Results, panels, setting
from verifiers.experiments.comfedl._imbalanced_runs import (
    PRINTED,
    OneRun,
    largest_that_runs,
    loaded,
    over_seeds,
    sizes_of,
)

SIZES = {"smoke": (2, 10), "quick": (10, 100), "paper": (20, 1000)}
GAMMAS = (0.1, 0.2, 2.0, 5.0)
GAPS = (1, 5, 10, 20)
FIRST_STEP = 0.05
GOOD = 0.8
"""Mean validation accuracy that counts as good, on ten balanced classes."""


@experiment(
    name="comfedl/imbalanced-parameters",
    source="000 figure 2, 001 figure 3",
    statement="ComFedL reaches good accuracy at every τ, much faster at larger τ; γ = 0.1 and 0.2 "
    "converge much faster than 2 and 5; larger γ brings r_i nearer 1/n",
)
def parameters(plan: Plan) -> Steps:
    """Vary τ and γ, and judge the sentences."""
    seeds, rounds = SIZES[plan.profile]
    base = OneRun(
        "comfedl", 0.5, PRINTED, plan.seed, 0, rounds, plan.data, plan.engine, sizes_of(plan)
    )
    scaled = {g: base.but(temperature=g, step_size=_equal_first_step(g)) for g in GAMMAS}
    by_gap: Results = {}
    for tau in GAPS:
        chosen = base.but(local_steps=tau, step_size=_equal_first_step(0.5))
        by_gap[f"τ = {tau}"] = loaded((yield over_seeds(chosen, seeds)))
    found: dict[float, OneRun] = {}
    failed: dict[float, list[dict[str, Any]]] = {}
    by_gamma: Results = {}
    equal: Results = {}
    for gamma in GAMMAS:
        found[gamma], results, failed[gamma] = yield from largest_that_runs(
            base.but(temperature=gamma), seeds
        )
        by_gamma[found[gamma].label] = results
        equal[scaled[gamma].label] = loaded((yield over_seeds(scaled[gamma], seeds)))
    sentences = [*_gaps(by_gap), *_speeds(by_gamma, "largest η = 10^-k ≤ 0.01 that runs")]
    sentences += _speeds(equal, f"first steps of equal length, {FIRST_STEP:g} gradients")
    sentences += _weights(equal)
    return Conclusion(
        setting=setting(plan, seeds, rounds),
        sentences=sentences,
        findings=_findings(failed, found),
        panels=[
            *panels(by_gap, "tau-")[:2],
            *panels(by_gamma, "gamma-")[:2],
            *panels(equal, "gamma-equal-first-step-")[:2],
        ],
        numbers={"step_sizes": {str(g): run_.step_size for g, run_ in found.items()}},
    )


def _equal_first_step(gamma: float) -> float:
    """Return the η with which the first step, at f = log 10, is FIRST_STEP gradients long."""
    return float(FIRST_STEP * gamma * 10.0 ** (-1 / gamma))


def _speed(results: list[dict[str, Any]]) -> np.ndarray:
    """Return each seed's mean validation accuracy over all rounds."""
    return np.array([np.mean(r["validation average"]) for r in results])


def _gaps(runs: Results) -> list[Sentence]:
    made = []
    for label, results in runs.items():
        last = np.array([r["validation average"][-1] for r in results])
        text = f"good accuracy at every τ (validation average of at least {GOOD:g})"
        floor = np.full_like(last, GOOD)
        made.append(judged_by_seeds(text, label, last, floor, comparisons=len(runs)))
    for small, large in pairwise(runs):
        text = "a larger τ converges faster (mean validation accuracy over all rounds)"
        x, y = _speed(runs[large]), _speed(runs[small])
        made.append(judged_by_seeds(text, f"{large} against {small}", x, y, comparisons=3))
    return made


def _speeds(runs: Results, how: str) -> list[Sentence]:
    """γ = 0.1 and 0.2 against 2 and 5."""
    labels = list(runs)
    made = []
    for small in labels[:2]:
        for large in labels[2:]:
            text = "a small γ converges faster (mean validation accuracy over all rounds)"
            x, y = _speed(runs[small]), _speed(runs[large])
            where = f"{small} against {large}; {how}"
            made.append(judged_by_seeds(text, where, x, y, comparisons=4))
    return made


def _weights(runs: Results) -> list[Sentence]:
    made = []
    for small, large in pairwise(runs):
        x, y = (np.array([-r["distance of r from 1/n"] for r in runs[m]]) for m in (large, small))
        text = "a larger γ brings the weights r_i nearer 1/n (total variation at the last model)"
        made.append(judged_by_seeds(text, f"{large} against {small}", x, y, comparisons=3))
    return made


def _findings(failed: dict[float, list[dict[str, Any]]], found: dict[float, OneRun]) -> list[str]:
    made = []
    for gamma, overflows in failed.items():
        first = PRINTED * 10.0 ** (1 / gamma) / gamma
        told = f"γ = {gamma:g}: at η = {PRINTED:g} the first step is {first:.3g} gradients long"
        if overflows:
            told += (
                f" and exp(f/γ) overflows on {len(overflows)} seeds; the largest η = 10^-k that "
                f"runs is {found[gamma].step_size:g}"
            )
        else:
            told += " and runs"
        made.append(told + ".")
    made.append(
        "Which γ is fast depends on the η it is given: the factor exp(f/γ)/γ in front of the "
        "gradient falls from 10^{1/γ}/γ to 1/γ as the losses vanish, so a small γ starts fast and "
        "slows down."
    )
    return made
