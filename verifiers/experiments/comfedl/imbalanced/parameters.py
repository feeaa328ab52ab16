r"""The synchronisation gap and the regularisation of ComFedL.

The preprint's figure 2 and the journal version's figure 3.

Printed: the data of comfedl/imbalanced, τ varied (the text gives no values; 1, 5, 10 and 20 here)
and γ ∈ {0.1, 0.2, 2, 5}. ComFedL's step is η exp(f/γ)/γ times a gradient, so one η cannot serve all
γ: at w = 0 it is 10^{11}·η gradients long for γ = 0.1 and 0.3·η for γ = 5. Each γ runs at the
printed η = 0.01 where that does not overflow, else at the largest 10^{-k} that runs on every seed;
and each at the η that makes its first step as long as a gradient times 0.05, so that speeds are
compared at equal first steps as well.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from verifiers.experiment import (
    Conclusion,
    Plan,
    Sentence,
    Steps,
    experiment,
    judged_by_seeds,
    results_of,
)
from verifiers.experiments.comfedl.imbalanced.run import (
    Results,
    Search,
    base_run,
    largest_that_runs,
    last,
    panels,
    setting,
    speed,
)

SIZES = {"smoke": (2, 10), "quick": (10, 100), "paper": (20, 1000)}
GAMMAS = (0.1, 0.2, 2.0, 5.0)
GAPS = (1, 5, 10, 20)
FIRST_STEP = 0.05
GOOD = 0.8
"""Mean validation accuracy that counts as good, on ten balanced classes."""


@experiment(
    name="comfedl/imbalanced-parameters",
    source="ComFedL, preprint figure 2, journal version figure 3",
    statement="ComFedL reaches good accuracy at every τ, much faster at larger τ; γ = 0.1 and 0.2 "
    "converge much faster than 2 and 5; larger γ brings r_i nearer 1/n",
)
def parameters(plan: Plan) -> Steps:
    """Vary τ and γ, and judge the sentences."""
    seeds, rounds = SIZES[plan.profile]
    base = base_run(plan, rounds)
    step = _equal_first_step(0.5)
    by_gap: Results = yield from results_of(
        {f"τ = {tau}": base.but(local_steps=tau, step_size=step).over(seeds) for tau in GAPS}
    )
    searches: list[Search] = []
    for gamma in GAMMAS:
        searches.append((yield from largest_that_runs(base.but(temperature=gamma), seeds)))
    by_gamma = {search.run.label: search.results for search in searches}
    scaled = [base.but(temperature=g, step_size=_equal_first_step(g)) for g in GAMMAS]
    equal: Results = yield from results_of({run.label: run.over(seeds) for run in scaled})
    sentences = [*_gaps(by_gap), *_speeds(by_gamma, "largest η = 10^-k ≤ 0.01 that runs")]
    sentences += _speeds(equal, f"first steps of equal length, {FIRST_STEP:g} gradients")
    sentences += _weights(equal)
    return Conclusion(
        setting=setting(base, seeds),
        sentences=sentences,
        findings=[
            *(search.told for search in searches),
            "Which γ is fast depends on the η it is given: the factor exp(f/γ)/γ in front of the "
            "gradient falls from 10^{1/γ}/γ to 1/γ as the losses vanish, so a small γ starts fast "
            "and slows down.",
        ],
        panels=[
            *panels(by_gap, "tau-")[:2],
            *panels(by_gamma, "gamma-")[:2],
            *panels(equal, "gamma-equal-first-step-")[:2],
        ],
        numbers={"step_sizes": {str(s.run.temperature): s.run.step_size for s in searches}},
    )


def _equal_first_step(gamma: float) -> float:
    """Return the η with which the first step, at f = log 10, is FIRST_STEP gradients long."""
    return float(FIRST_STEP * gamma * 10.0 ** (-1 / gamma))


def _gaps(runs: Results) -> list[Sentence]:
    sentences = []
    for label, results in runs.items():
        ends = last(results, "validation average")
        text = f"good accuracy at every τ (validation average of at least {GOOD:g})"
        floor = np.full_like(ends, GOOD)
        sentences.append(judged_by_seeds(text, label, ends, floor, comparisons=len(runs)))
    for small, large in pairwise(runs):
        text = "a larger τ converges faster (mean validation accuracy over all rounds)"
        pair, where = (speed(runs[large]), speed(runs[small])), f"{large} against {small}"
        sentences.append(judged_by_seeds(text, where, *pair, comparisons=3))
    return sentences


def _speeds(runs: Results, how: str) -> list[Sentence]:
    """γ = 0.1 and 0.2 against 2 and 5."""
    labels = list(runs)
    return [
        judged_by_seeds(
            "a small γ converges faster (mean validation accuracy over all rounds)",
            f"{small} against {large}; {how}",
            speed(runs[small]),
            speed(runs[large]),
            comparisons=4,
        )
        for small in labels[:2]
        for large in labels[2:]
    ]


def _weights(runs: Results) -> list[Sentence]:
    sentences = []
    for small, large in pairwise(runs):
        x, y = (np.array([-r["distance of r from 1/n"] for r in runs[m]]) for m in (large, small))
        text = "a larger γ brings the weights r_i nearer 1/n (total variation at the last model)"
        sentences.append(judged_by_seeds(text, f"{large} against {small}", x, y, comparisons=3))
    return sentences
