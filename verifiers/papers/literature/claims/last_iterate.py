r"""The last iterate of the subgradient method has the rate of the average.

Text: https://arxiv.org/abs/2604.13870

Truth: false: Harvey et al. (2019): it has a factor log T
"""

from sympy import sqrt

from driftproof.synthetic.classes import bounded_gradients, convex, over, start_within
from driftproof.toolkit.algorithms.fedavg import FedAvg
from driftproof.toolkit.measure import Reduction, Steps
from driftproof.toolkit.readings import Erratum
from driftproof.verifiers.claim_types.bound import bound
from driftproof.verifiers.papers.literature.claims._measures import gap_at_end


@bound(
    name="literature/last-iterate",
    source="a belief, of the bound GR/√T; Harvey et al. 2019 refute it",
    statement=r"f(x_T)-f^* \le \frac{GR}{\sqrt T},\quad \eta=\frac R{G\sqrt T}",
    classes=over(
        [bounded_gradients(convex(), G=1), start_within(R=1)],
        FedAvg(step_size=0.25),
        rounds=16,
        clients=1,
    ),
    right=lambda c: c.G * c.R / sqrt(c.T),
    erratum=Erratum(
        "false",
        changes="Harvey et al. (2019): the last iterate is worse by a factor log T, for this "
        "step size too.",
        depends="theorem",
    ),
)
def last_iterate(view: Steps) -> Reduction | None:
    return gap_at_end(view)
