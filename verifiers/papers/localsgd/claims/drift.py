r"""Client drift: how far local steps lead from where the round started.

**Kind.** Bound over a class. A gradient step on a convex L-smooth function is nonexpansive for
η ≤ 2/L, so each step is no longer than the first, η‖∇f_i(x_0)‖; and the root mean square over
clients of ‖∇f_i(x_0)‖ is at most that of ‖∇f_i(x*)‖ plus LR.
"""

from driftproof.synthetic.classes import over, similar, smooth_convex, start_within
from driftproof.toolkit.algorithms.fedavg import FedAvg
from driftproof.toolkit.constants import Expression, Letters
from driftproof.toolkit.measure import Reduction, Steps, each, sq
from driftproof.toolkit.parameters import sweep
from driftproof.verifiers.claim_types.bound import bound
from driftproof.verifiers.papers.localsgd.claims._steps import LONG_STEP


def steps_of_one_sign(c: Letters) -> Expression:
    return (c.tau * c.eta * (c.zeta + c.L * c.R)) ** 2


@bound(
    name="localsgd/drift",
    source="Khaled et al. (2020), known in the literature, in our words",
    assumes=[LONG_STEP],
    statement=r"\tfrac1n\sum_i\|w_{i,\tau}-x_0\|^2 \le \tau^2\eta^2(\zeta + LR)^2",
    classes=over(
        [smooth_convex(L=1), similar(zeta=1), start_within(R=1)],
        FedAvg(local_steps=sweep(1, 2, 5), step_size=sweep(0.5, 0.05)),
        rounds=1,
    ),
    corrected=steps_of_one_sign,
    correction="A gradient step is nonexpansive, so no local step is longer than the first.",
    false_siblings=[
        ("τ for τ²", lambda c: steps_of_one_sign(c) / c.tau),
        ("no cross term", lambda c: (c.tau * c.eta) ** 2 * (c.zeta**2 + (c.L * c.R) ** 2)),
    ],
    explain="At best 0.65 of it is reached: the gradients at x* cancel in the mean, so the clients "
    "cannot all be where they add to LR.",
)
def drift(view: Steps) -> Reduction | None:
    if view.local_step < view.local_steps:
        return None
    apart = sq(view.client("w") - view.round_start("w"))
    return each("round", "local_step", apart.mean(0))
