r"""The drift of FedOut in letters alone: the bound that the corrected outer drift is derived from.

**Kind.** Bound, of every client and local step of the first call, without noise. The order is
printed; on an upper level λ‖x‖²/2 without coupling ‖x_{i,ν} − x‖² ≤ τ²α²λ²D² e^{2ταℓ_{f,1}} is what
follows from fednest/outer-drift-bound, since h = λx and D = ‖x‖ where the first call starts.
"""

from sympy import exp

from driftproof.synthetic.problems.quadratic_bilevel import QuadraticBilevel
from driftproof.toolkit.algorithms.fedout import FedOut
from driftproof.toolkit.cases import Assumption, grid
from driftproof.toolkit.constants import Expression, Letters
from driftproof.toolkit.measure import Reduction, Steps
from driftproof.toolkit.parameters import sweep
from driftproof.verifiers.claim_types.bound import bound
from driftproof.verifiers.papers.fednest.claims import assumptions as given
from driftproof.verifiers.papers.fednest.claims._drift import SAMPLES_OF_F, every_drift

ALONE = Assumption(
    "one call on an upper level alone, exact gradients",
    r"k = 0,\; f_i = \lambda_i\|x\|^2/2, \text{ without noise}",
    applies=lambda case: (
        case.rounds == 1
        and case.problem.cross == 0
        and not case.problem.upper_noise
        and not case.problem.tilt
    ),
)
UPPER = QuadraticBilevel(
    clients=2,
    cross=0.0,
    regulariser=1.0,
    regulariser_heterogeneity=sweep(0.0, 0.5),
    lower_start=0.0,
)


def square_of_the_way(c: Letters) -> Expression:
    return (c.tau_x * c.alpha * c.lambda_ * c.D) ** 2


def growing(c: Letters) -> Expression:
    return square_of_the_way(c) * exp(2 * c.tau_x * c.alpha * c.ell_f1)


@bound(
    name="fednest/outer-drift-from-start",
    source="FedNest (2022), slides, Outer Optimizer: FedOut",
    assumes=[given.SMOOTH, SAMPLES_OF_F, ALONE],
    statement=r"\|x_{i,\nu}^k-x^k\|^2 \le O(\tau_i(\alpha_i^k)^2+\|y^{k+1}-y^*(x^k)\|^2)",
    cases=grid(
        UPPER,
        FedOut(outer_steps=sweep(1, 8, 30), outer_step_size=sweep(0.5, 0.01), terms=3),
        rounds=1,
    ),
    letters={"D": "distance", "lambda_": "regulariser"},
    corrected=growing,
    correction=(
        "fednest/outer-drift-bound has ‖x_{i,ν} − x‖ ≤ τα(1 + αℓ_{f,1})^{τ−1}‖h‖, and (1 + "
        "αℓ_{f,1})^{2(τ−1)} ≤ e^{2ταℓ_{f,1}}. Without coupling ∇f_i(x) = λ_i x, whose mean is λx."
    ),
    false_siblings=[
        ("half as much", lambda c: square_of_the_way(c) / 2),
        ("linear in τ, as printed", lambda c: square_of_the_way(c) / c.tau_x),
    ],
    explain="The drift from the first start is at most τ²α² times the squared gradient there.",
)
def every_outer_drift(view: Steps) -> Reduction:
    return every_drift(view, "x")
