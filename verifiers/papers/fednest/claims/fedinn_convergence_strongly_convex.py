r"""How fast FedInn contracts, for all strongly convex smooth g_i: the rate (1 − βμ_g)^τ.

**Kind.** Bound over a class: ‖y⁺ − y*‖ ≤ (1 − βμ_g)^τ‖y − y*‖ for one call. It is what gradient
descent on one function does in τ steps, however much the clients differ, and no smaller rate holds:
(μ_g/2)‖y‖² for every client attains it. FedLin (Mitra et al., 2021, which the slides cite) takes
the same local step and shows the same kind of rate; the constant is derived here. It is below the
rate of fednest/fedinn-convergence.

**Derivation.** Let a = 1 − βμ_g, M = ℓ_{g,1} − μ_g, w_j = a^{τ−1−j}, γ = 2a/(βM). The functions
g_i − (μ_g/2)‖·‖² are convex and M-smooth; s_{ij} is how their gradient at y_{i,j} differs from that
at y*, s̄_j its mean over clients, z_{ij} = y_{i,j} − y* and z = y − y*. As Σ_i ∇g_i(y*) = 0,

    z_{i,j+1} = a z_{ij} − β(s_{ij} + s̄_0 − s_{i0}),        y⁺ − y* = a^τ z − β Σ_j w_j s̄_j.

In a^{2τ}‖z‖² − ‖y⁺ − y*‖² = 2βa^τ Σ_j w_j⟨z, s̄_j⟩ − β²‖Σ_j w_j s̄_j‖² put for z, in the product
with s_{ij}, what the first equation gives: z = a^{−j}z_{ij} + β Σ_{l<j} a^{−1−l}(s_{il} + s̄_0 −
s_{i0}); and ⟨z_{ij}, s_{ij}⟩ ≥ ‖s_{ij}‖²/M. With s_{ij} = s̄_j + t_{ij} the means s̄_j leave
Σ_j w_j²(2a/M − β)‖s̄_j‖² ≥ 0. With v_j = w_j t_{ij} and c_j = Σ_{l<j} a^{−l} each client leaves

    β(γ Σ_j‖v_j‖² + 2 Σ_{l<j}⟨v_l, v_j⟩ − 2 Σ_{j≥1} c_j⟨v_0, v_j⟩)
      ≥ β(γ‖v_0‖² + (γ − 1) Σ_{j≥1}‖v_j‖² − 2‖v_0‖‖Σ_{j≥2} (c_j − 1)v_j‖),

since 2 Σ_{1≤l<j}⟨v_l, v_j⟩ ≥ −Σ_{j≥1}‖v_j‖². It is not negative if γ ≥ 1 and

    Σ_{2≤j<τ} (c_j − 1)² ≤ γ(γ − 1).

For τ ≤ 2 that is β ≤ 2/(ℓ_{g,1} + μ_g). For τβℓ_{g,1} ≤ 1: c_j − 1 ≤ (j − 1)a^{2−τ} and a^{τ−1} ≥
1 − (τ − 1)βμ_g ≥ M/ℓ_{g,1}, so γ ≥ 2a^{2−τ}/(βℓ_{g,1}). Hence (τ − 2)(τ − 1)(2τ − 3)/6 ≤ 4τ² − 2τ
suffices, which holds up to τ = 15. For more local steps a bound is fednest/fedinn-descent.

**Finding.** τβℓ_{g,1} ≤ 1 is not necessary: with 12 local steps the worst case is still (1 −
βμ_g)^{2τ} for τβℓ_{g,1} = 4, and above it for 6; for 8 and κ_g = 100 the distance grows.
"""

from driftproof.synthetic.classes import (
    for_all,
    lower_level,
    over,
    smooth_strongly_convex,
    start_within,
)
from driftproof.synthetic.classes.function_class import Conditions
from driftproof.toolkit.algorithms.fedinn import FedInn
from driftproof.toolkit.cases import Assumption
from driftproof.toolkit.constants import Expression, Letters
from driftproof.toolkit.measure import Reduction, Steps, each, sq
from driftproof.toolkit.parameters import sweep
from driftproof.toolkit.readings import Stated
from driftproof.verifiers.claim_types.bound import bound
from driftproof.verifiers.papers.fednest.claims import assumptions as given
from driftproof.verifiers.papers.fednest.claims._over_classes import ALL_CLIENTS, SHORT, STRONG

FEW = Assumption("few local steps", r"\tau\le15", relation=lambda c: c.tau <= 15)
ANY: Conditions = [STRONG, lower_level(), start_within(R=for_all("0 < R"))]
CONTRACTING = for_all("0 < beta <= 2/(ell_g1 + mu_g)")
WELL: Conditions = [smooth_strongly_convex(L=1, mu=0.1), lower_level(), start_within(R=1)]
ILL: Conditions = [smooth_strongly_convex(L=1, mu=0.01), lower_level(), start_within(R=1)]


def contraction(c: Letters) -> Expression:
    return (1 - c.beta * c.mu_g) ** (2 * c.tau) * c.R**2


@bound(
    name="fednest/fedinn-convergence-strongly-convex",
    source="FedNest (2022), slides, Inner Optimizer: FedInn, corrected form of ours",
    assumes=[given.CONVEX, ALL_CLIENTS],
    statement=r"\text{the global convergence of FedInn}:\quad \|y^+-y^*(x)\|^2 \le "
    r"\rho^2\,\|y-y^*(x)\|^2,\quad \|y-y^*(x)\|\le R,\quad \tau\beta\ell_{g,1}\le1,\; \tau\le15",
    classes=[
        *over(ANY, FedInn(inner_steps=sweep(1, 2), inner_step_size=CONTRACTING)),
        *over(ANY, FedInn(inner_steps=3, inner_step_size=for_all("0 < beta <= 1/(3*ell_g1)"))),
        *over(WELL, FedInn(inner_steps=5, inner_step_size=sweep(0.2, 0.05)), rounds=1),
        *over(ILL, FedInn(inner_steps=sweep(3, 10), inner_step_size=0.1), rounds=1),
        *over(ILL, FedInn(inner_steps=12, inner_step_size=0.75), rounds=1),
    ],
    corrected=Stated(contraction, assumes=(SHORT, FEW)),
    correction=(
        "A local step contracts by 1 − βμ_g but for a shift that differs between clients and whose "
        "mean is 0; cocoercivity towards y* pays for what the shifts turn. The file derives it."
    ),
    false_siblings=[
        (
            "one step more",
            Stated(lambda c: contraction(c) * (1 - c.beta * c.mu_g) ** 2, assumes=(SHORT, FEW)),
        ),
        (
            "twice μ_g",
            Stated(
                lambda c: (1 - 2 * c.beta * c.mu_g) ** (2 * c.tau) * c.R**2, assumes=(SHORT, FEW)
            ),
        ),
        ("without τβℓ ≤ 1", Stated(contraction)),
    ],
    explain="For τβℓ_{g,1} ≤ 1 and τ ≤ 15 FedInn contracts like gradient descent on one function, "
    "with (1 − βμ_g)^τ, for all strongly convex smooth g_i and with no bound on how far clients "
    "differ. The local step is FedLin's (Mitra et al., 2021), which has a linear rate of this "
    "kind.",
)
def distance_after_a_call(view: Steps) -> Reduction | None:
    if not view.last:
        return None
    return each("round", "local_step", sq(view.mean("y") - view.minimiser))
