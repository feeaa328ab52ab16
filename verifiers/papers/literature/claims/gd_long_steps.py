r"""Gradient descent with steps longer than 1/L.

Text: not at hand; https://arxiv.org/abs/1206.3209

Truth: true at these N, tight: Drori & Teboulle (2014), Conjecture 3.1
"""

from sympy import Max

from driftproof.synthetic.classes import over, smooth_convex, start_within
from driftproof.toolkit.algorithms.fedavg import FedAvg
from driftproof.toolkit.measure import Reduction, Steps
from driftproof.verifiers.claim_types.bound import bound
from driftproof.verifiers.papers.literature.claims._measures import gap_at_end


@bound(
    name="literature/gd-long-steps",
    source="Drori & Teboulle 2014, Conjecture 3.1",
    statement=r"f(x_N)-f^* \le \frac{LR^2}2\max\Big\{\frac1{2Nh+1},(1-h)^{2N}\Big\},\quad "
    r"\eta=\tfrac hL",
    classes=over(
        [smooth_convex(L=1), start_within(R=1)],
        FedAvg(step_size=1.5),
        rounds=[1, 3],
        clients=1,
    ),
    right=lambda c: (
        c.L * c.R**2 / 2 * Max(1 / (2 * c.S * c.eta * c.L + 1), (1 - c.eta * c.L) ** (2 * c.S))
    ),
)
def gd_long_steps(view: Steps) -> Reduction | None:
    return gap_at_end(view)
