r"""The drift of FedInn over all strongly convex smooth g_i: exact, and bounded in τ.

**Kind.** Bound over a class, of every client: ‖y_{i,τ} − y‖ ≤ ‖q‖(1 − (1 − βμ_g)^τ)/μ_g, q the
shared gradient. For β ≤ 2/(ℓ_{g,1} + μ_g) the map y ↦ y − β∇g_i(y) contracts by 1 − βμ_g, so
‖y_{i,ν+1} − y‖ ≤ (1 − βμ_g)‖y_{i,ν} − y‖ + β‖q‖; add up. Attained by (μ_g/2)‖y‖². It is at most
τβ‖q‖ (fednest/inner-drift-convex), and never above ‖q‖/μ_g. One client stands for any number, as
there.
"""

from driftproof.synthetic.classes import (
    for_all,
    lower_level,
    over,
    smooth_strongly_convex,
    start_gradient,
)
from driftproof.synthetic.classes.function_class import Conditions
from driftproof.toolkit.algorithms.fedinn import FedInn
from driftproof.toolkit.cases import Assumption
from driftproof.toolkit.constants import Expression, Letters
from driftproof.toolkit.measure import Reduction, Steps
from driftproof.toolkit.parameters import sweep
from driftproof.verifiers.claim_types.bound import bound
from driftproof.verifiers.papers.fednest.claims import assumptions as given
from driftproof.verifiers.papers.fednest.claims._over_classes import ALL_CLIENTS, STRONG, last_drift

STEP_SIZE = Assumption(
    "step size",
    r"\beta\le2/(\ell_{g,1}+\mu_g)",
    relation=lambda c: c.beta * (c.ell_g1 + c.mu_g) <= 2,
)

STRONGLY: Conditions = [smooth_strongly_convex(L=1, mu=0.1), lower_level(), start_gradient(1)]


def steps_that_shrink(c: Letters) -> Expression:
    return ((1 - (1 - c.beta * c.mu_g) ** c.tau) * c.q / c.mu_g) ** 2


@bound(
    name="fednest/inner-drift-strongly-convex",
    source="FedNest (2022), slides, Inner Optimizer: FedInn, corrected form of ours",
    assumes=[given.CONVEX, STEP_SIZE, ALL_CLIENTS],
    statement=r"\|y_{i,\tau}^k-y^k\| \le \frac{1-(1-\beta\mu_g)^\tau}{\mu_g}\|q\|,\quad "
    r"q = \tfrac1m\sum_j\nabla_y g_j(x,y)",
    classes=[
        *over(
            [STRONG, lower_level(), start_gradient(norm=for_all("0 < q"))],
            FedInn(inner_steps=sweep(1, 2), inner_step_size=for_all("0 < beta <= 1/ell_g1")),
            clients=1,
        ),
        *over(
            STRONGLY,
            FedInn(inner_steps=sweep(5, 8), inner_step_size=sweep(1.0, 0.2)),
            rounds=1,
            clients=1,
        ),
        *over(STRONGLY, FedInn(inner_steps=5, inner_step_size=1.0), rounds=1),
    ],
    letters={"q": "initial_gradient"},
    corrected=steps_that_shrink,
    correction="A local step contracts the way by 1 − βμ_g and adds at most β‖q‖.",
    false_siblings=[
        ("linear in τ, as printed", lambda c: c.tau * (c.beta * c.q) ** 2),
        ("a hundredth less", lambda c: steps_that_shrink(c) * 99 / 100),
        ("τ for τ − 1", lambda c: ((1 - (1 - c.beta * c.mu_g) ** (c.tau - 1)) / c.mu_g * c.q) ** 2),
    ],
    explain="Exact. Strong convexity takes the growth in τ away: a client never drifts further "
    "than ‖q‖/μ_g.",
)
def drift_of_every_client(view: Steps) -> Reduction | None:
    return last_drift(view, "y")
