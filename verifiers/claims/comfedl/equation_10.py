r"""Robust MAML as a composition.

**Statement.** By exactly maximising over p ∈ Δ_n, min_w (1/n) Σ exp(f_i(w − η∇f_i(w))/γ), (10), can
be solved instead of min_w max_{p∈Δ_n} Σ p_i f_i(w − η∇f_i(w)) − γ Σ p_i log(n p_i), (9); with
g^i(y) = exp(f_i(y)/γ) it is a special case of problem (1).

**Kind.** Identity: the maximum over p is γ log of the objective of (10), which is increasing.

**Source.** 000 and 001, (9) and (10).

**Finding.** The misprint of (8) again, and counted there: with Σ p_i = 0 the maximum is 0 for every
w, and (9) has nothing to do with (10). On the standard simplex Lemma 1 gives the identity.
"""

from typing import Any

import numpy as np
import torch

from synthetic.problems.maml import MAML
from toolkit.cases import Case, grid
from toolkit.parameters import sweep
from toolkit.readings import Erratum, intended, literal
from verifiers.claim_types.comparison import comparison
from verifiers.compared import Comparison
from verifiers.ground_truth import maximum_over_simplex


@comparison(
    name="comfedl/equation-10",
    source="000 and 001, (9) and (10)",
    statement=r"\max_{p\in\Delta_n}\sum_{i=1}^n p_i f_i(w-\eta\nabla f_i(w)) - "
    r"\gamma\sum_{i=1}^n p_i\log(np_i) = \gamma\log\Big(\frac1n\sum_{i=1}^n"
    r"\exp\big(f_i(w-\eta\nabla f_i(w))/\gamma\big)\Big)",
    cases=grid(
        MAML(
            clients=sweep(2, 5),
            form="exp",
            heterogeneity=1.0,
            offset=0.5,
            temperature=sweep(2.0, 8.0),
        )
    ),
    edition="000 and 001",
    # (what Σ p_i is set to, the factor on 1/γ)
    readings={
        "Δ_n as (8) prints it, Σ p_i = 0": literal((0.0, 1.0)),
        "Δ_n the standard simplex": intended(
            (1.0, 1.0),
            quote="(8): “Δ_n = {…} is the standard simplex”; “by exactly maximizing over p ∈ Δ_n” "
            "refers to Lemma 1, whose simplex has Σ r_i = 1",
        ),
    },
    erratum=Erratum(
        "misprint",
        changes="Nothing, once Σ p_i = 1 is read for Σ p_i = 0 in (8).",
        same_as="comfedl/equation-8",
    ),
    false_siblings=[("twice the temperature", (1.0, 0.5)), ("total 2", (2.0, 1.0))],
    explain=(
        "On the standard simplex, which both papers mean, (10) follows from Lemma 1; with the "
        "misprint of (8) the maximum is 0."
    ),
)
def robust_composition(case: Case, right: Any) -> list[Comparison]:
    mass, scale = right
    problem, made = case.problem, []
    gamma = problem.temperature / scale
    for k, at in enumerate((np.zeros(problem.dim), problem.solution.minimiser)):
        point = torch.from_numpy(at)[:, None]
        losses = problem.losses(point)[:, 0].numpy()
        value = float(gamma * np.log(np.mean(np.exp(losses / gamma))))
        low, high = maximum_over_simplex(losses, problem.temperature, mass)
        composed = problem.temperature * float(problem.objective(point).log())
        where = f"w = {np.round(at, 3)}"
        made.append(Comparison(where, low, high, value, float(k)))
        made.append(Comparison(f"{where}, as (1)", composed, composed, value, k + 0.5))
    return made
