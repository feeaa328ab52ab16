r"""One round of gradient-tracking GDA (FedGDA-GT) is nearly K central steps, from any state.

**Kind.** Bound over a class. A state is z alone: the corrections are made afresh each round. A step
T_i = I − ηG_i has ‖T_i z − T_i z'‖² ≤ γ²‖z − z'‖², γ² = 1 − 2ημ + η²L², and a local step is
z_{i,k+1} = T_i z_{i,k} + p_i with Σ p_i = 0, where Σ T_i z* = nz*. So of the mean z̄_k and the
variance D_k² of the clients' points ‖z̄_{k+1} − z*‖² ≤ γ²(‖z̄_k − z*‖² + D_k²), as the mean of
squares is no less than the square of the mean. The first step is the same for all: D_0 = D_1 = 0.

From z_{i,k+1} − z = T_i z_{i,k} − T_i z − ηG(z), G the mean field, ‖z_{i,k} − z‖ ≤ kηL‖z − z*‖ if
γ ≤ 1. The clients' points differ by their sums of −η(G_i(z_{i,l}) − G_i(z)), l < k, so
D_k ≤ η²L²‖z − z*‖k(k − 1)/2. Hence ‖z⁺ − z*‖² ≤ (γ^{2K} + Σ_{k<K} η⁴L⁴k²(k − 1)²/4)‖z − z*‖², and
Σ_{k<K} k²(k − 1)² = K(K − 1)(K − 2)(3K² − 6K + 1)/15.
"""

from driftproof.synthetic.classes import for_all, over, start_within, strongly_convex_concave
from driftproof.toolkit.algorithms.gradient_tracking_gda import GradientTrackingGDA
from driftproof.toolkit.constants import Expression, Letters
from driftproof.toolkit.measure import Reduction, Steps, each, sq
from driftproof.toolkit.parameters import sweep
from driftproof.verifiers.claim_types.bound import bound
from driftproof.verifiers.papers.localsgd.claims import _saddles as saddles


def apart(c: Letters) -> Expression:
    """Return what the clients' differences add."""
    sum_of_squares = c.K * (c.K - 1) * (c.K - 2) * (3 * c.K**2 - 6 * c.K + 1) / 15
    return (c.eta * c.L) ** 4 * sum_of_squares / 4


@bound(
    name="localsgd/gradient-tracking",
    source="Sun and Wei (2022), known in the literature, in our words",
    assumes=[saddles.NONEXPANSIVE],
    statement=r"\|z^{t+1}-z^*\|^2\le\Big((1-2\eta\mu+\eta^2L^2)^K+\tfrac{K(K-1)(K-2)(3K^2-6K+1)}"
    r"{60}\eta^4L^4\Big)\|z^t-z^*\|^2",
    classes=[
        *over(
            [saddles.SADDLE, start_within(R=for_all("0 < R"))],
            GradientTrackingGDA(local_steps=sweep(1, 2), step_size=saddles.CONTRACTING),
        ),
        *over(
            [strongly_convex_concave(L=1, mu=0.5), start_within(R=1)],
            GradientTrackingGDA(local_steps=sweep(3, 5), step_size=sweep(0.1, 0.02)),
            rounds=1,
        ),
    ],
    corrected=lambda c: (saddles.shrinking(c) ** c.K + apart(c)) * c.R**2,
    correction="A local step contracts by γ but for the clients' spread, which is 0 at first.",
    false_siblings=[
        ("one step more", lambda c: saddles.shrinking(c) ** (c.K + 1) * c.R**2),
        ("without η²L²", lambda c: ((1 - 2 * c.eta * c.mu) ** c.K + apart(c)) * c.R**2),
    ],
    explain="The first term is the worst case of K central steps, and up to five local steps it is "
    "the exact one here: the clients' differences cost nothing. That ends where Kη is large: with "
    "K = 5, η = 1/2 and μ = 1/2 it is 1.22 times as much for some linear fields, at most 1.34.",
)
def distance_of_a_round(view: Steps) -> Reduction | None:
    if not view.last:
        return None
    return each("round", "local_step", sq(view.mean("z") - view.minimiser))
