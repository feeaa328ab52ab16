r"""Extragradient contracts by 1 − μ/(4L) in a step of 1/(8L).

Text: https://github.com/quantaji/ethz-ODS-2022-self-notes/blob/6be3f8e100f5be244e4702271ce2452fbb3fc8a2/Notes/chapter13-minimax.md

Truth: false: of A = μI the factor is (1 − h + h²)² > 1 − 2h, h = μ/(8L); unpublished, of the notes, which were not compared with the paper
"""  # noqa: E501

from driftproof.synthetic.classes import monotone_lipschitz, over, start_within
from driftproof.toolkit.algorithms.extragradient import Extragradient
from driftproof.toolkit.measure import Reduction, Steps
from driftproof.toolkit.readings import Erratum
from driftproof.verifiers.claim_types.bound import bound
from driftproof.verifiers.papers.literature.claims._measures import distance_at_end


@bound(
    name="literature/extragradient-mokhtari",
    source="ETH notes ODS 2022, Theorem 12.7 in chapter 13, quoting Mokhtari et al. 2020",
    statement=r"\|z_1-z^*\|^2 \le \Big(1-\frac\mu{4L}\Big)\|z_0-z^*\|^2,\quad \eta=\tfrac1{8L}",
    classes=over(
        [monotone_lipschitz(L=1, mu=0.5), start_within(R=1)],
        Extragradient(step_size=0.125),
        rounds=1,
        clients=1,
    ),
    right=lambda c: (1 - c.mu / (4 * c.L)) * c.R**2,
    erratum=Erratum(
        "false",
        changes="With A = μI and h = μ/(8L) the factor is (1 − h + h²)² > 1 − 2h.",
        depends="theorem",
    ),
)
def extragradient_mokhtari(view: Steps) -> Reduction | None:
    return distance_at_end(view)
