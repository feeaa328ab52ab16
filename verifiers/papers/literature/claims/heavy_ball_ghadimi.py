r"""Heavy ball with less momentum converges on all strongly convex functions.

Text: https://github.com/PerformanceEstimation/PEPit/blob/27dbd73f26a83a146ec7010bc788d2a0701e66a8/PEPit/examples/unconstrained_convex_minimization/heavy_ball_momentum.py

Truth: true: Ghadimi, Feyzmahdavian & Johansson (2015), Theorem 4
"""

from driftproof.synthetic.classes import over, smooth_strongly_convex, start_gap
from driftproof.toolkit.algorithms.heavy_ball import HeavyBall
from driftproof.toolkit.measure import Reduction, Steps
from driftproof.verifiers.claim_types.bound import bound
from driftproof.verifiers.papers.literature.claims._measures import gap_at_end


@bound(
    name="literature/heavy-ball-ghadimi",
    source="PEPit 0.5, heavy_ball_momentum, after Ghadimi, Feyzmahdavian & Johansson 2015, "
    "Theorem 4",
    statement=r"f(x_n)-f^* \le (1-\alpha\mu)^n\big(f(x_0)-f^*\big),\quad "
    r"\beta=\sqrt{(1-\alpha\mu)(1-L\alpha)}",
    classes=over(
        [smooth_strongly_convex(L=1, mu=0.04), start_gap(delta=1)],
        HeavyBall(step_size=0.5, momentum=0.7),
        rounds=[1, 2],
        clients=1,
    ),
    right=lambda c: (1 - c.alpha * c.mu) ** c.T * c.F_gap,
)
def heavy_ball_ghadimi(view: Steps) -> Reduction | None:
    return gap_at_end(view)
