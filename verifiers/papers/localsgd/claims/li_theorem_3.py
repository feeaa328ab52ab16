r"""Theorem 3 of Li et al. (2020): K clients' models are averaged, drawn without replacement.

**Kind.** Bound over a class. As in ``li_theorem_2``, but K distinct clients (Scheme II): the
variance of their average is (N − K)/(N − 1) times as large, and 0 if all take part.
"""

from driftproof.toolkit.constants import Expression, Letters
from driftproof.toolkit.measure import Reduction, Steps
from driftproof.verifiers.claim_types.bound import bound
from driftproof.verifiers.papers.localsgd.claims import _decaying as parts


def errors(c: Letters) -> Expression:
    """Return B + C."""
    return parts.error(c) + (c.N - c.K) / (c.N - 1) * 4 * c.E**2 * c.G**2 / c.K


@bound(
    name="localsgd/li-theorem-3",
    source="Li et al. (2020), Theorem 3",
    assumes=[*parts.ASSUMED, parts.SCHEME_II],
    letters=parts.LETTERS,
    statement=r"\mathbb{E}[F(w_T)]-F^*\le\frac{\kappa}{\gamma+T-1}\Big(\frac{2(B+C)}{\mu}"
    r"+\frac{\mu\gamma}{2}\mathbb{E}\|w_1-w^*\|^2\Big),\quad C=\tfrac{N-K}{N-1}\tfrac4KE^2G^2",
    classes=[
        *parts.decaying(mu=0.5, local_steps=1, rounds=[1, 2, 3], cohort=1),
        *parts.decaying(mu=0.5, local_steps=1, rounds=2, Gamma=0.001, cohort=2),
        *parts.decaying(mu=0.5, local_steps=1, Gamma=1.0, R=0.1, cohort=1),
        *parts.decaying(mu=0.5, local_steps=2, rounds=[1, 2], cohort=1),
        *parts.decaying(mu=0.5, local_steps=2, clients=3, cohort=2),
        *parts.decaying(mu=0.1, local_steps=4, Gamma=0.1, cohort=1),
        *parts.decaying(mu=0.8, local_steps=12, cohort=1),
    ],
    right=lambda c: parts.bounded(c, errors(c), c.R**2),
    false_siblings=[
        ("the start forgotten", lambda c: parts.bounded(c, errors(c), 0)),
        ("a third of it", lambda c: parts.bounded(c, errors(c), c.R**2) / 3),
    ],
    explain="True, and 2 to 6,100 times the exact worst case. If one of two clients is "
    "drawn, it is Theorem 2; if all take part, Theorem 1.",
)
def gap(view: Steps) -> Reduction | None:
    return parts.gap_at_end(view)
