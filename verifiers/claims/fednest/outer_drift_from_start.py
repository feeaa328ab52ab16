r"""The drift of FedOut in letters alone: the bound that the corrected outer drift is derived from.

**Statement.** ‖x_{i,ν} − x‖² ≤ O(τ_i α_i² + ‖y⁺ − y*(x)‖²) is printed; on an upper level λ‖x‖²/2
without coupling ‖x_{i,ν} − x‖² ≤ τ²α²λ²D² e^{2ταℓ_{f,1}} is what follows from
fednest/outer-drift-bound, since h = λx and D = ‖x‖ where the first call starts.

**Kind.** Bound, of every client and local step of the first call, without noise.
"""

from sympy import exp

from synthetic.problems.quadratic_bilevel import QuadraticBilevel
from toolkit.algorithms.fedout import FedOut
from toolkit.cases import Assumption, grid
from toolkit.measure import Reduction, View, each, sq
from toolkit.parameters import sweep
from verifiers.claim_types.bound import bound
from verifiers.claims.fednest import _drift as drift
from verifiers.claims.fednest import assumptions as given

ALONE = Assumption(
    "one call on an upper level alone, exact gradients",
    r"k = 0,\; f_i = \lambda_i\|x\|^2/2, \text{ without noise}",
    applies=lambda case: case.rounds == 1 and case.problem.cross == 0
    and not case.problem.upper_noise and not case.problem.tilt,
)  # fmt: skip


def size(c, *, growth=2):
    return (c.tau_x * c.alpha * c.lambda_ * c.D) ** 2 * exp(growth * c.tau_x * c.alpha * c.ell_f1)


@bound(
    name="fednest/outer-drift-from-start",
    source="002, Outer Optimizer: FedOut",
    assumes=[given.SMOOTH, drift.SAMPLES_OF_F, ALONE],
    statement=r"\|x_{i,\nu}^k-x^k\|^2 \le O(\tau_i(\alpha_i^k)^2+\|y^{k+1}-y^*(x^k)\|^2)",
    cases=grid(
        QuadraticBilevel(
            clients=2,
            cross=0.0,
            regulariser=1.0,
            regulariser_heterogeneity=sweep(0.0, 0.5),
            lower_start=0.0,
        ),
        FedOut(outer_steps=sweep(1, 8, 30), outer_step_size=sweep(0.5, 0.01), terms=3),
        rounds=1,
    ),
    letters={"D": "distance", "lambda_": "regulariser"},
    corrected=size,
    correction=(
        "fednest/outer-drift-bound has ‖x_{i,ν} − x‖ ≤ τα(1 + αℓ_{f,1})^{τ−1}‖h‖, and (1 + "
        "αℓ_{f,1})^{2(τ−1)} ≤ e^{2ταℓ_{f,1}}. Without coupling ∇f_i(x) = λ_i x, whose mean is λx."
    ),
    false_siblings=[
        ("half as much", lambda c: size(c, growth=0) / 2),
        ("linear in τ, as printed", lambda c: size(c, growth=0) / c.tau_x),
    ],
    explain="The drift from the first start is at most τ²α² times the squared gradient there.",
)
def drift_holds(view: View) -> Reduction:
    moved = sq(view.client("x") - view.state.x_start)
    return each("round", "local_step", "client", moved)
