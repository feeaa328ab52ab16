r"""The theorem for single-level problems (slide "Proposed Algorithm: FedNest").

"New convergence guarantees for federated … single-level optimization", min (1/m) Σ f_i(x).

**Kind.** Rate: the bilevel family without coupling (c = 0), where FedOut is FedSVRG on x;
the clients differ in curvature and in their minimisers.
"""

from driftproof.synthetic.problems.quadratic_bilevel import QuadraticBilevel
from driftproof.toolkit.cases import Assumption
from driftproof.toolkit.measure import Reduction, States
from driftproof.verifiers.claim_types.rate import Floor, rate
from driftproof.verifiers.papers.fednest.claims import _rates as rates
from driftproof.verifiers.papers.fednest.claims import assumptions as given

PROBLEM = QuadraticBilevel(
    clients=4,
    cross=0.0,
    regulariser=1.0,
    regulariser_heterogeneity=0.5,
    tilt=0.5,
    upper_noise=0.7,
    distance=2.0,
)


SINGLE_LEVEL = Assumption(
    "Single level",
    r"f_i(x)",
    applies=lambda case: isinstance(case.problem, QuadraticBilevel) and case.problem.cross == 0,
)


@rate(
    name="fednest/theorem-single-level",
    source="FedNest (2022), slides, Theorem (Informal); Outer Optimizer: single-level",
    sentence="fednest/theorem-minimax",
    assumes=[given.SMOOTH, given.NOISE, SINGLE_LEVEL],
    statement=r"f_i(x):\quad \frac1K\sum_{k=1}^K\mathbb{E}\big[\|\nabla f(x^k)\|^2\big] = "
    r"\mathcal O(\order)",
    **rates.one_over_root(PROBLEM, terms=0),
    floors=[Floor("f = ½x² with noise of variance 1", lambda at: at["alpha"] / 2)],
    explain="Exact second moments of FedSVRG on clients with different curvature and noise.",
)
def stationarity(view: States) -> Reduction:
    return rates.stationarity(view)
