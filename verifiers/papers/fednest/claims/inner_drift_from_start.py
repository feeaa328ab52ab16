r"""The drift of FedInn in letters alone: the bound that the corrected inner drift is derived from.

**Kind.** Bound, of every client and local step of the first call, without noise. The order is
printed; ‖y_{i,ν} − y‖² ≤ τ²β²ℓ_{g,1}²D² is what follows from fednest/inner-drift-bound, since
‖q‖ = ‖∇_y g(x, y)‖ ≤ ℓ_{g,1}‖y − y*(x)‖ and D = ‖y − y*(x)‖ where the first call starts.
"""

from driftproof.synthetic.problems.quadratic_bilevel import QuadraticBilevel
from driftproof.toolkit.algorithms.fedinn import FedInn
from driftproof.toolkit.cases import Assumption, grid
from driftproof.toolkit.constants import Expression, Letters
from driftproof.toolkit.measure import Reduction, Steps
from driftproof.toolkit.parameters import sweep
from driftproof.verifiers.claim_types.bound import bound
from driftproof.verifiers.papers.fednest.claims import assumptions as given
from driftproof.verifiers.papers.fednest.claims._drift import SAMPLES, every_drift

FIRST = Assumption(
    "one call of all clients, exact gradients",
    r"k = 0,\; S = m, \text{ without noise}",
    applies=lambda case: (
        case.rounds == 1
        and case.algorithm.participation == 1
        and not case.problem.lower_value_noise
        and not case.problem.lower_curvature_noise
    ),
)
DIFFERENT = QuadraticBilevel(
    clients=2, hessian_heterogeneity=sweep(0.0, 0.3), offset_heterogeneity=0.5, lower_start=2.0
)
SCALAR = QuadraticBilevel(
    clients=1, dim=1, lower_dim=1, smallest=1.0, largest=1.0, cross=0.0, lower_start=1.0
)


def square_of_the_way(c: Letters) -> Expression:
    return (c.tau * c.beta * c.ell_g1 * c.D) ** 2


@bound(
    name="fednest/inner-drift-from-start",
    source="FedNest (2022), slides, Inner Optimizer: FedInn",
    assumes=[given.CONVEX, SAMPLES, FIRST],
    statement=r"\|y_{i,\nu}^k-y^k\|^2 \le O(\tau_i(\beta_i^k)^2)",
    cases=[
        *grid(
            DIFFERENT,
            FedInn(inner_steps=sweep(1, 8, 40), inner_step_size=sweep(0.5, 0.02)),
            rounds=1,
        ),
        *grid(SCALAR, FedInn(inner_steps=sweep(1, 20), inner_step_size=0.01), rounds=1),
    ],
    letters={"D": "lower_start"},
    corrected=square_of_the_way,
    correction=(
        "fednest/inner-drift-bound has ‖y_{i,ν} − y‖ ≤ νβ‖q‖ with ν ≤ τ; with all clients and "
        "without noise q = ∇_y g(x, y), and ∇_y g is ℓ_{g,1}-Lipschitz in y and 0 at y*(x)."
    ),
    false_siblings=[
        ("half as much", lambda c: square_of_the_way(c) / 2),
        ("linear in τ, as printed", lambda c: c.tau * (c.beta * c.ell_g1 * c.D) ** 2),
    ],
    explain="The drift from the first start is at most τ²β² times the squared gradient there.",
)
def every_inner_drift(view: Steps) -> Reduction:
    return every_drift(view, "y")
