r"""The order of FedOut's drift in α alone (slide "Proposed Algorithm", Outer Optimizer).

**Statement.** ‖x^k_{i,ν} − x^k‖² ≤ O(τ_i (α_i^k)² + ‖y^{k+1} − y*(x^k)‖²), here for fixed τ,
y^{k+1} = y*(x^k) and α = 1/T → 0.

**Kind.** Rate: the exponent of α is 2, as printed.
"""

from sympy import Rational, log, symbols

from toolkit.algorithms.fedout import FedOut
from toolkit.cases import Case
from toolkit.measure import Reduction, View
from verifiers.claim_types.rate import Floor, Schedule, rate
from verifiers.claims.fednest import _drift as drift
from verifiers.claims.fednest import assumptions as given
from verifiers.claims.fednest.outer_drift import instance

T, ALPHA = symbols("T alpha", positive=True)
TAU = 8
LINE = {"tau_x": TAU, "alpha": 1 / T}


def with_step(inverse):
    """Return the family of fednest/outer-drift with τ = 8 and α = 1/inverse."""
    method = FedOut(outer_steps=TAU, outer_step_size=1 / inverse, terms=3)
    return Case(instance(TAU).problem, method, 1)


@rate(
    name="fednest/outer-drift-step-size",
    source="002, Outer Optimizer: FedOut",
    assumes=[given.SMOOTH],
    statement=r"\tau_i \text{ fixed},\; y^{k+1}=y^*(x^k):\quad \|x_{i,\nu}^k-x^k\|^2 \le "
    r"O(\order)",
    cases=[with_step(inverse) for inverse in (64, 128, 256, 512, 1024, 2048)],
    right=Schedule(LINE, ALPHA**2),
    horizon=T,
    floors=[Floor("f = x²/2, x = 1: the first step moves α", lambda at: T**-2)],
    size=drift.inverse_outer_step,
    size_name="1/α",
    false_siblings=[
        ("α³", Schedule(LINE, ALPHA**3)),
        ("α^{5/2}", Schedule(LINE, ALPHA ** Rational(5, 2))),
        ("α²/log(1/α)", Schedule(LINE, ALPHA**2 / log(1 / ALPHA))),
    ],
    explain="As printed, for a fixed number of local steps.",
)
def exponent(view: View) -> Reduction:
    return drift.mean_outer(view)
