r"""The theorem for compositional problems (slide "Proposed Algorithm: FedNest").

"New convergence guarantees for federated … compositional … optimization", for f((1/m) Σ r_i(x)) as
the bilevel problem g_i = ½‖y − r_i(x)‖².

**Kind.** Rate: different noisy affine r_i, α = β = 1/√K. ∇²_y g_i = I, so a series that divides by
1 needs one term.

**Assumption.** ∇g_i is Lipschitz in (x, y) for affine r_i only: the slides' assumptions leave out
every other composition.
"""

from driftproof.synthetic.problems.compositional_bilevel import CompositionalBilevel
from driftproof.toolkit.cases import Assumption
from driftproof.toolkit.measure import Reduction, States
from driftproof.verifiers.claim_types.rate import Floor, rate
from driftproof.verifiers.papers.fednest.claims import _rates as rates
from driftproof.verifiers.papers.fednest.claims import assumptions as given

PROBLEM = CompositionalBilevel(
    clients=2,
    dim=2,
    inner_dim=2,
    inner_heterogeneity=0.3,
    inner_offset=0.5,
    outer_slope=20.0,
    inner_slope=0.7,
    inner_value_noise=0.5,
)


COMPOSITION = Assumption(
    "Compositional problem",
    r"g_i=\tfrac12\|y-r_i(x)\|^2",
    applies=lambda case: isinstance(case.problem, CompositionalBilevel),
)


@rate(
    name="fednest/theorem-compositional",
    source="FedNest (2022), slides, Theorem (Informal); Outer Optimizer: compositional",
    sentence="fednest/theorem-minimax",
    assumes=[given.CONVEX, given.NOISE, COMPOSITION],
    statement=r"g_i=\tfrac12\|y-r_i(x)\|^2:\quad \frac1K\sum_{k=1}^K\mathbb{E}\big[\|\nabla f("
    r"x^k)\|^2\big] = \mathcal O(\order)",
    **rates.one_over_root(PROBLEM, terms=1),
    floors=[Floor("f = ½y², r = x, noise of variance 1", lambda at: at["alpha"] / 2)],
    explain=(
        "Exact second moments on affine inner functions; the printed assumptions leave out all "
        "others, whose ∇g_i is not Lipschitz in (x, y)."
    ),
)
def stationarity(view: States) -> Reduction:
    return rates.stationarity(view)
