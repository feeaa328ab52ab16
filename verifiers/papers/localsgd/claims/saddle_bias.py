r"""One round of FedAvg-S that starts at the saddle point moves away, where the clients differ.

**Kind.** Bound over a class. For η ≤ 2μ/L² a local step is nonexpansive, so ‖z_{i,j} − z*‖ ≤
jη‖G_i(z*)‖, G_i = (∇_x f_i, −∇_y f_i). With G_i(z) − G_i(z*) = μ(z − z*) + e, ‖e‖² =
‖G_i(z) − G_i(z*)‖² − 2μ⟨G_i(z) − G_i(z*), z − z*⟩ + μ²‖z − z*‖² ≤ (L² − μ²)‖z − z*‖². The mean
m_j = z̄_j − z* starts at 0, and m_{j+1} = (1 − ημ)m_j − η·mean(e), as the G_i(z*) cancel; |1 − ημ| ≤
1. So ‖m_τ‖ ≤ η√(L² − μ²) Σ_{j<τ} jηζ. Attained for τ = 2, by (μ/2)x² ± νxy − (μ/2)y² ± ζx,
ν² = L² − μ². It holds for monotone Lipschitz operators too.
"""

from driftproof.synthetic.classes import (
    for_all,
    over,
    similar,
    start_at_minimiser,
    strongly_convex_concave,
)
from driftproof.toolkit.algorithms.fedavg_s import FedAvgS
from driftproof.toolkit.measure import Reduction, Steps
from driftproof.verifiers.claim_types.bound import bound
from driftproof.verifiers.papers.localsgd.claims import _saddles as saddles


@bound(
    name="localsgd/saddle-bias",
    source="Hou et al. (2021), known in the literature, in our words",
    assumes=[saddles.NONEXPANSIVE, saddles.ONE_STEP_SIZE, saddles.SIMULTANEOUS],
    letters={"eta": "outer_step_size"},
    statement=r"z_0=z^*:\quad \|\bar z_1-z^*\|^2\le\Big(\tfrac{\tau(\tau-1)}{2}\eta^2"
    r"\sqrt{L^2-\mu^2}\,\zeta\Big)^2,\quad \tfrac1n\sum_i\|\nabla f_i(z^*)\|^2\le\zeta^2",
    classes=[
        *over(
            [saddles.SADDLE, similar(zeta=for_all("0 < zeta")), start_at_minimiser()],
            FedAvgS(
                local_steps=2,
                inner_step_size=saddles.CONTRACTING,
                outer_step_size=saddles.CONTRACTING,
            ),
        ),
        *(
            case
            for eta in (0.5, 0.1)
            for tau in (3, 5)
            for case in over(
                [strongly_convex_concave(L=1, mu=0.6), similar(zeta=1), start_at_minimiser()],
                FedAvgS(local_steps=tau, inner_step_size=eta, outer_step_size=eta),
                rounds=1,
            )
        ),
    ],
    corrected=lambda c: saddles.moved(c) ** 2,
    correction="A local step is nonexpansive; what the field has beside μ can turn the mean.",
    false_siblings=[
        ("half of it", lambda c: saddles.moved(c) ** 2 / 2),
        ("η³", lambda c: saddles.moved(c) ** 2 * c.eta**2),
    ],
    explain="Attained for two local steps. The turning does it: for L = μ there is no bias. With "
    "more steps the bound forgets that the mean contracts and that the drift turns too.",
)
def moved_away(view: Steps) -> Reduction | None:
    return saddles.distance_at_end(view)
