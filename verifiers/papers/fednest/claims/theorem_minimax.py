r"""The theorem for minimax problems (slides "Theory" and "Conclusion").

"New convergence guarantees for federated … minimax … optimization".

**Kind.** Rate, on the quadratic minimax family with noise and different clients, α = β = 1/√K and
no series: ∇_y f vanishes at y*(x), so FedOut needs none, and no number of terms has to grow.
"""

from driftproof.synthetic.problems.quadratic_minimax import QuadraticMinimax
from driftproof.toolkit.measure import Reduction, States
from driftproof.verifiers.claim_types.rate import Floor, rate
from driftproof.verifiers.papers.fednest.claims import _rates as rates
from driftproof.verifiers.papers.fednest.claims import assumptions as given

PROBLEM = QuadraticMinimax(clients=4, dim=2, heterogeneity=0.5, gradient_noise=0.5)


@rate(
    name="fednest/theorem-minimax",
    source="FedNest (2022), slides, Theorem (Informal); Outer Optimizer: minimax",
    assumes=[given.SMOOTH, given.CONVEX, given.NOISE],
    statement=r"g_i=-f_i:\quad \frac1K\sum_{k=1}^K\mathbb{E}\big[\|\nabla f(x^k)\|^2\big] = "
    r"\mathcal O(\order)",
    **rates.one_over_root(PROBLEM, terms=0),
    floors=[Floor("A = 0, λ = 1, noise of variance 1", lambda at: at["alpha"] / 2)],
    explain="Exact second moments; no series is needed, so nothing has to grow with K.",
)
def stationarity(view: States) -> Reduction:
    return rates.stationarity(view)
