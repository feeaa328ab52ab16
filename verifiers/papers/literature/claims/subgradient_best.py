r"""The best iterate of the subgradient method.

Text: https://github.com/PerformanceEstimation/PEPit/blob/27dbd73f26a83a146ec7010bc788d2a0701e66a8/PEPit/examples/unconstrained_convex_minimization/subgradient_method.py

Truth: true, tight: Drori & Teboulle (2016)
"""

from sympy import sqrt

from driftproof.synthetic.classes import bounded_gradients, convex, over, start_within
from driftproof.toolkit.algorithms.fedavg import FedAvg
from driftproof.toolkit.measure import Reduction, Steps, smallest
from driftproof.verifiers.claim_types.bound import bound


@bound(
    name="literature/subgradient-best",
    source="PEPit 0.5, subgradient_method, after Drori & Teboulle 2016",
    statement=r"\min_{t\le n} f(x_t)-f^* \le \frac{GR}{\sqrt{n+1}},\quad \eta=\frac "
    r"R{G\sqrt{n+1}},\ T=n+1",
    classes=over(
        [bounded_gradients(convex(), G=1), start_within(R=1)],
        FedAvg(step_size=0.5),
        rounds=4,
        clients=1,
    ),
    right=lambda c: c.G * c.R / sqrt(c.T),
)
def subgradient_best(view: Steps) -> Reduction | None:
    return smallest("transition", view.gap(view.before.w.mean(0)))
