r"""FedAvg comes linearly to a neighbourhood of x*, whose size is the bias of a round.

**Kind.** Bound over a class. A round is a mean of contractions by ρ = (1 − ημ)^τ, and moves x* by
b at most (localsgd/bias); so ‖x̄_{s+1} − x*‖ ≤ ρ‖x̄_s − x*‖ + b.
"""

from driftproof.synthetic.classes import over, similar, smooth_strongly_convex, start_within
from driftproof.toolkit.algorithms.fedavg import FedAvg
from driftproof.toolkit.measure import Reduction, Steps
from driftproof.toolkit.parameters import sweep
from driftproof.verifiers.claim_types.bound import bound
from driftproof.verifiers.papers.localsgd.claims import _steps as steps


@bound(
    name="localsgd/rounds",
    source="Malinovsky et al. (2020), known in the literature, in our words",
    assumes=[steps.CONTRACTING],
    statement=r"\|\bar x_S - x^*\|^2 \le \Big(\rho^S R + b\,\tfrac{1-\rho^S}{1-\rho}\Big)^2,\quad "
    r"\rho = (1-\eta\mu)^\tau,\; b = \tfrac{\tau(\tau-1)}{4}\eta^2(L-\mu)\zeta",
    classes=[
        *over(
            [smooth_strongly_convex(L=1, mu=0.1), similar(zeta=1), start_within(R=1)],
            FedAvg(local_steps=2, step_size=sweep(0.5, 0.1)),
            rounds=[1, 2, 4],
        ),
        *over(
            [smooth_strongly_convex(L=1, mu=0.1), similar(zeta=1), start_within(R=1)],
            FedAvg(local_steps=5, step_size=0.2),
            rounds=2,
        ),
    ],
    corrected=steps.neighbourhood,
    correction="A round is a contraction by (1 − ημ)^τ that moves x* by its bias at most.",
    false_siblings=[
        ("no bias", lambda c: (steps.factor(c) ** c.S * c.R) ** 2),
        ("bias of one round", lambda c: (steps.factor(c) ** c.S * c.R) ** 2 + steps.bias(c) ** 2),
    ],
    explain="The exact worst case lies below it, since start and bias cannot both be worst.",
)
def neighbourhood_of_the_minimiser(view: Steps) -> Reduction | None:
    return steps.distance_at_end(view)
