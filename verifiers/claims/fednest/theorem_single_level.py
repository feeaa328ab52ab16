r"""The theorem for single-level problems (slide "Proposed Algorithm: FedNest").

**Statement.** "New convergence guarantees for federated … single-level optimization": (1/K) Σ_k
E‖∇f(x^k)‖² = O(1/√K) for min (1/m) Σ f_i(x).

**Kind.** Rate: the bilevel family without coupling (c = 0), where FedOut is FedSVRG on x;
the clients differ in curvature and in their minimisers.
"""

from sympy import Rational, log

from synthetic.problems.quadratic_bilevel import QuadraticBilevel
from toolkit.measure import Reduction, View
from verifiers.claim_types.rate import Floor, Schedule, rate
from verifiers.claims.fednest import _rates as parts
from verifiers.claims.fednest import assumptions as given

K = parts.K
STEPS = {"alpha": parts.ROOT, "beta": parts.ROOT}
PROBLEM = QuadraticBilevel(
    clients=4, cross=0.0, regulariser=1.0, regulariser_heterogeneity=0.5, tilt=0.5,
    upper_noise=0.7, distance=2.0,
)  # fmt: skip


def at(horizon):
    return parts.instance(PROBLEM, horizon, terms=0)


@rate(
    name="fednest/theorem-single-level",
    source="002, Theorem (Informal); Outer Optimizer: single-level",
    assumes=[given.SMOOTH, given.NOISE],
    statement=r"f_i(x):\quad \frac1K\sum_{k=1}^K\mathbb{E}\big[\|\nabla f(x^k)\|^2\big] = "
    r"\mathcal O(\order)",
    cases=[at(horizon) for horizon in parts.HORIZONS],
    full=[at(horizon) for horizon in parts.LONGER],
    right=Schedule(STEPS, parts.ROOT),
    horizon=parts.K,
    size=parts.rounds,
    size_name="K, rounds",
    floors=[Floor("f = ½x² with noise of variance 1", lambda at: at["alpha"] / 2)],
    exact=parts.exact(at, parts.stationarity),
    horizons=parts.EXACT,
    false_siblings=[
        ("faster by K^{1/10}", Schedule(STEPS, parts.ROOT * K ** Rational(-1, 10))),
        ("faster by a logarithm", Schedule(STEPS, parts.ROOT / log(K))),
    ],
    explain="Exact second moments of FedSVRG on clients with different curvature and noise.",
)
def single_level(view: View) -> Reduction:
    return parts.stationarity(view)
