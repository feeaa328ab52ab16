r"""The order of FedOut's drift (slide "Proposed Algorithm", Outer Optimizer).

**Kind.** Rate, along α = 1/τ with τ = T → ∞ and y^{k+1} = y*(x^k), where the order is 1/T.
"""

from sympy import symbols

from driftproof.synthetic.problems.quadratic_bilevel import QuadraticBilevel
from driftproof.toolkit.algorithms.fedout import FedOut
from driftproof.toolkit.cases import Case
from driftproof.toolkit.measure import Reduction, Steps
from driftproof.toolkit.readings import Erratum, Undecided, intended, literal
from driftproof.verifiers.claim_types.derived import Derived
from driftproof.verifiers.claim_types.rate import Schedule, rate
from driftproof.verifiers.papers.fednest.claims import assumptions as given
from driftproof.verifiers.papers.fednest.claims._drift import ALPHA, OUTER, TAU_X, T, mean_drift

PROBLEM = QuadraticBilevel(
    clients=2, cross=0.0, regulariser=1.0, regulariser_heterogeneity=0.5, lower_start=0.0
)
"""A quadratic of its own for each client, y at y*(x)."""
ERROR = symbols("e_y", positive=True)
"""‖y^{k+1} − y*(x^k)‖²: 0 on the instance."""
LINE = {"tau_x": T, "alpha": 1 / T, "e_y": 0}


def instance(steps: int) -> Case[QuadraticBilevel, FedOut]:
    return Case(PROBLEM, FedOut(outer_steps=steps, outer_step_size=1 / steps, terms=3), 1)


def outer_steps(case: Case[QuadraticBilevel, FedOut]) -> float:
    return case.algorithm.outer_steps


@rate(
    name="fednest/outer-drift",
    source="FedNest (2022), slides, Outer Optimizer: FedOut",
    assumes=[given.SMOOTH],
    statement=r"\|x_{i,\nu}^k-x^k\|^2 \le O(\order)",
    cases=[instance(steps) for steps in (8, 16, 32, 64, 128, 256)],
    full=[instance(steps) for steps in (512, 1024, 2048)],
    readings={
        "τα²": literal(Schedule(LINE, TAU_X * ALPHA**2 + ERROR)),
        "τ²α², as the conference paper may have it": intended(
            Undecided(
                "τ²α² holds; the conference paper, which may have it, is not at hand",
                by="the lemma on this drift in the ICML 2022 text (PMLR 162, arXiv 2205.02215)",
            ),
            quote="the slides’ last page: “Paper: ICML 2022, arXiv”, which they sum up",
        ),
    },
    corrected=Schedule(LINE, TAU_X**2 * ALPHA**2 * (1 + ERROR)),
    correction=(
        "fednest/outer-drift-from-start: ‖x_{i,ν} − x‖² ≤ τ²α² e^{2τα·ℓ_{f,1}} ‖h‖², and for y = "
        "y*(x) without coupling h = λx."
    ),
    erratum=Erratum(
        "misprint",
        changes="A misprint or a false statement, as in fednest/inner-drift. The drift of τ local "
        "steps of size α is of order τ²α², not τα².",
        same_as="fednest/inner-drift",
        one_character=True,
    ),
    horizon=T,
    derived=Derived("fednest/outer-drift-from-start"),
    floors=[OUTER.floor("one client, f = x²/2, x = 1, y = y*")],
    size=outer_steps,
    size_name="τ, local steps of size 1/τ",
    false_siblings=OUTER.orders_below(LINE),
    explain="The drift grows with (τα)²: in τ the printed exponent 1 is false.",
)
def mean_outer_drift(view: Steps) -> Reduction:
    return mean_drift(view, "x")
