r"""Peaceman–Rachford splitting converges: no cycle of two steps.

Text: https://github.com/PerformanceEstimation/PEPit/blob/27dbd73f26a83a146ec7010bc788d2a0701e66a8/PEPit/examples/composite_convex_minimization/douglas_rachford_splitting_contraction.py

Truth: false: with f the indicator of 0 and g = 0 z goes to −z; Lions & Mercier (1979) ask for more
"""

from driftproof.synthetic.classes import convex, over, recurs, similar, start_within
from driftproof.toolkit.measure import Reduction, Steps
from driftproof.toolkit.readings import Erratum
from driftproof.verifiers.claim_types.bound import bound
from driftproof.verifiers.papers.literature.claims._measures import moved, nothing
from driftproof.verifiers.papers.literature.claims._methods import PeacemanRachford


@bound(
    name="literature/peaceman-rachford",
    source="a belief, of two convex functions; Lions & Mercier 1979",
    statement=r"z_2=z_0 \Rightarrow \|z_{k+1}-z_k\|^2 \le 0",
    classes=over(
        [convex(), similar(zeta=1), start_within(R=1), recurs()],
        PeacemanRachford(step_size=1.0),
        rounds=2,
        clients=2,
    ),
    right=nothing,
    erratum=Erratum(
        "false",
        changes="Lions and Mercier (1979) ask for more than convexity: with f the indicator of 0 "
        "and g = 0, z goes to −z.",
        depends="theorem",
    ),
)
def peaceman_rachford(view: Steps) -> Reduction | None:
    return moved(view)
