r"""One step of heavy ball contracts, in the norm of two iterates side by side.

Text: https://arxiv.org/abs/2001.06782

Truth: false: Lessard, Recht & Packard (2016): a spectral radius is no norm
"""

from sympy import sqrt
from torch import Tensor

from driftproof.synthetic.classes import over, smooth_strongly_convex, start_anywhere
from driftproof.toolkit.algorithms.heavy_ball import HeavyBall
from driftproof.toolkit.measure import Reduction, Steps, each, sq
from driftproof.toolkit.readings import Erratum
from driftproof.verifiers.claim_types.bound import bound


@bound(
    name="literature/heavy-ball-norm",
    source="Yu et al. 2020, Appendix A, display (8)",
    statement=r"\|x_1-x^*\|^2+\|x_0-x^*\|^2 \le \Big(\tfrac{\sqrt L-\sqrt\mu}{\sqrt "
    r"L+\sqrt\mu}\Big)^2 \big(\|x_0-x^*\|^2+\|x_{-1}-x^*\|^2\big)",
    classes=over(
        [smooth_strongly_convex(L=25, mu=1), start_anywhere(R=1, a=1)],
        HeavyBall(step_size=1 / 9, momentum=4 / 9),
        rounds=1,
        clients=1,
    ),
    measured={"before": r"\|x_0-x^*\|^2+\|x_{-1}-x^*\|^2"},
    right=lambda c: (
        ((sqrt(c.L) - sqrt(c.mu)) / (sqrt(c.L) + sqrt(c.mu))) ** 2 * c.measured("before")
    ),
    erratum=Erratum(
        "false",
        changes="The matrix of a step has this spectral radius on quadratics; its norm is above 1.",
        depends="theorem",
    ),
)
def heavy_ball_norm(view: Steps) -> Reduction | None:
    def size(state: tuple[Tensor, Tensor]) -> Tensor:
        return sq(state[0].mean(0) - view.minimiser) + sq(state[1].mean(0) - view.minimiser)

    return each("transition", size(view.state), before=size(view.before))
