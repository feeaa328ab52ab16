"""Lemma 3.5: the smoothness of Φ = h + f(g).

**Kind.** Bound on ‖∇Φ(x) − ∇Φ(y)‖/‖x − y‖; attained with linear g, one client and no h.

The left side is enclosed: from below by a search for the steepest pair of points, from above by the
family's own constant.
"""

from driftproof.synthetic.problems.averaged_composition import AveragedComposition
from driftproof.synthetic.problems.bias_amplification import BiasAmplification
from driftproof.toolkit.cases import Case, grid
from driftproof.toolkit.constants import Expression, Letters
from driftproof.toolkit.parameters import sweep
from driftproof.verifiers.claim_types.bound import RightSide
from driftproof.verifiers.claim_types.compared import Comparison
from driftproof.verifiers.claim_types.comparison import comparison
from driftproof.verifiers.papers._smoothness import steepest
from driftproof.verifiers.papers.feddro.claims import assumptions as given

ROLES = {
    "L_h": "plain_smoothness",
    "B_f": "outer_gradient_bound",
    "L_g": "inner_mean_smoothness",
    "B_g": "inner_gradient_moment",
    "L_f": "outer_smoothness",
}


def product_rule(c: Letters) -> Expression:
    return c.L_h + c.B_f * c.L_g + c.B_g**2 * c.L_f


@comparison(
    name="feddro/lemma-3.5",
    kind="bound",
    source="FedDRO (2023), Lemma 3.5",
    assumes=[given.A32, given.AVERAGED],
    statement=r"\|\nabla\Phi(x)-\nabla\Phi(y)\|\le L_\Phi\|x-y\|,\quad "
    r"L_\Phi := L_h + B_fL_g + B_g^2L_f",
    cases=[
        *grid(AveragedComposition(clients=1, outer_curvature=sweep(1e-3, 1.0, 1e3))),
        *grid(AveragedComposition(clients=1, inner_slope=2.0, plain_slope=sweep(0.0, 1.0))),
        *grid(
            AveragedComposition(
                clients=3,
                dim=2,
                inner_dim=2,
                inner_curvature=sweep(0.0, 0.5, 50.0),
                inner_heterogeneity=sweep(0.0, 0.5),
                plain_slope=sweep(0.0, 1.0),
                plain_tilt=0.3,
            )
        ),
        *grid(BiasAmplification(heterogeneity=sweep("slopes", "offsets"))),
    ],
    letters=ROLES,
    right=product_rule,
    false_siblings=[
        ("without the curvature of g", lambda c: c.L_h + c.B_g**2 * c.L_f),
        ("without h", lambda c: c.B_f * c.L_g + c.B_g**2 * c.L_f),
        ("B_g instead of its square", lambda c: c.L_h + c.B_f * c.L_g + c.B_g * c.L_f),
    ],
    explain="The product rule; attained with linear g, one client and no h.",
)
def smoothness(case: Case, right: RightSide) -> list[Comparison]:
    return steepest(case, right, ROLES)
