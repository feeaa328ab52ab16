"""Steps along an operator: descent-ascent, extragradient, and iterated maps."""

from driftproof.synthetic.classes import cocoercive, monotone_lipschitz, over, start_within
from driftproof.toolkit.algorithms.extragradient import Extragradient
from driftproof.toolkit.algorithms.fedavg import FedAvg
from driftproof.toolkit.measure import Reduction, Steps
from driftproof.verifiers.claim_types.bound import bound
from driftproof.verifiers.claim_types.limit import limit
from driftproof.verifiers.papers.literature.claims import _shared as shared
from driftproof.verifiers.papers.literature.claims._methods import ContractiveHalpern

NEAR = start_within(R=1)
MONOTONE, STRONGLY = monotone_lipschitz(L=1, mu=0), monotone_lipschitz(L=1, mu=0.5)


@bound(
    name="literature/gda-convex-concave",
    source="EmergentMind, Simultaneous gradient descent-ascent: 'global linear convergence in "
    "convex-concave settings'",
    statement=r"\|z_1-z^*\|^2 \le \|z_0-z^*\|^2,\quad z_1 = z_0-\eta A(z_0)",
    classes=over([MONOTONE, NEAR], FedAvg(step_size=0.1), rounds=1, clients=1),
    right=lambda c: c.R**2,
    erratum=shared.false(
        "On f(x, y) = xy each step multiplies the distance by √(1 + η²) (Mescheder et al. 2018)."
    ),
)
def gda_convex_concave(view: Steps) -> Reduction | None:
    """Simultaneous gradient descent-ascent comes nearer to a saddle point, where f is convex-concave.

    Text: https://www.emergentmind.com/topics/simultaneous-gradient-descent-ascent-algorithm
    Truth: false: on f = xy every step leads away (Mescheder, Geiger & Nowozin 2018; the ETH notes, chapter 13)
    """  # noqa: E501
    return shared.distance_at_end(view)


@bound(
    name="literature/gda-strongly-convex-concave",
    source="ETH notes ODS 2022, Theorem 13.5",
    statement=r"\|z_1-z^*\|^2 \le (1+4\eta^2L^2-2\eta\mu)\|z_0-z^*\|^2",
    classes=over([STRONGLY, NEAR], FedAvg(step_size=0.1), rounds=1, clients=1),
    right=lambda c: (1 + 4 * c.eta**2 * c.L**2 - 2 * c.eta * c.mu) * c.R**2,
)
def gda_strongly_convex_concave(view: Steps) -> Reduction | None:
    """Gradient descent-ascent contracts where f is strongly convex-concave.

    Text: https://github.com/quantaji/ethz-ODS-2022-self-notes/blob/6be3f8e100f5be244e4702271ce2452fbb3fc8a2/Notes/chapter13-minimax.md
    Truth: true
    """
    return shared.distance_at_end(view)


@bound(
    name="literature/extragradient-mokhtari",
    source="ETH notes ODS 2022, Theorem 12.7 in chapter 13, quoting Mokhtari et al. 2020",
    statement=r"\|z_1-z^*\|^2 \le \Big(1-\frac\mu{4L}\Big)\|z_0-z^*\|^2,\quad \eta=\tfrac1{8L}",
    classes=over([STRONGLY, NEAR], Extragradient(step_size=0.125), rounds=1, clients=1),
    right=lambda c: (1 - c.mu / (4 * c.L)) * c.R**2,
    erratum=shared.false("With A = μI and h = μ/(8L) the factor is (1 − h + h²)² > 1 − 2h."),
)
def extragradient_mokhtari(view: Steps) -> Reduction | None:
    """Extragradient contracts by 1 − μ/(4L) in a step of 1/(8L).

    Text: https://github.com/quantaji/ethz-ODS-2022-self-notes/blob/6be3f8e100f5be244e4702271ce2452fbb3fc8a2/Notes/chapter13-minimax.md
    Truth: false: of A = μI the factor is (1 − h + h²)² > 1 − 2h, h = μ/(8L); unpublished, of the notes, which were not compared with the paper
    """  # noqa: E501
    return shared.distance_at_end(view)


@bound(
    name="literature/extragradient-nonexpansive",
    source="Korpelevich 1976, at the longest step",
    statement=r"\|z_1-z^*\|^2 \le \|z_0-z^*\|^2,\quad \eta=\tfrac1L",
    classes=over([MONOTONE, NEAR], Extragradient(step_size=1.0), rounds=1, clients=1),
    right=lambda c: c.R**2,
)
def extragradient_nonexpansive(view: Steps) -> Reduction | None:
    """An extragradient step of 1/L does not lead away from a solution.

    Text: not at hand; its method stands in https://github.com/quantaji/ethz-ODS-2022-self-notes/blob/6be3f8e100f5be244e4702271ce2452fbb3fc8a2/Notes/chapter13-minimax.md
    Truth: true, tight: a rotation
    """
    return shared.distance_at_end(view)


@limit(
    name="literature/picard",
    source="a belief, of x_{k+1} = T(x_k) for nonexpansive T; Krasnoselskii 1955",
    statement=r"x_k \to x^*,\quad x_{k+1}=T(x_k)",
    classes=over([cocoercive(L=2)], FedAvg(step_size=1.0), clients=1),
    erratum=shared.false(
        "T(x) = −x is nonexpansive and cycles; Krasnoselskii (1955) takes the mean of x and T(x)."
    ),
)
def picard(view: Steps) -> Reduction | None:
    """A nonexpansive map is iterated to a fixed point.

    Text: https://github.com/PerformanceEstimation/PEPit/blob/27dbd73f26a83a146ec7010bc788d2a0701e66a8/PEPit/examples/fixed_point_problems/krasnoselskii_mann_constant_step_sizes.py
    Truth: false: T = −I; Krasnoselskii (1955) averages for this reason
    """
    return shared.distance_at_end(view)


@bound(
    name="literature/contractive-halpern",
    source="PEPit 0.5, optimal_contractive_halpern_iteration, after Park & Ryu 2022",
    statement=r"\|x_n-Ax_n\|^2 \le "
    r"\Big(1+\frac1\gamma\Big)^2\Big(\frac1{\sum_{k=0}^n\gamma^k}\Big)^2\|x_0-x^*\|^2,\quad "
    r"\gamma=2",
    classes=over(
        [cocoercive(L=1.5, mu=0.5), NEAR], ContractiveHalpern(), rounds=[1, 2, 3], clients=1
    ),
    right=lambda c: (3 / (2 * (2 ** (c.T + 1) - 1))) ** 2 * c.R**2,
)
def contractive_halpern(view: Steps) -> Reduction | None:
    """Halpern's iteration for contractions.

    Text: https://github.com/PerformanceEstimation/PEPit/blob/27dbd73f26a83a146ec7010bc788d2a0701e66a8/PEPit/examples/fixed_point_problems/optimal_contractive_halpern_iteration.py
    Truth: true, tight: Park & Ryu (2022), Corollary 3.3 and Theorem 4.1
    """
    return shared.gradient_at_end(view)
