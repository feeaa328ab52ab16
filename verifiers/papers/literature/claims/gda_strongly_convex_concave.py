r"""Gradient descent-ascent contracts where f is strongly convex-concave.

Text: https://github.com/quantaji/ethz-ODS-2022-self-notes/blob/6be3f8e100f5be244e4702271ce2452fbb3fc8a2/Notes/chapter13-minimax.md

Truth: true
"""

from driftproof.synthetic.classes import monotone_lipschitz, over, start_within
from driftproof.toolkit.algorithms.fedavg import FedAvg
from driftproof.toolkit.measure import Reduction, Steps
from driftproof.verifiers.claim_types.bound import bound
from driftproof.verifiers.papers.literature.claims._measures import distance_at_end


@bound(
    name="literature/gda-strongly-convex-concave",
    source="ETH notes ODS 2022, Theorem 13.5",
    statement=r"\|z_1-z^*\|^2 \le (1+4\eta^2L^2-2\eta\mu)\|z_0-z^*\|^2",
    classes=over(
        [monotone_lipschitz(L=1, mu=0.5), start_within(R=1)],
        FedAvg(step_size=0.1),
        rounds=1,
        clients=1,
    ),
    right=lambda c: (1 + 4 * c.eta**2 * c.L**2 - 2 * c.eta * c.mu) * c.R**2,
)
def gda_strongly_convex_concave(view: Steps) -> Reduction | None:
    return distance_at_end(view)
