r"""An extragradient step of 1/L does not lead away from a solution.

Text: not at hand; its method stands in https://github.com/quantaji/ethz-ODS-2022-self-notes/blob/6be3f8e100f5be244e4702271ce2452fbb3fc8a2/Notes/chapter13-minimax.md

Truth: true, tight: a rotation
"""

from driftproof.synthetic.classes import monotone_lipschitz, over, start_within
from driftproof.toolkit.algorithms.extragradient import Extragradient
from driftproof.toolkit.measure import Reduction, Steps
from driftproof.verifiers.claim_types.bound import bound
from driftproof.verifiers.papers.literature.claims._measures import distance_at_end


@bound(
    name="literature/extragradient-nonexpansive",
    source="Korpelevich 1976, at the longest step",
    statement=r"\|z_1-z^*\|^2 \le \|z_0-z^*\|^2,\quad \eta=\tfrac1L",
    classes=over(
        [monotone_lipschitz(L=1, mu=0), start_within(R=1)],
        Extragradient(step_size=1.0),
        rounds=1,
        clients=1,
    ),
    right=lambda c: c.R**2,
)
def extragradient_nonexpansive(view: Steps) -> Reduction | None:
    return distance_at_end(view)
