r"""The simplex of the robust MAML problem.

**Statement.** min_w max_{p∈Δ_n} Σ p_i f_i(w − η∇f_i(w)), with Δ_n = {p ∈ R^n_+ | Σ p_i = 0,
p_i ≥ 0} "the standard simplex": the largest task loss is minimised.

**Kind.** Identity: the maximum over Δ_n is the largest loss.

**Source.** 000, (8) (DAMAML); 001, (8) (TR-MAML). Both editions print Σ p_i = 0.

**Finding.** A misprint of one digit, in both editions. Σ p_i = 0 and p_i ≥ 0 leave p = 0 alone: the
maximum is 0 for every w, and every w minimises it. "The standard simplex" stands beside it, and a
simplex Σ r_i = 1 in (3): with Σ p_i = 1 the maximum is the largest loss. It is the vertex of a
linear function on the simplex {p ≥ 0, Σ p_i = 1}.
"""

from typing import Any

import numpy as np
import torch

from synthetic.certificates.cone import solve
from synthetic.problems.maml import MAML
from toolkit.cases import Case, grid
from toolkit.parameters import sweep
from toolkit.readings import Erratum, intended, literal
from verifiers.claim_types.comparison import comparison
from verifiers.compared import Comparison


@comparison(
    name="comfedl/equation-8",
    source="000 and 001, (8)",
    statement=r"\max_{p\in\Delta_n}\sum_{i=1}^n p_i f_i(w-\eta\nabla f_i(w)) = "
    r"\max_i f_i(w-\eta\nabla f_i(w)),\quad \Delta_n = \left\{p\in\mathbb{R}^n_+\,\middle|\,"
    r"\sum_{i=1}^n p_i = 0,\, p_i\ge 0\right\}",
    cases=grid(MAML(clients=sweep(2, 5), heterogeneity=1.0, offset=0.5)),
    edition="000 and 001",
    readings={
        "Σ p_i = 0": literal(0.0),
        "the standard simplex": intended(
            1.0,
            quote="(8): “p_i denotes the probability associated with i-th task”, “Δ_n = {…} is the "
            "standard simplex”; (3) prints Σ r_i = 1 for the simplex Λ_n",
        ),
    },
    erratum=Erratum(
        "misprint",
        changes="Nothing, once Σ p_i = 1 is read for Σ p_i = 0. As printed the set has one point.",
    ),
    false_siblings=[("total 2", 2.0), ("total 1/2", 0.5)],
    explain=(
        "Both editions print Σp_i = 0 where they say “the standard simplex”. Taken literally the "
        "maximum is 0 whatever the model; on the standard simplex the statement holds."
    ),
)
def simplex(case: Case, right: Any) -> list[Comparison]:
    made = []
    for k, at in enumerate((np.zeros(case.problem.dim), case.problem.solution.minimiser)):
        losses = case.problem.losses(torch.from_numpy(at)[:, None])[:, 0].numpy()
        low, high = _maximum(losses, right)
        made.append(Comparison(f"w = {np.round(at, 3)}", low, high, float(losses.max()), k))
    return made


def _maximum(losses, total):
    """Enclose max Σ p_i f_i over p ≥ 0, Σ p_i = total: a feasible p, and a dual bound."""
    import cvxpy as cp

    p = cp.Variable(len(losses))
    solve(cp.Maximize(losses @ p), [p >= 0, cp.sum(p) == total])
    found = np.clip(p.value, 0.0, None)
    found = found * (total / found.sum()) if found.sum() > 0 else found
    return float(found @ losses), total * float(losses.max())
