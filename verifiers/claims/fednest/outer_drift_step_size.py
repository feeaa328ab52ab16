r"""The order of FedOut's drift in α alone (slide "Proposed Algorithm", Outer Optimizer).

**Kind.** Rate, for fixed τ, y^{k+1} = y*(x^k) and α = 1/T → 0: the exponent of α is 2, as printed.
"""

from driftproof.synthetic.problems.quadratic_bilevel import QuadraticBilevel
from driftproof.toolkit.algorithms.fedout import FedOut
from driftproof.toolkit.cases import Case
from driftproof.toolkit.measure import Reduction, Steps
from driftproof.verifiers.claim_types.rate import Floor, Schedule, rate
from driftproof.verifiers.claims.fednest import assumptions as given
from driftproof.verifiers.claims.fednest._drift import ALPHA, OUTER, T, mean_drift
from driftproof.verifiers.claims.fednest.outer_drift import PROBLEM

STEPS = 8
LINE = {"tau_x": STEPS, "alpha": 1 / T}


def instance(inverse: int) -> Case[QuadraticBilevel, FedOut]:
    return Case(PROBLEM, FedOut(outer_steps=STEPS, outer_step_size=1 / inverse, terms=3), 1)


def inverse_step_size(case: Case[QuadraticBilevel, FedOut]) -> float:
    return 1 / case.algorithm.outer_step_size


@rate(
    name="fednest/outer-drift-step-size",
    source="FedNest (2022), slides, Outer Optimizer: FedOut",
    assumes=[given.SMOOTH],
    statement=r"\tau_i \text{ fixed},\; y^{k+1}=y^*(x^k):\quad \|x_{i,\nu}^k-x^k\|^2 \le "
    r"O(\order)",
    cases=[instance(inverse) for inverse in (64, 128, 256, 512, 1024, 2048)],
    right=Schedule(LINE, ALPHA**2),
    horizon=T,
    floors=[Floor("f = x²/2, x = 1: the first step moves α", lambda at: T**-2)],
    size=inverse_step_size,
    size_name="1/α",
    false_siblings=OUTER.orders_below_square(LINE),
    explain="As printed, for a fixed number of local steps.",
)
def mean_outer_drift(view: Steps) -> Reduction:
    return mean_drift(view, "x")
