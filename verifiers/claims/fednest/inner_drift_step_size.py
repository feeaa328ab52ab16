r"""The order of FedInn's drift in β alone (slide "Proposed Algorithm", Inner Optimizer).

**Kind.** Rate, for fixed τ and β = 1/T → 0: the exponent of β is 2, as printed.
"""

from driftproof.synthetic.problems.quadratic_bilevel import QuadraticBilevel
from driftproof.toolkit.algorithms.fedinn import FedInn
from driftproof.toolkit.cases import Case
from driftproof.toolkit.measure import Reduction, Steps
from driftproof.verifiers.claim_types.derived import Derived
from driftproof.verifiers.claim_types.rate import Floor, Schedule, rate
from driftproof.verifiers.claims.fednest import assumptions as given
from driftproof.verifiers.claims.fednest._drift import BETA, INNER, T, mean_drift
from driftproof.verifiers.claims.fednest.inner_drift import PROBLEM

STEPS = 8
LINE = {"tau": STEPS, "beta": 1 / T}


def instance(inverse: int) -> Case[QuadraticBilevel, FedInn]:
    return Case(PROBLEM, FedInn(inner_steps=STEPS, inner_step_size=1 / inverse), 1)


def inverse_step_size(case: Case[QuadraticBilevel, FedInn]) -> float:
    return 1 / case.algorithm.inner_step_size


@rate(
    name="fednest/inner-drift-step-size",
    source="FedNest (2022), slides, Inner Optimizer: FedInn",
    assumes=[given.CONVEX],
    statement=r"\tau_i \text{ fixed}:\quad \|y_{i,\nu}^k-y^k\|^2 \le O(\order)",
    cases=[instance(inverse) for inverse in (64, 128, 256, 512, 1024, 2048)],
    right=Schedule(LINE, BETA**2),
    horizon=T,
    derived=Derived("fednest/inner-drift-from-start"),
    floors=[Floor("one client, g = y²/2, y = 1: the first step moves β", lambda at: T**-2)],
    size=inverse_step_size,
    size_name="1/β",
    false_siblings=INNER.orders_below_square(LINE),
    explain="As printed, for a fixed number of local steps.",
)
def mean_inner_drift(view: Steps) -> Reduction:
    return mean_drift(view, "y")
