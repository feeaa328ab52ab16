r"""The order of FedInn's drift in β alone (slide "Proposed Algorithm", Inner Optimizer).

**Statement.** ‖y^k_{i,ν} − y^k‖² ≤ O(τ_i (β_i^k)²), here for fixed τ and β = 1/T → 0.

**Kind.** Rate: the exponent of β is 2, as printed.
"""

from sympy import Rational, log, symbols

from toolkit.algorithms.fedinn import FedInn
from toolkit.cases import Case
from toolkit.measure import Reduction, View
from verifiers.claim_types.rate import Floor, Schedule, rate
from verifiers.claims.fednest import _drift as drift
from verifiers.claims.fednest import assumptions as given
from verifiers.claims.fednest.inner_drift import PROBLEM
from verifiers.derived import Derived

T, BETA = symbols("T beta", positive=True)
TAU = 8
LINE = {"tau": TAU, "beta": 1 / T}


def instance(inverse):
    return Case(PROBLEM, FedInn(inner_steps=TAU, inner_step_size=1 / inverse), 1)


@rate(
    name="fednest/inner-drift-step-size",
    source="002, Inner Optimizer: FedInn",
    assumes=[given.CONVEX],
    statement=r"\tau_i \text{ fixed}:\quad \|y_{i,\nu}^k-y^k\|^2 \le O(\order)",
    cases=[instance(inverse) for inverse in (64, 128, 256, 512, 1024, 2048)],
    right=Schedule(LINE, BETA**2),
    horizon=T,
    derived=Derived("fednest/inner-drift-from-start"),
    floors=[Floor("one client, g = y²/2, y = 1: the first step moves β", lambda at: T**-2)],
    size=drift.inverse_step,
    size_name="1/β",
    false_siblings=[
        ("β³", Schedule(LINE, BETA**3)),
        ("β^{5/2}", Schedule(LINE, BETA ** Rational(5, 2))),
        ("β²/log(1/β)", Schedule(LINE, BETA**2 / log(1 / BETA))),
    ],
    explain="As printed, for a fixed number of local steps.",
)
def exponent(view: View) -> Reduction:
    return drift.mean_inner(view)
