r"""Frank–Wolfe converges linearly on strongly convex functions.

Text: not at hand

Truth: false: Canon & Cullum (1968); S. Pokutta, Cheat sheet: Linear convergence for conditional gradients
"""  # noqa: E501

from driftproof.synthetic.classes import indicator, over, plus, smooth_strongly_convex
from driftproof.toolkit.algorithms.frank_wolfe import FrankWolfe
from driftproof.toolkit.measure import Reduction, Steps
from driftproof.toolkit.readings import Erratum
from driftproof.verifiers.claim_types.bound import bound
from driftproof.verifiers.papers.literature.claims._measures import gap_at_end


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
    erratum=Erratum(
        "false",
        changes="Canon and Cullum (1968): no better than 1/T^{1+ε}, where x* lies on the "
        "boundary of a polytope.",
        depends="theorem",
    ),
)
def frank_wolfe_linear(view: Steps) -> Reduction | None:
    return gap_at_end(view)
