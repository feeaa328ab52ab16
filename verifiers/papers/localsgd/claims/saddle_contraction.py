r"""One round of FedAvg-S contracts, where all clients have one saddle point.

**Kind.** Bound over a class. A client moves z = (x, y) along G_i = (∇_x f_i, −∇_y f_i), which is
μ-strongly monotone and L-Lipschitz, so ‖z − ηG_i(z) − z*‖² = ‖z − z*‖² − 2η⟨G_i(z), z − z*⟩ +
η²‖G_i(z)‖² ≤ γ²‖z − z*‖², γ² = 1 − 2ημ + η²L². So τ steps contract by γ^τ, and so does the mean of
the clients' ends. Attained by (μ/2)x² + νxy − (μ/2)y², ν² = L² − μ². As no more is used of f_i,
the same is proved for all μ-strongly monotone, L-Lipschitz operators.
"""

from driftproof.synthetic.classes import (
    for_all,
    over,
    shared_minimiser,
    start_within,
    strongly_convex_concave,
)
from driftproof.toolkit.algorithms.fedavg_s import FedAvgS
from driftproof.toolkit.measure import Reduction, Steps
from driftproof.verifiers.claim_types.bound import bound
from driftproof.verifiers.papers.localsgd.claims import _saddles as saddles


@bound(
    name="localsgd/saddle-contraction",
    source="Ryu and Boyd (2016), known in the literature, in our words",
    assumes=[saddles.ONE_STEP_SIZE, saddles.SIMULTANEOUS],
    letters={"eta": "outer_step_size"},
    statement=r"\|(\bar x_1,\bar y_1)-(x^*,y^*)\|^2\le(1-2\eta\mu+\eta^2L^2)^\tau R^2,\quad "
    r"\nabla f_i(x^*,y^*)=0",
    classes=[
        *over(
            [saddles.SADDLE, shared_minimiser(), start_within(R=for_all("0 < R"))],
            FedAvgS(inner_step_size=saddles.CONTRACTING, outer_step_size=saddles.CONTRACTING),
        ),
        *(
            case
            for eta in (0.5, 0.1)
            for tau in (2, 5)
            for case in over(
                [strongly_convex_concave(L=1, mu=0.5), shared_minimiser(), start_within(R=1)],
                FedAvgS(local_steps=tau, inner_step_size=eta, outer_step_size=eta),
                rounds=1,
            )
        ),
    ],
    corrected=lambda c: saddles.shrinking(c) ** c.tau * c.R**2,
    correction="Monotone and Lipschitz: a step contracts by γ, γ² = 1 − 2ημ + η²L².",
    false_siblings=[
        ("as for minimisation", lambda c: (1 - c.eta * c.mu) ** (2 * c.tau) * c.R**2),
        ("one step more", lambda c: saddles.shrinking(c) ** (c.tau + 1) * c.R**2),
    ],
    explain="Attained by quadratic saddle functions that turn. A step must be shorter than 2μ/L² "
    "to contract at all, while minimisation allows 2/L.",
)
def contraction(view: Steps) -> Reduction | None:
    return saddles.distance_at_end(view)
