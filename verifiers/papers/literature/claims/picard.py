r"""A nonexpansive map is iterated to a fixed point: no cycle of two steps.

Text: https://github.com/PerformanceEstimation/PEPit/blob/27dbd73f26a83a146ec7010bc788d2a0701e66a8/PEPit/examples/fixed_point_problems/krasnoselskii_mann_constant_step_sizes.py

Truth: false: T = −I; Krasnoselskii (1955) averages for this reason
"""

from driftproof.synthetic.classes import cocoercive, over, recurs, start_within
from driftproof.toolkit.algorithms.fedavg import FedAvg
from driftproof.toolkit.measure import Reduction, Steps
from driftproof.toolkit.readings import Erratum
from driftproof.verifiers.claim_types.bound import bound
from driftproof.verifiers.papers.literature.claims._measures import moved, nothing


@bound(
    name="literature/picard",
    source="a belief, of x_{k+1} = T(x_k) for nonexpansive T; Krasnoselskii 1955",
    statement=r"x_2=x_0 \Rightarrow \|x_{k+1}-x_k\|^2 \le 0,\quad x_{k+1}=T(x_k)",
    classes=over(
        [cocoercive(L=2), start_within(R=1), recurs()],
        FedAvg(step_size=1.0),
        rounds=2,
        clients=1,
    ),
    right=nothing,
    erratum=Erratum(
        "false",
        changes="T(x) = −x is nonexpansive and cycles; Krasnoselskii (1955) takes the mean of x "
        "and T(x).",
        depends="theorem",
    ),
)
def picard(view: Steps) -> Reduction | None:
    return moved(view)
