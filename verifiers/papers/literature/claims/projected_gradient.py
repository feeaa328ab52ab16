r"""Projected gradient descent's values.

Text: https://github.com/quantaji/ethz-ODS-2022-self-notes/blob/6be3f8e100f5be244e4702271ce2452fbb3fc8a2/Notes/chapter04-projected_gd.md

Truth: true
"""

from driftproof.synthetic.classes import indicator, over, plus, smooth_convex, start_within
from driftproof.toolkit.algorithms.proximal_gradient import ProximalGradient
from driftproof.toolkit.measure import Reduction, Steps
from driftproof.verifiers.claim_types.bound import bound
from driftproof.verifiers.papers.literature.claims._measures import gap_at_end


@bound(
    name="literature/projected-gradient",
    source="ETH notes ODS 2022, Lemma 4.4",
    statement=r"f(x_T)-f^* \le \frac L{2T}\|x_0-x^*\|^2,\quad \gamma=\tfrac1L",
    classes=over(
        [smooth_convex(L=1), plus(indicator()), start_within(R=1)],
        ProximalGradient(step_size=1.0),
        rounds=[1, 3],
        clients=1,
    ),
    right=lambda c: c.L / (2 * c.T) * c.R**2,
)
def projected_gradient(view: Steps) -> Reduction | None:
    return gap_at_end(view)
