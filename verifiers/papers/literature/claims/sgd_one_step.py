r"""One step of stochastic gradient descent, exactly.

Text: https://github.com/PerformanceEstimation/PEPit/blob/27dbd73f26a83a146ec7010bc788d2a0701e66a8/PEPit/examples/stochastic_and_randomized_convex_minimization/sgd.py

Truth: true, tight: found by PESTO (Taylor, Hendrickx & Glineur 2017)
"""

from sympy import sqrt

from driftproof.synthetic.classes import over, similar, smooth_strongly_convex, start_within
from driftproof.toolkit.algorithms.fedavg import FedAvg
from driftproof.toolkit.measure import Reduction, Steps
from driftproof.verifiers.claim_types.bound import bound
from driftproof.verifiers.papers.literature.claims._measures import distance_at_end


@bound(
    name="literature/sgd-one-step",
    source="PEPit 0.5, sgd, after Taylor, Hendrickx & Glineur 2017",
    statement=r"\mathbb{E}\|x_1-x^*\|^2 \le \Big(\gamma\tfrac{L-\mu}2R + "
    r"\sqrt{\big(1-\gamma\tfrac{L+\mu}2\big)^2R^2+\gamma^2\zeta^2}\Big)^2",
    classes=over(
        [smooth_strongly_convex(L=1, mu=0.2), similar(zeta=0.3), start_within(R=1)],
        FedAvg(step_size=1.0, participation=0.5),
        rounds=1,
    ),
    right=lambda c: (
        (
            c.eta * (c.L - c.mu) / 2 * c.R
            + sqrt((1 - c.eta * (c.L + c.mu) / 2) ** 2 * c.R**2 + c.eta**2 * c.zeta**2)
        )
        ** 2
    ),
    explain="At these numbers the root is 1/2.",
)
def sgd_one_step(view: Steps) -> Reduction | None:
    return distance_at_end(view)
