r"""Gradient descent's values, as Nesterov prints them.

Text: https://github.com/ericphanson/newtons-method/blob/73556f8d228ffcf546a42b6271eb12ed94420e5b/docs/references/renders/gd-convex-sublinear-convergence-nesterov-2018.md

Truth: true
"""

from driftproof.synthetic.classes import over, smooth_convex, start_within
from driftproof.toolkit.algorithms.fedavg import FedAvg
from driftproof.toolkit.measure import Reduction, Steps
from driftproof.verifiers.claim_types.bound import bound
from driftproof.verifiers.papers.literature.claims._measures import gap_at_end


@bound(
    name="literature/gd-corollary",
    source="Nesterov 2018, Corollary 2.1.2",
    statement=r"f(x_k)-f^* \le \frac{2L\|x_0-x^*\|^2}{k+4},\quad h=\tfrac1L",
    classes=over(
        [smooth_convex(L=1), start_within(R=1)],
        FedAvg(step_size=1.0),
        rounds=[1, 3],
        clients=1,
    ),
    right=lambda c: 2 * c.L * c.R**2 / (c.S + 4),
)
def gd_corollary(view: Steps) -> Reduction | None:
    return gap_at_end(view)
