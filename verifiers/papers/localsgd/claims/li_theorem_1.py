r"""Theorem 1 of Li et al. (2020), with the constants in print, beside the exact worst case.

**Kind.** Bound over a class. With Δ_t = E‖w̄_t − w*‖² its proof has Δ_{t+1} ≤ (1 − η_tμ)Δ_t + η_t²B,
by η_t ≤ 1/(4L), which γ ≥ 8κ gives, and η_s ≤ 2η_t within a round, which γ ≥ E gives. With
s = γ + t − 1 and η_t = 2/(μ(s + 1)) the bound Δ_t ≤ v/s, v = 4B/μ² + γΔ_1, goes on:
v(s − 1)/(s(s + 1)) + (4B/μ²)/(s + 1)² ≤ v/(s + 1). Then F(w̄_T) − F* ≤ (L/2)Δ_T.
"""

from driftproof.toolkit.measure import Reduction, Steps
from driftproof.verifiers.claim_types.bound import bound
from driftproof.verifiers.papers.localsgd.claims import _decaying as parts


@bound(
    name="localsgd/li-theorem-1",
    source="Li et al. (2020), Theorem 1",
    assumes=[*parts.ASSUMED, parts.EVERYONE],
    letters=parts.LETTERS,
    statement=r"\mathbb{E}[F(w_T)]-F^*\le\frac{\kappa}{\gamma+T-1}\Big(\frac{2B}{\mu}"
    r"+\frac{\mu\gamma}{2}\mathbb{E}\|w_1-w^*\|^2\Big),\quad "
    r"B=\sum_k p_k^2\sigma_k^2+6L\Gamma+8(E-1)^2G^2",
    classes=[
        *parts.decaying(mu=0.8, local_steps=1, rounds=[1, 3], Gamma=0.001),
        *parts.decaying(mu=0.5, local_steps=1, rounds=[1, 2, 4], Gamma=0.001),
        *parts.decaying(mu=0.5, local_steps=1, rounds=2, Gamma=1.0, R=0.1),
        *parts.decaying(mu=0.5, local_steps=2, rounds=[1, 2, 3]),
        *parts.decaying(mu=0.5, local_steps=2, clients=3),
        *parts.decaying(mu=0.5, local_steps=4, rounds=[1, 2]),
        *parts.decaying(mu=0.1, local_steps=4, Gamma=0.1),
        *parts.decaying(mu=0.8, local_steps=12),
    ],
    right=lambda c: parts.bounded(c, parts.error(c), c.R**2),
    false_siblings=[
        ("the start forgotten", lambda c: parts.bounded(c, parts.error(c), 0)),
        ("half of it", lambda c: parts.bounded(c, parts.error(c), c.R**2) / 2),
    ],
    explain="True, and 1.5 to 5,400 times the exact worst case. With one local step it is gradient "
    "descent: the worst case does not see Γ at all, and 6LΓ alone makes the bound 1,200 times too "
    "large at Γ = 1 and R = 0.1. With E local steps 8(E − 1)²G² does most: 18 times after two, 234 "
    "after four, 5,400 after twelve.",
)
def gap(view: Steps) -> Reduction | None:
    return parts.gap_at_end(view)
