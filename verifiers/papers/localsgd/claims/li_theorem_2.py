r"""Theorem 2 of Li et al. (2020): K clients' models are averaged, drawn with replacement.

**Kind.** Bound over a class. The average over K draws (Scheme I) is unbiased, and its variance is
that of one draw over K, at most (1/K)E²η_s²G² with η_s ≤ 2η_t: C = 4E²G²/K more in each step of the
recursion of ``li_theorem_1``.
"""

from driftproof.toolkit.constants import Expression, Letters
from driftproof.toolkit.measure import Reduction, Steps
from driftproof.verifiers.claim_types.bound import bound
from driftproof.verifiers.papers.localsgd.claims import _decaying as parts


def errors(c: Letters) -> Expression:
    """Return B + C."""
    return parts.error(c) + 4 * c.E**2 * c.G**2 / c.K


@bound(
    name="localsgd/li-theorem-2",
    source="Li et al. (2020), Theorem 2",
    assumes=[*parts.ASSUMED, parts.SCHEME_I],
    letters=parts.LETTERS,
    statement=r"\mathbb{E}[F(w_T)]-F^*\le\frac{\kappa}{\gamma+T-1}\Big(\frac{2(B+C)}{\mu}"
    r"+\frac{\mu\gamma}{2}\mathbb{E}\|w_1-w^*\|^2\Big),\quad C=\tfrac4KE^2G^2",
    classes=[
        *parts.decaying(mu=0.5, local_steps=1, rounds=[1, 2, 3], cohort=1, replacement="with"),
        *parts.decaying(mu=0.5, local_steps=1, Gamma=1.0, R=0.1, cohort=1, replacement="with"),
        *parts.decaying(mu=0.5, local_steps=2, rounds=[1, 2], cohort=1, replacement="with"),
        *parts.decaying(mu=0.5, local_steps=2, cohort=2, replacement="with"),
        *parts.decaying(mu=0.5, local_steps=2, clients=3, cohort=2, replacement="with"),
        *parts.decaying(mu=0.1, local_steps=4, Gamma=0.1, cohort=2, replacement="with"),
        *parts.decaying(mu=0.8, local_steps=12, cohort=1, replacement="with"),
    ],
    right=lambda c: parts.bounded(c, errors(c), c.R**2),
    false_siblings=[
        ("B alone, the start forgotten", lambda c: parts.bounded(c, parts.error(c), 0)),
        ("a fifteenth of it", lambda c: parts.bounded(c, errors(c), c.R**2) / 15),
    ],
    explain="True, and 7 to 6,100 times the exact worst case. What is drawn costs little: of two "
    "clients one is drawn, and after two local steps the worst case is 1 % above that of all "
    "clients, where C makes the bound nearly three times as large.",
)
def gap(view: Steps) -> Reduction | None:
    return parts.gap_at_end(view)
