r"""Frank–Wolfe's values.

Text: https://github.com/quantaji/ethz-ODS-2022-self-notes/blob/6be3f8e100f5be244e4702271ce2452fbb3fc8a2/Notes/chapter08-frank_wolfe.md

Truth: true: Jaggi (2013)
"""

from driftproof.synthetic.classes import indicator, over, plus, smooth_convex
from driftproof.toolkit.algorithms.frank_wolfe import FrankWolfe
from driftproof.toolkit.measure import Reduction, Steps
from driftproof.verifiers.claim_types.bound import bound
from driftproof.verifiers.papers.literature.claims._measures import gap_at_end


@bound(
    name="literature/frank-wolfe",
    source="ETH notes ODS 2022, Theorem 8.3",
    statement=r"f(x_T)-f^* \le \frac{2LD^2}{T+1}",
    classes=over(
        [smooth_convex(L=1), plus(indicator(D=1))],
        FrankWolfe(),
        rounds=[1, 3],
        clients=1,
    ),
    right=lambda c: 2 * c.L * c.D**2 / (c.T + 1),
)
def frank_wolfe(view: Steps) -> Reduction | None:
    return gap_at_end(view)
