"""Sets, terms and implicit steps: Frank-Wolfe, projections, proximal steps, splitting."""

import sympy

from driftproof.synthetic.classes import (
    convex,
    indicator,
    over,
    plus,
    recurs,
    similar,
    smooth_convex,
    smooth_strongly_convex,
    start_within,
)
from driftproof.synthetic.problems.composite_quadratic import CompositeQuadratic
from driftproof.toolkit.algorithms.frank_wolfe import FrankWolfe
from driftproof.toolkit.algorithms.proximal_gradient import ProximalGradient
from driftproof.toolkit.algorithms.proximal_point import ProximalPoint
from driftproof.toolkit.cases import Assumption, grid
from driftproof.toolkit.measure import Reduction, Steps
from driftproof.toolkit.parameters import sweep
from driftproof.verifiers.claim_types.bound import bound
from driftproof.verifiers.papers.literature.claims._methods import PeacemanRachford
from driftproof.verifiers.papers.literature.claims._shared import false, gap_at_end, moved, nothing

NEAR = start_within(R=1)


@bound(
    name="literature/frank-wolfe",
    source="ETH notes ODS 2022, Theorem 8.3",
    statement=r"f(x_T)-f^* \le \frac{2LD^2}{T+1}",
    classes=over(
        [smooth_convex(L=1), plus(indicator(D=1))], FrankWolfe(), rounds=[1, 3], clients=1
    ),
    right=lambda c: 2 * c.L * c.D**2 / (c.T + 1),
)
def frank_wolfe(view: Steps) -> Reduction | None:
    """Frank–Wolfe's values.

    Text: https://github.com/quantaji/ethz-ODS-2022-self-notes/blob/6be3f8e100f5be244e4702271ce2452fbb3fc8a2/Notes/chapter08-frank_wolfe.md
    Truth: true: Jaggi (2013)
    """
    return gap_at_end(view)


@bound(
    name="literature/frank-wolfe-linear",
    source="a belief; Canon & Cullum 1968 refute it",
    statement=r"f(x_T)-f^* \le \Big(1-\frac\mu L\Big)^T \frac{LD^2}2",
    classes=over(
        [smooth_strongly_convex(L=1, mu=0.5), plus(indicator(D=1))],
        FrankWolfe(),
        rounds=[2, 4],
        clients=1,
    ),
    right=lambda c: (1 - c.mu / c.L) ** c.T * c.L * c.D**2 / 2,
    erratum=false(
        "Canon and Cullum (1968): no better than 1/T^{1+ε}, where x* lies on the "
        "boundary of a polytope."
    ),
)
def frank_wolfe_linear(view: Steps) -> Reduction | None:
    """Frank–Wolfe converges linearly on strongly convex functions.

    Text: not at hand
    Truth: false: Canon & Cullum (1968); S. Pokutta, Cheat sheet: Linear convergence for conditional gradients
    """  # noqa: E501
    return gap_at_end(view)


@bound(
    name="literature/projected-gradient",
    source="ETH notes ODS 2022, Lemma 4.4",
    statement=r"f(x_T)-f^* \le \frac L{2T}\|x_0-x^*\|^2,\quad \gamma=\tfrac1L",
    classes=over(
        [smooth_convex(L=1), plus(indicator()), NEAR],
        ProximalGradient(step_size=1.0),
        rounds=[1, 3],
        clients=1,
    ),
    right=lambda c: c.L / (2 * c.T) * c.R**2,
)
def projected_gradient(view: Steps) -> Reduction | None:
    """Projected gradient descent's values.

    Text: https://github.com/quantaji/ethz-ODS-2022-self-notes/blob/6be3f8e100f5be244e4702271ce2452fbb3fc8a2/Notes/chapter04-projected_gd.md
    Truth: true
    """
    return gap_at_end(view)


@bound(
    name="literature/projected-gradient-strongly-convex",
    source="ETH notes ODS 2022, Theorem 4.5 (ii)",
    statement=r"f(x_T)-f^* \le \frac L2\Big(1-\frac\mu L\Big)^T\|x_0-x^*\|^2"
    r" + \lambda\Big(1-\frac\mu L\Big)^{T/2}\|x_0-x^*\|,\quad \lambda=\|\nabla f(x^*)\|,\ "
    r"\gamma=\tfrac1L",
    assumes=[Assumption("step size", r"\gamma=1/L", relation=lambda c: sympy.Eq(c.eta * c.L, 1))],
    cases=grid(
        CompositeQuadratic(term=sweep("box", "ball"), penalty=sweep(0.0, 0.5)),
        ProximalGradient(step_size=1.0),
        rounds=[1, 4],
    ),
    right=lambda c: (
        c.L / 2 * (1 - c.mu / c.L) ** c.T * c.R**2 + c.lambda_ * (1 - c.mu / c.L) ** (c.T / 2) * c.R
    ),
)
def projected_gradient_strongly_convex(view: Steps) -> Reduction | None:
    """Projected gradient descent's values, where the gradient does not vanish at the minimiser.

    Text: https://github.com/quantaji/ethz-ODS-2022-self-notes/blob/d880807180e335150b4f0f86b0cf649ece876082/Notes/chapter04-projected_gd.md
    Truth: true
    """
    return gap_at_end(view)


@bound(
    name="literature/proximal-point",
    source="ETH notes ODS 2022, Theorem 7.14",
    statement=r"f(x_t)-f^* \le \frac{\|x_0-x^*\|^2}{2t\gamma}",
    classes=over([convex(), NEAR], ProximalPoint(step_size=1.0), rounds=[1, 3], clients=1),
    right=lambda c: c.R**2 / (2 * c.T * c.eta),
)
def proximal_point(view: Steps) -> Reduction | None:
    """The proximal point method's values.

    Text: https://github.com/quantaji/ethz-ODS-2022-self-notes/blob/6be3f8e100f5be244e4702271ce2452fbb3fc8a2/Notes/chapter07-smoothing_techniques.md
    Truth: true: Güler (1991)
    """
    return gap_at_end(view)


@bound(
    name="literature/peaceman-rachford",
    source="a belief, of two convex functions; Lions & Mercier 1979",
    statement=r"z_2=z_0 \Rightarrow \|z_{k+1}-z_k\|^2 \le 0",
    classes=over(
        [convex(), similar(zeta=1), NEAR, recurs()],
        PeacemanRachford(step_size=1.0),
        rounds=2,
        clients=2,
    ),
    right=nothing,
    erratum=false(
        "Lions and Mercier (1979) ask for more than convexity: with f the indicator of 0 "
        "and g = 0, z goes to −z."
    ),
)
def peaceman_rachford(view: Steps) -> Reduction | None:
    """Peaceman–Rachford splitting converges: no cycle of two steps.

    Text: https://github.com/PerformanceEstimation/PEPit/blob/27dbd73f26a83a146ec7010bc788d2a0701e66a8/PEPit/examples/composite_convex_minimization/douglas_rachford_splitting_contraction.py
    Truth: false: with f the indicator of 0 and g = 0 z goes to −z; Lions & Mercier (1979) ask for more
    """  # noqa: E501
    return moved(view)
