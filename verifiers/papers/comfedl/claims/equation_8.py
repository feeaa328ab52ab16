"""The simplex of the robust MAML problem.

**Kind.** Identity: the maximum over Δ_n is the largest loss.
"""

import numpy as np

from driftproof.synthetic.certificates.penalised import Ambiguity
from driftproof.synthetic.problems.maml import MAML
from driftproof.toolkit.cases import Case, grid
from driftproof.toolkit.parameters import sweep
from driftproof.toolkit.readings import Erratum, intended, literal
from driftproof.verifiers.claim_types.compared import Comparison
from driftproof.verifiers.claim_types.comparison import comparison
from driftproof.verifiers.papers.comfedl.claims._maml import points, task_losses


@comparison(
    name="comfedl/equation-8",
    source="ComFedL, arXiv v1 and v3, (8)",
    statement=r"\max_{p\in\Delta_n}\sum_{i=1}^n p_i f_i(w-\eta\nabla f_i(w)) = "
    r"\max_i f_i(w-\eta\nabla f_i(w)),\quad \Delta_n = \left\{p\in\mathbb{R}^n_+\,\middle|\,"
    r"\sum_{i=1}^n p_i = 0,\, p_i\ge 0\right\}",
    cases=grid(MAML(clients=sweep(2, 5), heterogeneity=1.0, offset=0.5)),
    edition="ComFedL, arXiv v1 and v3",
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
        changes="Read Σ p_i = 1 for Σ p_i = 0; nothing else changes. As printed the set has one "
        "point.",
        depends="nothing",
    ),
    false_siblings=[("total 2", 2.0), ("total 1/2", 0.5)],
    explain=(
        "Both editions print Σp_i = 0 where they say “the standard simplex”. Taken literally the "
        "maximum is 0 whatever the model; on the standard simplex the statement holds."
    ),
)
def simplex(case: Case[MAML, None], total: float) -> list[Comparison]:
    largest, compared = Ambiguity("cvar", radius=1 / case.problem.clients), []
    for k, at in enumerate(points(case.problem)):
        losses = task_losses(case.problem, at)
        worst, multipliers = largest.worst(losses)  # of p/total
        low, high = (total * side for side in (worst @ losses, largest.upper(losses, multipliers)))
        compared.append(Comparison(f"w = {np.round(at, 3)}", low, high, float(losses.max()), k))
    return compared
