r"""The order of FedOut's drift (slide "Proposed Algorithm", Outer Optimizer).

**Statement.** ‖x^k_{i,ν} − x^k‖² ≤ O(τ_i (α_i^k)² + ‖y^{k+1} − y*(x^k)‖²).

**Kind.** Rate, along α = 1/τ with τ = T → ∞ and y^{k+1} = y*(x^k), where the order is 1/T.

**Finding.** False in τ, as fednest/inner-drift: f = x²/2 (no lower level), x^k = 1, gives
x_ν = (1 − 1/T)^ν, whose mean squared distance from 1 tends to 2/e − ½ − e^{−2}/2. The error of y
enters multiplied by τ²α², which the print overstates. It is the same exponent as in
fednest/inner-drift, and is counted there.
"""

from sympy import Rational, symbols

from synthetic.problems import QuadraticBilevel
from toolkit import Case, claim
from toolkit.algorithms import FedOut
from toolkit.readings import Erratum
from verifiers.claims.fednest import _drift as drift
from verifiers.claims.fednest import assumptions as given
from verifiers.claims.fednest.inner_drift import LIMIT
from verifiers.rate import Floor, Rate, Schedule

T = symbols("T", positive=True)


def instance(steps):
    """Return a quadratic of its own for each client, y at y*(x)."""
    problem = QuadraticBilevel(
        clients=2, cross=0.0, regulariser=1.0, regulariser_heterogeneity=0.5, lower_start=0.0
    )
    return Case(problem, FedOut(outer_steps=steps, outer_step_size=1 / steps, terms=3), 1)


def along(at):
    return LIMIT * T**0 if at["tau_x"] * at["alpha"] == 1 else None


def bound(c):
    """Return (1 + αℓ)^{2τ} ≤ e^{2τα·ℓ} in place of the growth: a power of T on the line τα = 1."""
    from sympy import exp

    return (c.tau_x * c.alpha * c.lambda_ * c.D) ** 2 * exp(2 * c.tau_x * c.alpha * c.ell_f1)


@claim(
    name="fednest/outer-drift",
    kind="rate",
    source="002, Outer Optimizer: FedOut",
    assumes=[given.SMOOTH],
    statement=r"\|x_{i,\nu}^k-x^k\|^2 \le O(\tau_i(\alpha_i^k)^2+\|y^{k+1}-y^*(x^k)\|^2)",
)
class Exponents:
    cases = [instance(steps) for steps in (8, 16, 32, 64, 128, 256)]
    full = [instance(steps) for steps in (512, 1024, 2048)]
    left = drift.mean_outer
    range = bound
    letters = {"D": "distance", "lambda_": "regulariser"}
    right = Schedule({"tau_x": T, "alpha": 1 / T}, T * T**-2)
    corrected = Schedule({"tau_x": T, "alpha": 1 / T}, T**2 * T**-2)
    correction = (
        "fednest/outer-drift-bound: ‖x_{i,ν} − x‖² ≤ τ²α²(1 + αℓ_{f,1})^{2(τ−1)}‖h‖²; on the "
        "measured family h = λx."
    )
    erratum = Erratum(
        "false",
        changes="The drift of τ local steps of size α is of order τ²α², not τα².",
        same_as="fednest/inner-drift",
        one_character=True,
    )
    rate = Rate(
        horizon=T,
        bound=bound,
        source="fednest/outer-drift-bound",
        special={},
        exponent=0.0,
        floors=[Floor("one client, f = x²/2, x = 1, y = y*", along)],
        size=drift.outer_steps,
        size_name="τ, local steps of size 1/τ",
    )
    false_siblings = [
        ("τ^{7/4}α²", Schedule({"tau_x": T, "alpha": 1 / T}, T ** Rational(7, 4) * T**-2)),
        ("τ^{3/2}α²", Schedule({"tau_x": T, "alpha": 1 / T}, T ** Rational(3, 2) * T**-2)),
    ]
    explain = "The drift grows with (τα)²: in τ the printed exponent 1 is false."
