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

from driftproof.verifiers.experiment import (
    Conclusion,
    Plan,
    Sentence,
    Steps,
    experiment,
    judged,
    outcomes,
)
from driftproof.verifiers.papers.comfedl.experiments._imbalanced import (
    Images,
    Search,
    base_run,
    largest_that_runs,
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
    by_gap = yield from outcomes(
        {f"τ = {tau}": base.but(local_steps=tau, step_size=step) for tau in GAPS}, seeds
    )
    searches: list[Search] = []
    for gamma in GAMMAS:
        searches.append((yield from largest_that_runs(base.but(temperature=gamma), seeds)))
    by_gamma = {search.found.run.label: search.found for search in searches}
    scaled = [base.but(temperature=g, step_size=_equal_first_step(g)) for g in GAMMAS]
    equal = yield from outcomes({run.label: run for run in scaled}, seeds)
    return Conclusion(
        setting=setting(base, seeds),
        sentences=[
            *_gaps(by_gap),
            *_speeds(by_gamma, "largest η = 10^-k ≤ 0.01 that runs"),
            *_speeds(equal, f"first steps of equal length, {FIRST_STEP:g} gradients"),
            *judged(
                "a larger γ brings the weights r_i nearer 1/n (total variation at the last model)",
                {
                    f"{large} against {small}": (_closeness(equal[large]), _closeness(equal[small]))
                    for small, large in pairwise(equal)
                },
            ),
        ],
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
        numbers={
            "step_sizes": {str(s.found.run.temperature): s.found.run.step_size for s in searches}
        },
    )


def _equal_first_step(gamma: float) -> float:
    """Return the η with which the first step, at f = log 10, is FIRST_STEP gradients long."""
    return float(FIRST_STEP * gamma * 10.0 ** (-1 / gamma))


def _gaps(runs: dict[str, Images]) -> list[Sentence]:
    ends = {label: of.last("validation average") for label, of in runs.items()}
    good = f"good accuracy at every τ (validation average of at least {GOOD:g})"
    faster = "a larger τ converges faster (mean validation accuracy over all rounds)"
    return [
        *judged(good, {label: (end, np.full_like(end, GOOD)) for label, end in ends.items()}),
        *judged(faster, {
            f"{large} against {small}": (speed(runs[large]), speed(runs[small]))
            for small, large in pairwise(runs)
        }),
    ]  # fmt: skip


def _speeds(runs: dict[str, Images], how: str) -> list[Sentence]:
    """γ = 0.1 and 0.2 against 2 and 5."""
    labels = list(runs)
    pairs = {
        f"{small} against {large}; {how}": (speed(runs[small]), speed(runs[large]))
        for small in labels[:2]
        for large in labels[2:]
    }
    return judged("a small γ converges faster (mean validation accuracy over all rounds)", pairs)


def _closeness(of: Images) -> np.ndarray:
    return np.array([-result["distance of r from 1/n"] for result in of.results])
