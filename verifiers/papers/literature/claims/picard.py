r"""A nonexpansive map is iterated to a fixed point.

Text: https://github.com/PerformanceEstimation/PEPit/blob/27dbd73f26a83a146ec7010bc788d2a0701e66a8/PEPit/examples/fixed_point_problems/krasnoselskii_mann_constant_step_sizes.py

Truth: false: T = −I; Krasnoselskii (1955) averages for this reason
"""

from driftproof.synthetic.classes import cocoercive, over
from driftproof.toolkit.algorithms.fedavg import FedAvg
from driftproof.toolkit.measure import Reduction, Steps
from driftproof.toolkit.readings import Erratum
from driftproof.verifiers.claim_types.limit import limit
from driftproof.verifiers.papers.literature.claims._measures import distance_at_end


@limit(
    name="literature/picard",
    source="a belief, of x_{k+1} = T(x_k) for nonexpansive T; Krasnoselskii 1955",
    statement=r"x_k \to x^*,\quad x_{k+1}=T(x_k)",
    classes=over([cocoercive(L=2)], FedAvg(step_size=1.0), clients=1),
    erratum=Erratum(
        "false",
        changes="T(x) = −x is nonexpansive and cycles; Krasnoselskii (1955) takes the mean of x "
        "and T(x).",
        depends="theorem",
    ),
)
def picard(view: Steps) -> Reduction | None:
    return distance_at_end(view)
