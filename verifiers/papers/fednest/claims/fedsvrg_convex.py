r"""FedSVRG on convex smooth functions: K calls of τ local steps, however much clients differ.

**Kind.** Bound over a class, for ταL ≤ 1 and τ ≤ 15, with λ = ταL(1 − (τ − 1)αL/2):
F(x_K) − F* ≤ 2LR²/(4 + K(1 − (1 − λ)²)).

**Derivation.** A call decreases F by w‖∇F(x)‖², w = (1 − (1 − λ)²)/(2L), and ‖x − x*‖ does not grow
(fednest/fedinn-descent and fednest/fedinn-convergence-strongly-convex; neither argument needs μ >
0). So δ_k = F(x_k) − F* ≤ ‖∇F(x_k)‖R and 1/δ_{k+1} ≥ 1/δ_k + w/R²; and δ_0 ≤ LR²/2.

**Finding.** At every number judged the worst case is LR²/(4KταL + 2), that of Kτ steps of gradient
descent (localsgd/gradient-descent): at these numbers a local step counts in full. Nothing
smaller holds, as clients may be equal. That nothing larger is needed is proved by the certificates,
which prove the worst case itself, for each of these numbers, and is not derived for others.
"""

from driftproof.synthetic.classes import for_all, over, smooth_convex, start_within
from driftproof.synthetic.classes.function_class import Conditions
from driftproof.toolkit.algorithms.fedsvrg import FedSVRG
from driftproof.toolkit.cases import Assumption
from driftproof.toolkit.constants import Expression, Letters
from driftproof.toolkit.measure import Reduction, Steps, each
from driftproof.toolkit.parameters import sweep
from driftproof.verifiers.claim_types.bound import bound

SHORT = Assumption(
    "short calls", r"\tau\alpha L\le1", relation=lambda c: c.tau * c.alpha * c.L <= 1
)
FEW = Assumption("few local steps", r"\tau\le15", relation=lambda c: c.tau <= 15)
CONVEX: Conditions = [smooth_convex(L=1), start_within(R=1)]


def of_gradient_descent(c: Letters, share: Expression = 1) -> Expression:
    return c.L * c.R**2 / (4 * share * c.K * c.tau * c.alpha * c.L + 2)


def of_descent(c: Letters) -> Expression:
    way = c.tau * c.alpha * c.L
    share = way * (1 - (way - c.alpha * c.L) / 2)
    return 2 * c.L * c.R**2 / (4 + c.K * (1 - (1 - share) ** 2))


@bound(
    name="fednest/fedsvrg-convex",
    source="FedNest (2022), slides, Gradient-Type Federated Optimization, corrected form of ours",
    assumes=[SHORT, FEW],
    statement=r"\text{FedSVRG}:\quad F(x_K)-F^* \le \rho\,LR^2,\quad \|x_0-x^*\|\le R",
    classes=[
        *(
            case
            for tau in (1, 2, 3)
            for case in over(
                [smooth_convex(L=for_all("0 < L")), start_within(R=for_all("0 < R"))],
                FedSVRG(local_steps=tau, step_size=for_all(f"0 < alpha <= 1/({tau}*L)")),
            )
        ),
        *over(CONVEX, FedSVRG(local_steps=sweep(1, 3), step_size=sweep(0.3, 0.1)), rounds=3),
        *over(CONVEX, FedSVRG(local_steps=5, step_size=0.2), rounds=[1, 2]),
    ],
    corrected=of_descent,
    correction="A call decreases F by (1 − (1 − λ)²)/(2L)·‖∇F‖², and the distance does not grow.",
    false_siblings=[
        ("a hundredth more steps", lambda c: of_gradient_descent(c, 1.01)),
        ("twice as many steps", lambda c: of_gradient_descent(c, 2)),
    ],
    explain="At every number judged FedSVRG's worst case is that of as many steps of gradient "
    "descent on F itself, however much the clients differ.",
)
def gap(view: Steps) -> Reduction | None:
    return each("round", "local_step", view.gap(view.mean("x"))) if view.last else None
