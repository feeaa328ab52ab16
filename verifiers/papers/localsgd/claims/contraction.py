r"""One round of FedAvg contracts, where all clients have one minimiser.

**Kind.** Bound over a class. A gradient step contracts by 1 − ημ for η ≤ 2/(L + μ), so τ of them by
(1 − ημ)^τ, and so does the mean of the clients' ends. Attained by (μ/2)‖x‖².
"""

from driftproof.synthetic.classes import (
    for_all,
    over,
    shared_minimiser,
    smooth_strongly_convex,
    start_within,
)
from driftproof.toolkit.algorithms.fedavg import FedAvg
from driftproof.toolkit.measure import Reduction, Steps
from driftproof.toolkit.parameters import sweep
from driftproof.verifiers.claim_types.bound import bound
from driftproof.verifiers.papers.localsgd.claims import _steps as steps


@bound(
    name="localsgd/contraction",
    source="Malinovsky et al. (2020), known in the literature, in our words",
    assumes=[steps.CONTRACTING],
    statement=r"\|\bar x_1 - x^*\|^2 \le (1-\eta\mu)^{2\tau}R^2,\quad \nabla f_i(x^*) = 0",
    classes=[
        *over(
            [steps.STRONG, shared_minimiser(), start_within(R=for_all("0 < R"))],
            FedAvg(local_steps=sweep(1, 2), step_size=for_all("0 < eta <= 2/(L + mu)")),
            rounds=1,
        ),
        *over(
            [smooth_strongly_convex(L=1, mu=0.1), shared_minimiser(), start_within(R=1)],
            FedAvg(local_steps=5, step_size=sweep(1.0, 0.2)),
            rounds=1,
        ),
    ],
    corrected=lambda c: (steps.factor(c) * c.R) ** 2,
    correction="A gradient step contracts by 1 − ημ, and so does the mean of the clients' ends.",
    false_siblings=[
        ("twice μ", lambda c: ((1 - 2 * c.eta * c.mu) ** c.tau * c.R) ** 2),
        ("one step more", lambda c: (steps.factor(c) * (1 - c.eta * c.mu) * c.R) ** 2),
    ],
    explain="Attained: local steps help as much as they can where clients agree on the minimiser.",
)
def contraction(view: Steps) -> Reduction | None:
    return steps.distance_at_end(view)
