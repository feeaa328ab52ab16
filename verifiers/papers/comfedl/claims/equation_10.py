"""Robust MAML as a composition: maximising over p in (9) exactly gives (10).

With g^i(y) = exp(f_i(y)/γ), (10) is a special case of problem (1).

**Kind.** Identity: the maximum over p is γ log of the objective of (10), which is increasing.
"""

from typing import NamedTuple

import numpy as np
import torch

from driftproof.synthetic.problems.maml import MAML
from driftproof.toolkit.cases import Case, grid
from driftproof.toolkit.parameters import sweep
from driftproof.toolkit.readings import Erratum, intended, literal
from driftproof.verifiers.claim_types.compared import Comparison
from driftproof.verifiers.claim_types.comparison import comparison
from driftproof.verifiers.judges.comparisons import maximum_over_simplex
from driftproof.verifiers.papers.comfedl.claims._maml import points, task_losses


class Simplex(NamedTuple):
    """The set that p is maximised over, and the temperature of the right side."""

    total: float
    """What Σ p_i is set to."""
    sharpness: float = 1.0
    """The factor on 1/γ."""


TASKS = MAML(
    clients=sweep(2, 5), form="exp", heterogeneity=1.0, offset=0.5, temperature=sweep(2.0, 8.0)
)


@comparison(
    name="comfedl/equation-10",
    source="ComFedL, arXiv v1 and v3, (9) and (10)",
    statement=r"\max_{p\in\Delta_n}\sum_{i=1}^n p_i f_i(w-\eta\nabla f_i(w)) - "
    r"\gamma\sum_{i=1}^n p_i\log(np_i) = \gamma\log\Big(\frac1n\sum_{i=1}^n"
    r"\exp\big(f_i(w-\eta\nabla f_i(w))/\gamma\big)\Big)",
    cases=grid(TASKS),
    edition="ComFedL, arXiv v1 and v3",
    readings={
        "Δ_n as (8) prints it, Σ p_i = 0": literal(Simplex(0.0)),
        "Δ_n the standard simplex": intended(
            Simplex(1.0),
            quote="(8): “Δ_n = {…} is the standard simplex”; “by exactly maximizing over p ∈ Δ_n” "
            "refers to Lemma 1, whose simplex has Σ r_i = 1",
        ),
    },
    erratum=Erratum(
        "misprint",
        changes="Read Σ p_i = 1 for Σ p_i = 0 in (8); nothing else changes.",
        same_as="comfedl/equation-8",
    ),
    false_siblings=[("twice the temperature", Simplex(1.0, 0.5)), ("total 2", Simplex(2.0))],
    explain=(
        "On the standard simplex, which both papers mean, (10) follows from Lemma 1; with the "
        "misprint of (8) the maximum is 0."
    ),
)
def robust_composition(case: Case[MAML, None], simplex: Simplex) -> list[Comparison]:
    problem, compared = case.problem, []
    gamma = problem.temperature / simplex.sharpness
    for k, at in enumerate(points(problem)):
        losses = task_losses(problem, at)
        value = float(gamma * np.log(np.mean(np.exp(losses / gamma))))
        low, high = maximum_over_simplex(losses, problem.temperature, simplex.total)
        composed = problem.temperature * float(
            problem.objective(torch.from_numpy(at)[:, None]).log()
        )
        where = f"w = {np.round(at, 3)}"
        compared.append(Comparison(where, low, high, value, float(k)))
        compared.append(Comparison(f"{where}, as (1)", composed, composed, value, k + 0.5))
    return compared
