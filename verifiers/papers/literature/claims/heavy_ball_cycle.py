r"""Heavy ball with Polyak's parameters converges.

The paper prints α = 4/(√L + √μ), by a misprint, and follows a lemma on quadratics.

Text: https://arxiv.org/abs/2001.06782

Truth: false: Lessard, Recht & Packard (2016), an example with a cycle
"""

from sympy import sqrt

from driftproof.synthetic.classes import over, smooth_strongly_convex
from driftproof.toolkit.algorithms.heavy_ball import HeavyBall
from driftproof.toolkit.measure import Reduction, Steps
from driftproof.toolkit.readings import Erratum
from driftproof.verifiers.claim_types.limit import limit
from driftproof.verifiers.papers.literature.claims._measures import distance_at_end


@limit(
    name="literature/heavy-ball-cycle",
    source="Yu et al. 2020, Appendix A: 'with heavy ball method converges linearly', α as meant",
    statement=r"x_t \to x^*,\quad \alpha=\tfrac4{(\sqrt L+\sqrt\mu)^2},\ "
    r"\beta=\Big(\tfrac{\sqrt L-\sqrt\mu}{\sqrt L+\sqrt\mu}\Big)^2",
    classes=over([smooth_strongly_convex(L=25, mu=1)], HeavyBall(), clients=1),
    ties={
        "alpha": lambda c: 4 / (sqrt(c.L) + sqrt(c.mu)) ** 2,
        "beta": lambda c: ((sqrt(c.L) - sqrt(c.mu)) / (sqrt(c.L) + sqrt(c.mu))) ** 2,
    },
    erratum=Erratum(
        "false",
        changes="Lessard, Recht and Packard (2016) have a function on which the method cycles; "
        "so does the search.",
        depends="theorem",
    ),
)
def heavy_ball_cycle(view: Steps) -> Reduction | None:
    return distance_at_end(view)
