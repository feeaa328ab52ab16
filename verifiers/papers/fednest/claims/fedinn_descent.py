r"""FedInn's function value, for all strongly convex smooth g_i and any number of local steps.

**Kind.** Bound over a class, of one call: g(x, y⁺) − g(x, y*) ≤ (1 − (1 − (1 − λ)²)/κ_g)(g(x, y) −
g(x, y*)) with λ = τβℓ_{g,1}(1 − (τ − 1)βℓ_{g,1}/2) and τβℓ_{g,1} ≤ 1.

**Derivation.** Let q = ∇_y g(x, y), and e_{ij} = ∇_y g_i(x, y_{i,j}) − ∇_y g_i(x, y), so that y −
y⁺ = β Σ_{j<τ}(q + e_j) with e_j the mean over clients. By the drift lemma (fednest/
inner-drift-convex) ‖e_{ij}‖ ≤ ℓ_{g,1}jβ‖q‖, so y − y⁺ is within τ(τ − 1)β²ℓ_{g,1}/2·‖q‖ of τβq, and
as τβ ≤ 1/ℓ_{g,1} within (1 − λ)‖q‖/ℓ_{g,1} of q/ℓ_{g,1}. Smoothness then gives

    g(y⁺) ≤ g(y) − ‖q‖²/(2ℓ_{g,1}) + (ℓ_{g,1}/2)‖y − y⁺ − q/ℓ_{g,1}‖² ≤ g(y) − (1 − (1 −
    λ)²)‖q‖²/(2ℓ_{g,1}),

and ‖q‖² ≥ 2μ_g(g(y) − g(y*)).

**Finding.** At every number judged the worst case is (1 − βμ_g)^{2τ}, as for the distance
(fednest/fedinn-convergence-strongly-convex): the certificates prove it. It is below ρ² with ρ = 1 −
(1 − (1 − βℓ_{g,1})^τ)/κ_g, the rate of quadratic g_i in fednest/fedinn-convergence: no function of
the class violates that one here. For the value neither is derived.
"""

from driftproof.synthetic.classes import (
    for_all,
    lower_level,
    over,
    smooth_strongly_convex,
    start_gap,
)
from driftproof.synthetic.classes.function_class import Conditions
from driftproof.toolkit.algorithms.fedinn import FedInn
from driftproof.toolkit.constants import Expression, Letters
from driftproof.toolkit.measure import Reduction, Steps, each
from driftproof.toolkit.parameters import sweep
from driftproof.toolkit.readings import Stated
from driftproof.verifiers.claim_types.bound import bound
from driftproof.verifiers.papers.fednest.claims import assumptions as given
from driftproof.verifiers.papers.fednest.claims._over_classes import ALL_CLIENTS, SHORT, STRONG

WELL: Conditions = [smooth_strongly_convex(L=1, mu=0.1), lower_level(), start_gap(delta=1)]
ILL: Conditions = [smooth_strongly_convex(L=1, mu=0.01), lower_level(), start_gap(delta=1)]


def of_quadratics(c: Letters, share: Expression = 1) -> Expression:
    rho = 1 - share * (1 - (1 - c.beta * c.ell_g1) ** c.tau) * c.mu_g / c.ell_g1
    return rho**2 * c.F_gap


def descent(c: Letters) -> Expression:
    way = c.tau * c.beta * c.ell_g1
    share = way * (1 - (way - c.beta * c.ell_g1) / 2)
    return (1 - (1 - (1 - share) ** 2) * c.mu_g / c.ell_g1) * c.F_gap


@bound(
    name="fednest/fedinn-descent",
    source="FedNest (2022), slides, Inner Optimizer: FedInn, corrected form of ours",
    assumes=[given.CONVEX, ALL_CLIENTS],
    statement=r"\text{the global convergence of FedInn}:\quad g(x,y^+)-g(x,y^*(x)) \le "
    r"\rho^2\big(g(x,y)-g(x,y^*(x))\big)",
    classes=[
        *over(
            [STRONG, lower_level(), start_gap(delta=for_all("0 < F_gap"))],
            FedInn(inner_steps=1, inner_step_size=for_all("0 < beta <= 1/ell_g1")),
        ),
        *over(WELL, FedInn(inner_steps=sweep(2, 5), inner_step_size=sweep(0.2, 0.05)), rounds=1),
        *over(ILL, FedInn(inner_steps=sweep(3, 10), inner_step_size=0.1), rounds=1),
    ],
    corrected=Stated(descent, assumes=(SHORT,)),
    correction=(
        "y − y⁺ differs from τβ∇g(y) by at most τ(τ − 1)β²ℓ_{g,1}/2·‖∇g(y)‖, by the drift lemma; "
        "then the descent lemma, and ‖∇g‖² ≥ 2μ_g(g − g*)."
    ),
    false_siblings=[
        (
            "without κ_g",
            Stated(lambda c: (1 - c.beta * c.ell_g1) ** (2 * c.tau) * c.F_gap, assumes=(SHORT,)),
        ),
        ("twice as fast as quadratics", Stated(lambda c: of_quadratics(c, 2), assumes=(SHORT,))),
    ],
    explain="A call decreases g for all strongly convex smooth g_i and any number of local steps. "
    "At every number judged the worst case is (1 − βμ_g)^(2τ), below the rate of quadratics.",
)
def gap_after_a_call(view: Steps) -> Reduction | None:
    return each("round", "local_step", view.gap(view.mean("y"))) if view.last else None
