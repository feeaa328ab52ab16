r"""Halpern's iteration for contractions.

Text: https://github.com/PerformanceEstimation/PEPit/blob/27dbd73f26a83a146ec7010bc788d2a0701e66a8/PEPit/examples/fixed_point_problems/optimal_contractive_halpern_iteration.py

Truth: true, tight: Park & Ryu (2022), Corollary 3.3 and Theorem 4.1
"""

from driftproof.synthetic.classes import cocoercive, over, start_within
from driftproof.toolkit.measure import Reduction, Steps
from driftproof.verifiers.claim_types.bound import bound
from driftproof.verifiers.papers.literature.claims._measures import gradient_at_end
from driftproof.verifiers.papers.literature.claims._methods import ContractiveHalpern


@bound(
    name="literature/contractive-halpern",
    source="PEPit 0.5, optimal_contractive_halpern_iteration, after Park & Ryu 2022",
    statement=r"\|x_n-Ax_n\|^2 \le "
    r"\Big(1+\frac1\gamma\Big)^2\Big(\frac1{\sum_{k=0}^n\gamma^k}\Big)^2\|x_0-x^*\|^2,\quad "
    r"\gamma=2",
    classes=over(
        [cocoercive(L=1.5, mu=0.5), start_within(R=1)],
        ContractiveHalpern(),
        rounds=[1, 2, 3],
        clients=1,
    ),
    right=lambda c: (3 / (2 * (2 ** (c.T + 1) - 1))) ** 2 * c.R**2,
)
def contractive_halpern(view: Steps) -> Reduction | None:
    return gradient_at_end(view)
