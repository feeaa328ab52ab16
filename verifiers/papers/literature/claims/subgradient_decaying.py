r"""The last iterate of the subgradient method, its steps falling along a line to 0.

Text: https://arxiv.org/abs/2307.11134

Truth: true, tight: Zamani & Glineur (2023)
"""

from sympy import sqrt

from driftproof.synthetic.classes import bounded_gradients, convex, over, start_within
from driftproof.toolkit.measure import Reduction, Steps
from driftproof.verifiers.claim_types.bound import bound
from driftproof.verifiers.papers.literature.claims._measures import gap_at_end
from driftproof.verifiers.papers.literature.claims._methods import Decaying


@bound(
    name="literature/subgradient-decaying",
    source="Zamani & Glineur 2023, abstract, the optimal method",
    statement=r"f(x_{N+1})-f^* \le \frac{BR}{\sqrt{N+1}},\quad "
    r"h_k=\frac{R(N+1-k)}{B\sqrt{(N+1)^3}},\ N=3",
    classes=over(
        [bounded_gradients(convex(), G=1), start_within(R=1)],
        Decaying(step_size=0.125),
        rounds=3,
        clients=1,
    ),
    right=lambda c: c.G * c.R / sqrt(c.T + 1),
    explain="With N = 3 and R = B = 1 the steps are 3/8, 2/8 and 1/8.",
)
def subgradient_decaying(view: Steps) -> Reduction | None:
    return gap_at_end(view)
