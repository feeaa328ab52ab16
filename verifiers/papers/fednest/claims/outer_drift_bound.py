r"""The drift of FedOut with explicit constants: what fednest/outer-drift is corrected to.

**Kind.** Bound, of every client and local step. The order is printed; ‖x_{i,ν} − x‖² ≤
ν²α²(1 + αℓ_{f,1})^{2(τ−1)}‖h‖² is what holds, h the shared hypergradient, ν ≤ τ, almost surely
(see ``_drift``); ‖h‖ grows with ‖y⁺ − y*(x)‖, which is multiplied by τ²α² too. Attained by the
first step.
"""

from sympy import Rational

from driftproof.synthetic.problems.quadratic_bilevel import QuadraticBilevel
from driftproof.synthetic.problems.quadratic_minimax import QuadraticMinimax
from driftproof.toolkit.algorithms.fedout import FedOut
from driftproof.toolkit.cases import grid
from driftproof.toolkit.constants import Expression, Letters
from driftproof.toolkit.measure import Reduction, Steps
from driftproof.toolkit.parameters import sweep
from driftproof.verifiers.claim_types.bound import bound
from driftproof.verifiers.papers.fednest.claims import assumptions as given
from driftproof.verifiers.papers.fednest.claims._drift import SAMPLES_OF_F, drift_and_direction

DIFFERENT = QuadraticBilevel(
    clients=sweep(2, 3),
    dim=3,
    hessian_heterogeneity=0.3,
    regulariser=0.8,
    regulariser_heterogeneity=0.5,
    tilt=0.4,
)
CONCAVE = QuadraticBilevel(
    clients=2, upper_curvature=0.5, regulariser=0.0, regulariser_heterogeneity=1.0, tilt=0.3
)
"""One client's f_i is concave in x with the constant ℓ_{f,1}, so that its local steps expand."""


def without_growth(c: Letters) -> Expression:
    return c.alpha**2 * c.measured("steps")


def growing(c: Letters, share: int = 2) -> Expression:
    """Return α²(1 + αℓ_{f,1})^{2(τ−1)}ν²‖h‖², or with another factor in the exponent."""
    growth = (1 + c.alpha * c.ell_f1) ** (share * (c.tau_x - 1))
    return c.alpha**2 * growth * c.measured("steps")


@bound(
    name="fednest/outer-drift-bound",
    source="FedNest (2022), slides, Outer Optimizer: FedOut",
    assumes=[given.SMOOTH, SAMPLES_OF_F],
    statement=r"\|x_{i,\nu}^k-x^k\|^2 \le O(\tau_i(\alpha_i^k)^2+\|y^{k+1}-y^*(x^k)\|^2)",
    cases=[
        *grid(
            DIFFERENT,
            FedOut(outer_steps=sweep(1, 6, 30), outer_step_size=sweep(0.05, 0.01), terms=2),
            rounds=1,
        ),
        *grid(
            CONCAVE,
            FedOut(outer_steps=sweep(2, 8), outer_step_size=sweep(0.4, 0.05), terms=2),
            rounds=1,
        ),
        *grid(
            QuadraticBilevel(clients=1, dim=1, lower_dim=1, upper_noise=0.3, regulariser=0.5),
            FedOut(outer_steps=2, outer_step_size=0.3, terms=2),
            rounds=1,
        ),
        *grid(
            QuadraticMinimax(clients=4, heterogeneity=0.6, regulariser=-0.2),
            FedOut(outer_steps=8, outer_step_size=sweep(0.02, 0.2), terms=0, participation=0.5),
            rounds=1,
        ),
        *grid(DIFFERENT, FedOut(outer_steps=5, outer_step_size=0.01, terms=2), rounds=2),
    ],
    measured={"steps": r"\nu^2\,\mathbb{E}\|h\|^2"},
    corrected=growing,
    correction=(
        "A local step adds α‖h‖ and multiplies what there is by at most 1 + αℓ_{f,1}, the "
        "Lipschitz constant of x − α∇_x f_i(x, y; ξ) of every sample."
    ),
    false_siblings=[
        ("a hundredth less", lambda c: Rational(99, 100) * growing(c)),
        ("linear in τ, as printed", lambda c: without_growth(c) / c.tau_x),
        ("without the growth", without_growth),
        ("half the growth's exponent", lambda c: growing(c, 1)),
    ],
    explain="The drift is up to τ²α² times the squared hypergradient, error in y included.",
)
def outer_drift_and_direction(view: Steps) -> Reduction:
    return drift_and_direction(view, "x")
