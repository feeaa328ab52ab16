r"""The proximal point method's values.

Text: https://github.com/quantaji/ethz-ODS-2022-self-notes/blob/6be3f8e100f5be244e4702271ce2452fbb3fc8a2/Notes/chapter07-smoothing_techniques.md

Truth: true: Güler (1991)
"""

from driftproof.synthetic.classes import convex, over, start_within
from driftproof.toolkit.algorithms.proximal_point import ProximalPoint
from driftproof.toolkit.measure import Reduction, Steps
from driftproof.verifiers.claim_types.bound import bound
from driftproof.verifiers.papers.literature.claims._measures import gap_at_end


@bound(
    name="literature/proximal-point",
    source="ETH notes ODS 2022, Theorem 7.14",
    statement=r"f(x_t)-f^* \le \frac{\|x_0-x^*\|^2}{2t\gamma}",
    classes=over(
        [convex(), start_within(R=1)],
        ProximalPoint(step_size=1.0),
        rounds=[1, 3],
        clients=1,
    ),
    right=lambda c: c.R**2 / (2 * c.T * c.eta),
)
def proximal_point(view: Steps) -> Reduction | None:
    return gap_at_end(view)
