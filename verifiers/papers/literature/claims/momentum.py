"""The heavy ball and Nesterov's method."""

from sympy import sqrt
from torch import Tensor

from driftproof.synthetic.classes import (
    over,
    smooth_convex,
    smooth_strongly_convex,
    start_anywhere,
    start_gap,
    start_within,
)
from driftproof.toolkit.algorithms.heavy_ball import HeavyBall
from driftproof.toolkit.algorithms.nesterov import Nesterov
from driftproof.toolkit.measure import Reduction, Steps, each, sq
from driftproof.verifiers.claim_types.bound import bound
from driftproof.verifiers.claim_types.limit import limit
from driftproof.verifiers.papers.literature.claims._shared import (
    change_of,
    distance_at_end,
    false,
    gap_at_end,
    unchanged,
)


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
    erratum=false(
        "Lessard, Recht and Packard (2016) have a function on which the method cycles; "
        "so does the search."
    ),
)
def heavy_ball_cycle(view: Steps) -> Reduction | None:
    """Heavy ball with Polyak's parameters converges.

    The paper prints α = 4/(√L + √μ), by a misprint, and follows a lemma on quadratics.

    Text: https://arxiv.org/abs/2001.06782
    Truth: false: Lessard, Recht & Packard (2016), an example with a cycle
    """
    return distance_at_end(view)


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
    erratum=false(
        "The matrix of a step has this spectral radius on quadratics; its norm is above 1."
    ),
)
def heavy_ball_norm(view: Steps) -> Reduction | None:
    """One step of heavy ball contracts, in the norm of two iterates side by side.

    Text: https://arxiv.org/abs/2001.06782
    Truth: false: Lessard, Recht & Packard (2016): a spectral radius is no norm
    """

    def size(state: tuple[Tensor, Tensor]) -> Tensor:
        return sq(state[0].mean(0) - view.minimiser) + sq(state[1].mean(0) - view.minimiser)

    return each("transition", size(view.state), before=size(view.before))


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
    """Heavy ball with less momentum converges on all strongly convex functions.

    Text: https://github.com/PerformanceEstimation/PEPit/blob/27dbd73f26a83a146ec7010bc788d2a0701e66a8/PEPit/examples/unconstrained_convex_minimization/heavy_ball_momentum.py
    Truth: true: Ghadimi, Feyzmahdavian & Johansson (2015), Theorem 4
    """
    return gap_at_end(view)


@bound(
    name="literature/nesterov-descent",
    source="a belief; O'Donoghue & Candès 2015 show the ripples",
    statement=r"f(x_{k+1})-f^* \le f(x_k)-f^*",
    classes=over(
        [smooth_convex(L=1), start_within(R=1)], Nesterov(step_size=1.0), rounds=4, clients=1
    ),
    measured={"before": r"f(x_k)-f^*"},
    right=unchanged,
    erratum=false("O'Donoghue and Candès (2015): the values ripple, and a restart removes it."),
)
def nesterov_descent(view: Steps) -> Reduction | None:
    """Nesterov's method lowers the objective in each step.

    Text: https://github.com/convex-optimization-for-all/convex-optimization-for-all.github.io/blob/49a1ec731e6171c48aff5039e17ee65adabf970f/contents/chapter09/_posts/20-01-08-09_05_01_accelerated_proximal_gradient_method.md
    Truth: false: 'Nesterov ripples' in the text; O'Donoghue & Candès (2015)
    """
    return change_of(view.gap, view)
