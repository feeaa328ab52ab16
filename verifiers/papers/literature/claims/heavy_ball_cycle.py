r"""Heavy ball with Polyak's parameters converges: no cycle of three steps.

The paper prints α = 4/(√L + √μ), by a misprint, and follows a lemma on quadratics.

Text: https://arxiv.org/abs/2001.06782

Truth: false: Lessard, Recht & Packard (2016), an example with a cycle
"""

from driftproof.synthetic.classes import over, recurs, smooth_strongly_convex, start_anywhere
from driftproof.toolkit.algorithms.heavy_ball import HeavyBall
from driftproof.toolkit.measure import Reduction, Steps
from driftproof.toolkit.readings import Erratum
from driftproof.verifiers.claim_types.bound import bound
from driftproof.verifiers.papers.literature.claims._measures import moved, nothing


@bound(
    name="literature/heavy-ball-cycle",
    source="Yu et al. 2020, Appendix A: 'with heavy ball method converges linearly', α as meant",
    statement=r"x_3 = x_0,\ x_2 = x_{-1} \Rightarrow \|x_{k+1}-x_k\|^2 \le 0,\quad "
    r"\alpha=\tfrac4{(\sqrt L+\sqrt\mu)^2}",
    classes=over(
        [smooth_strongly_convex(L=25, mu=1), start_anywhere(R=1, a=1), recurs()],
        HeavyBall(step_size=1 / 9, momentum=4 / 9),
        rounds=3,
        clients=1,
    ),
    right=nothing,
    erratum=Erratum(
        "false",
        changes="Lessard, Recht and Packard (2016) have a function on which the method cycles; "
        "so does the search.",
        depends="theorem",
    ),
)
def heavy_ball_cycle(view: Steps) -> Reduction | None:
    return moved(view)
