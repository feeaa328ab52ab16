r"""FedAvg's gap with constant steps, after Day 26.2.

Text: https://github.com/Ab2021/infra/blob/69f343972a9a7c1e40cc048cb6eec069b5bfd332/day26_002_federated_averaging.md

Truth: false: it has no bound on η, and gradient descent diverges beyond 2/L; unpublished
"""

from driftproof.synthetic.classes import over, smooth_strongly_convex, start_gap
from driftproof.toolkit.algorithms.fedavg import FedAvg
from driftproof.toolkit.measure import Reduction, Steps
from driftproof.toolkit.parameters import sweep
from driftproof.toolkit.readings import Erratum
from driftproof.verifiers.claim_types.bound import bound
from driftproof.verifiers.papers.literature.claims._measures import gap_at_end


@bound(
    name="literature/fedavg-main-theorem",
    source="Ab2021/infra, Day 26.2, Main convergence theorem; one client, no noise",
    statement=r"f(w^{(T)})-f(w^*) \le \Big(1-\frac{\eta\mu}2\Big)^T\big(f(w^{(0)})-f(w^*)\big)",
    classes=over(
        [smooth_strongly_convex(L=1, mu=0.1), start_gap(delta=1)],
        FedAvg(step_size=sweep(1.0, 2.5)),
        rounds=2,
        clients=1,
    ),
    right=lambda c: (1 - c.eta * c.mu / 2) ** c.S * c.F_gap,
    erratum=Erratum(
        "false",
        changes="No step size is excluded, and at η = 2.5/L gradient descent diverges on a "
        "parabola.",
        depends="theorem",
    ),
)
def fedavg_main_theorem(view: Steps) -> Reduction | None:
    return gap_at_end(view)
