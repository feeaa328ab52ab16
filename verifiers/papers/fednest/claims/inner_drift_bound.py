r"""The drift of FedInn with explicit constants: what fednest/inner-drift is corrected to.

**Kind.** Bound, of every client and local step. The order is printed; ‖y_{i,ν} − y‖² ≤ ν²β²‖q‖² is
what holds, q the shared gradient, ν ≤ τ, almost surely (see ``_drift``). Attained by the first
step, and in the limit of a vanishing Hessian by each.
"""

from sympy import Rational

from driftproof.synthetic.problems.quadratic_bilevel import QuadraticBilevel
from driftproof.synthetic.problems.quadratic_minimax import QuadraticMinimax
from driftproof.toolkit.algorithms.fedinn import FedInn
from driftproof.toolkit.algorithms.fednest import FedNest
from driftproof.toolkit.cases import grid
from driftproof.toolkit.constants import Expression, Letters
from driftproof.toolkit.measure import Reduction, Steps
from driftproof.toolkit.parameters import sweep
from driftproof.verifiers.claim_types.bound import bound
from driftproof.verifiers.papers.fednest.claims import assumptions as given
from driftproof.verifiers.papers.fednest.claims._drift import SAMPLES, drift_and_direction

NOISY = [
    QuadraticBilevel(clients=2, dim=1, lower_dim=1, lower_curvature_noise=0.2),
    QuadraticBilevel(
        clients=1, dim=1, lower_dim=1, lower_value_noise=0.4, lower_curvature_noise=0.2
    ),
]
DIFFERENT = QuadraticBilevel(
    clients=sweep(2, 3), lower_dim=3, hessian_heterogeneity=0.3, offset_heterogeneity=1.0
)


def steps_along(c: Letters) -> Expression:
    return c.beta**2 * c.measured("steps")


@bound(
    name="fednest/inner-drift-bound",
    source="FedNest (2022), slides, Inner Optimizer: FedInn",
    assumes=[given.CONVEX, SAMPLES],
    statement=r"\|y_{i,\nu}^k-y^k\|^2 \le O(\tau_i(\beta_i^k)^2)",
    cases=[
        *(
            case
            for noisy in NOISY
            for case in grid(
                noisy, FedInn(inner_steps=3, inner_step_size=sweep(0.8, 0.05)), rounds=1
            )
        ),
        *grid(
            DIFFERENT,
            FedInn(inner_steps=sweep(1, 8, 40), inner_step_size=sweep(0.6, 0.01)),
            rounds=2,
        ),
        *grid(
            QuadraticMinimax(clients=4, heterogeneity=0.6),
            FedInn(inner_steps=5, inner_step_size=0.3, participation=0.5),
            rounds=1,
        ),
        *grid(
            QuadraticBilevel(clients=2, hessian_heterogeneity=0.4),
            FedNest(inner_calls=1, inner_steps=6, terms=1, outer_step_size=0.05),
            rounds=1,
        ),
        *grid(
            QuadraticBilevel(clients=2, smallest=0.01, largest=0.01, cross=0.0),
            FedInn(inner_steps=10, inner_step_size=1.0),
            rounds=1,
        ),
    ],
    measured={"steps": r"\nu^2\,\mathbb{E}\|q\|^2"},
    corrected=steps_along,
    correction=(
        "q = (1/|S|) Σ ∇_y g_j(x, y; ζ_j). Where 0 ≼ ∇²_y g_i(·; ζ) ≼ I/β the map y − β∇_y g_i(x, "
        "y; ζ) is nonexpansive, so each local step adds at most β‖q‖ to ‖y_{i,ν} − y‖."
    ),
    false_siblings=[
        ("half as much", lambda c: steps_along(c) / 2),
        ("a hundredth less", lambda c: Rational(99, 100) * steps_along(c)),
        ("a power of β less", lambda c: c.beta * steps_along(c)),
        ("linear in τ, as printed", lambda c: steps_along(c) / c.tau),
    ],
    explain=(
        "The drift of τ local steps is up to (τβ)² times the squared gradient, not τβ² times it."
    ),
)
def inner_drift_and_direction(view: Steps) -> Reduction:
    return drift_and_direction(view, "y")
