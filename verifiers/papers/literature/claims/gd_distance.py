r"""Gradient descent's distance with 1/L.

Text: https://github.com/quantaji/ethz-ODS-2022-self-notes/blob/6be3f8e100f5be244e4702271ce2452fbb3fc8a2/Notes/chapter03-gradient_descent.md

Truth: true
"""

from driftproof.synthetic.classes import over, smooth_strongly_convex, start_within
from driftproof.toolkit.algorithms.fedavg import FedAvg
from driftproof.toolkit.measure import Reduction, Steps
from driftproof.verifiers.claim_types.bound import bound
from driftproof.verifiers.papers.literature.claims._measures import distance_at_end


@bound(
    name="literature/gd-distance",
    source="ETH notes ODS 2022, Theorem 3.14 (i)",
    statement=r"\|x_1-x^*\|^2 \le \Big(1-\frac\mu L\Big)\|x_0-x^*\|^2,\quad \gamma=\tfrac1L",
    classes=over(
        [smooth_strongly_convex(L=1, mu=0.1), start_within(R=1)],
        FedAvg(step_size=1.0),
        rounds=1,
        clients=1,
    ),
    right=lambda c: (1 - c.mu / c.L) * c.R**2,
)
def gd_distance(view: Steps) -> Reduction | None:
    return distance_at_end(view)
