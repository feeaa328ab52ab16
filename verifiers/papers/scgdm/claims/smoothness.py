r"""The smoothness of the objective.

**Kind.** Bound on ‖∇F(x) − ∇F(y)‖/‖x − y‖; attained where g is linear.

The left side is enclosed: from below by a search for the steepest pair of points, from above by the
family's own constant, derived without Assumption 3.2.
"""

from driftproof.synthetic.problems.bias_amplification import BiasAmplification
from driftproof.synthetic.problems.bounded_composition import BoundedComposition
from driftproof.toolkit.cases import Case, grid
from driftproof.toolkit.composition import CompositionProblem
from driftproof.toolkit.parameters import sweep
from driftproof.verifiers.claim_types.bound import RightSide
from driftproof.verifiers.claim_types.compared import Comparison
from driftproof.verifiers.claim_types.comparison import comparison
from driftproof.verifiers.papers._smoothness import steepest
from driftproof.verifiers.papers.scgdm.claims import assumptions as given

ROLES = {
    "C_g": "inner_gradient_moment",
    "C_f": "outer_gradient_moment",
    "L_g": "inner_mean_smoothness",
    "L_f": "outer_mean_smoothness",
}


@comparison(
    name="scgdm/smoothness",
    kind="bound",
    source="Local-SCGDM (2022), section 3.2",
    assumes=[given.A31, given.A32],
    statement=r"\|\nabla F(x)-\nabla F(y)\| \le L_F\|x-y\|,\quad L_F = C_g^2L_f + C_fL_g",
    cases=[
        *grid(BoundedComposition(clients=1, outer_curvature=sweep(1e-3, 1.0, 1e3))),
        *grid(BoundedComposition(clients=1, outer_curvature=1e-3, inner_curvature=sweep(0.5, 5.0))),
        *grid(
            BoundedComposition(
                clients=3,
                dim=2,
                inner_dim=2,
                inner_curvature=sweep(0.0, 0.5, 50.0),
                heterogeneity=1.0,
                inner_gradient_noise=sweep(0.0, 0.3),
                outer_slope=sweep(0.1, 10.0),
            )
        ),
        *grid(
            BiasAmplification(objective_of="client-wise", heterogeneity=sweep("slopes", "offsets"))
        ),
    ],
    letters=ROLES,
    right=given.smooth,
    false_siblings=[
        ("without the curvature of g", lambda c: c.C_g**2 * c.L_f),
        ("without the curvature of f", lambda c: c.C_f * c.L_g),
        ("C_g instead of its square", lambda c: c.C_g * c.L_f + c.C_f * c.L_g),
    ],
    explain="The product rule; with linear g and one f it is attained.",
)
def smoothness(case: Case[CompositionProblem, None], right: RightSide) -> list[Comparison]:
    return steepest(case, right, ROLES)
