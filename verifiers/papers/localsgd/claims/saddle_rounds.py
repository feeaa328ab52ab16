r"""FedAvg-S comes linearly to a neighbourhood of the saddle point, as wide as a round's bias.

**Kind.** Bound over a class. A local step is Lipschitz with γ, γ² = 1 − 2ημ + η²L², hence a round,
the mean of the clients' τ steps, with ρ = γ^τ. It moves z* by b at most (localsgd/saddle-bias). So
‖z̄_{s+1} − z*‖ ≤ ρ‖z̄_s − z*‖ + b, and a constant step comes no nearer than the bias.
"""

from driftproof.synthetic.classes import over, similar, start_within, strongly_convex_concave
from driftproof.toolkit.algorithms.fedavg_s import FedAvgS
from driftproof.toolkit.constants import Expression, Letters
from driftproof.toolkit.measure import Reduction, Steps
from driftproof.verifiers.claim_types.bound import bound
from driftproof.verifiers.papers.localsgd.claims import _saddles as saddles


def neighbourhood(c: Letters, *, root: bool = True) -> Expression:
    factor = saddles.shrinking(c) ** (c.tau / 2 if root else c.tau)
    shrunk = factor**c.K
    return (shrunk * c.R + saddles.moved(c) * (1 - shrunk) / (1 - factor)) ** 2


@bound(
    name="localsgd/saddle-rounds",
    source="Hou et al. (2021), known in the literature, in our words",
    assumes=[saddles.NONEXPANSIVE, saddles.ONE_STEP_SIZE, saddles.SIMULTANEOUS],
    letters={"eta": "outer_step_size"},
    statement=r"\|\bar z_K-z^*\|^2\le\Big(\rho^KR+b\,\tfrac{1-\rho^K}{1-\rho}\Big)^2,\quad "
    r"\rho=(1-2\eta\mu+\eta^2L^2)^{\tau/2},\; "
    r"b=\tfrac{\tau(\tau-1)}{2}\eta^2\sqrt{L^2-\mu^2}\,\zeta",
    classes=[
        case
        for eta, tau, rounds in ((0.5, 2, 1), (0.5, 2, 2), (0.3, 3, 2), (0.5, 5, 1))
        for case in over(
            [strongly_convex_concave(L=1, mu=0.6), similar(zeta=1), start_within(R=1)],
            FedAvgS(local_steps=tau, inner_step_size=eta, outer_step_size=eta),
            rounds=rounds,
        )
    ],
    corrected=neighbourhood,
    correction="A round is Lipschitz with γ^τ and moves z* by its bias at most.",
    false_siblings=[
        ("no bias", lambda c: saddles.shrinking(c) ** (c.tau * c.K) * c.R**2),
        ("ρ without the root", lambda c: neighbourhood(c, root=False)),
    ],
    explain="At most 0.76 of it is reached, as start and bias cannot both be worst. The worst "
    "case is one of linear fields for five local steps; for two and three those found are milder.",
)
def neighbourhood_of_the_saddle(view: Steps) -> Reduction | None:
    return saddles.distance_at_end(view)
