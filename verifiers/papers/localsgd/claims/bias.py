r"""One round of FedAvg that starts at x* moves away from it, where the clients differ.

**Kind.** Bound over a class. A local step is nonexpansive, so ‖w_{i,j} − x*‖ ≤ jη‖∇f_i(x*)‖. With
c = (L + μ)/2, ∇f_i(w) − ∇f_i(x*) = c(w − x*) + e and ‖e‖ ≤ ((L − μ)/2)‖w − x*‖. The clients' mean
m_j = w̄_j − x* starts at 0 and m_{j+1} = (1 − ηc)m_j − η·mean(e), as the ∇f_i(x*) cancel. So ‖m_τ‖
≤ η((L − μ)/2) Σ_{j<τ} jηζ. Attained for τ = 2, by quadratics of curvature L and μ.
"""

from driftproof.synthetic.classes import (
    for_all,
    over,
    similar,
    smooth_strongly_convex,
    start_at_minimiser,
)
from driftproof.toolkit.algorithms.fedavg import FedAvg
from driftproof.toolkit.measure import Reduction, Steps
from driftproof.toolkit.parameters import sweep
from driftproof.verifiers.claim_types.bound import bound
from driftproof.verifiers.papers.localsgd.claims import _steps as steps


@bound(
    name="localsgd/bias",
    source="Malinovsky et al. (2020), known in the literature, in our words",
    assumes=[steps.LONG_STEP],
    statement=r"x_0 = x^*:\quad \|\bar x_1 - x^*\|^2 \le "
    r"\Big(\tfrac{\tau(\tau-1)}{4}\eta^2(L-\mu)\zeta\Big)^2,\quad "
    r"\tfrac1n\sum_i\|\nabla f_i(x^*)\|^2\le\zeta^2",
    classes=[
        *over(
            [steps.STRONG, similar(zeta=for_all("0 < zeta")), start_at_minimiser()],
            FedAvg(local_steps=2, step_size=for_all("0 < eta <= 2/(L + mu)")),
        ),
        *over(
            [smooth_strongly_convex(L=1, mu=0.1), similar(zeta=1), start_at_minimiser()],
            FedAvg(local_steps=sweep(2, 3, 5), step_size=sweep(0.5, 0.1)),
        ),
    ],
    corrected=lambda c: steps.bias(c) ** 2,
    correction="A client drifts by jηζ at most in j steps, and (L − μ)/2 of that moves the mean.",
    false_siblings=[
        ("half of it", lambda c: steps.bias(c) ** 2 / 2),
        ("η³", lambda c: steps.bias(c) ** 2 * c.eta**2),
    ],
    explain="Attained for two local steps, with equality at every step size up to 2/L. One local "
    "step has no bias; of more, the bound forgets that the mean contracts.",
)
def moved_away(view: Steps) -> Reduction | None:
    return steps.distance_at_end(view)
