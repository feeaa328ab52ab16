r"""Gradient descent's values for h = 2/(μ + L).

Text: https://github.com/ericphanson/newtons-method/blob/73556f8d228ffcf546a42b6271eb12ed94420e5b/docs/references/renders/gd-constant-step-strongly-convex-linear-convergence-nesterov-2018.md

Truth: true, tight: a parabola of curvature L
"""

from driftproof.synthetic.classes import over, smooth_strongly_convex, start_within
from driftproof.toolkit.algorithms.fedavg import FedAvg
from driftproof.toolkit.measure import Reduction, Steps
from driftproof.verifiers.claim_types.bound import bound
from driftproof.verifiers.papers.literature.claims._measures import gap_at_end


@bound(
    name="literature/gd-values-strongly-convex",
    source="Nesterov 2018, Theorem 2.1.15, last display",
    statement=r"f(x_k)-f^* \le \frac L2\Big(\frac{L-\mu}{L+\mu}\Big)^{2k}\|x_0-x^*\|^2,\quad "
    r"h=\tfrac2{\mu+L}",
    classes=over(
        [smooth_strongly_convex(L=1, mu=0.25), start_within(R=1)],
        FedAvg(step_size=1.6),
        rounds=[1, 2],
        clients=1,
    ),
    right=lambda c: c.L / 2 * ((c.L - c.mu) / (c.L + c.mu)) ** (2 * c.S) * c.R**2,
)
def gd_values_strongly_convex(view: Steps) -> Reduction | None:
    return gap_at_end(view)
