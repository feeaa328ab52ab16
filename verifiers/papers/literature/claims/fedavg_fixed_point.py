r"""Where FedAvg with constant steps rests, there is the minimiser.

Text: https://arxiv.org/abs/2005.05238

Truth: false: Pathak & Wainwright (2020)
"""

from driftproof.synthetic.classes import over, recurs, similar, smooth_strongly_convex, start_within
from driftproof.toolkit.algorithms.fedavg import FedAvg
from driftproof.toolkit.measure import Reduction, Steps
from driftproof.toolkit.readings import Erratum
from driftproof.verifiers.claim_types.bound import bound
from driftproof.verifiers.papers.literature.claims._measures import distance_at_start, nothing


@bound(
    name="literature/fedavg-fixed-point",
    source="a belief; Pathak & Wainwright 2020 refute it",
    statement=r"x_1=x_0 \Rightarrow \|x_0-x^*\|^2 \le 0,\quad \tau=2",
    classes=over(
        [smooth_strongly_convex(L=1, mu=0.1), similar(zeta=1), start_within(R=1), recurs()],
        FedAvg(step_size=0.5, local_steps=2),
        rounds=1,
    ),
    right=nothing,
    erratum=Erratum(
        "false",
        changes="Pathak and Wainwright (2020): its fixed points are no stationary points, where "
        "clients differ.",
        depends="theorem",
    ),
)
def fedavg_fixed_point(view: Steps) -> Reduction | None:
    return distance_at_start(view)
