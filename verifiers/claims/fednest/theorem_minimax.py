r"""The theorem for minimax problems (slides "Theory" and "Conclusion").

**Statement.** "New convergence guarantees for federated … minimax … optimization":
(1/K) Σ_k E‖∇f(x^k)‖² = O(1/√K) with g_i = −f_i.

**Kind.** Rate, on the quadratic minimax family with noise and different clients, α = β = 1/√K and
no series: ∇_y f vanishes at y*(x), so FedOut needs none, and no number of terms has to grow.
"""

from sympy import Rational, log

from synthetic.problems.quadratic_minimax import QuadraticMinimax
from toolkit.measure import Reduction, View
from verifiers.claim_types.rate import Floor, Schedule, rate
from verifiers.claims.fednest import _rates as parts
from verifiers.claims.fednest import assumptions as given

K = parts.K
STEPS = {"alpha": parts.ROOT, "beta": parts.ROOT}
PROBLEM = QuadraticMinimax(clients=4, dim=2, heterogeneity=0.5, gradient_noise=0.5)


def at(horizon):
    return parts.instance(PROBLEM, horizon, terms=0)


@rate(
    name="fednest/theorem-minimax",
    source="002, Theorem (Informal); Outer Optimizer: minimax",
    assumes=[given.SMOOTH, given.CONVEX, given.NOISE],
    statement=r"g_i=-f_i:\quad \frac1K\sum_{k=1}^K\mathbb{E}\big[\|\nabla f(x^k)\|^2\big] = "
    r"\mathcal O(\order)",
    cases=[at(horizon) for horizon in parts.HORIZONS],
    full=[at(horizon) for horizon in parts.LONGER],
    right=Schedule(STEPS, parts.ROOT),
    horizon=parts.K,
    size=parts.rounds,
    size_name="K, rounds",
    floors=[Floor("A = 0, λ = 1, noise of variance 1", lambda at: at["alpha"] / 2)],
    exact=parts.exact(at, parts.stationarity),
    horizons=parts.EXACT,
    false_siblings=[
        ("faster by K^{1/10}", Schedule(STEPS, parts.ROOT * K ** Rational(-1, 10))),
        ("faster by a logarithm", Schedule(STEPS, parts.ROOT / log(K))),
    ],
    explain="Exact second moments; no series is needed, so nothing has to grow with K.",
)
def minimax(view: View) -> Reduction:
    return parts.stationarity(view)
