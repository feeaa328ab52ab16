r"""Lemma A.2: the consensus error of the stochastic gradients.

**Kind.** Bound; in expectation, as (35) uses it, given the past, for steps t + 1 ≥ 1.
"""

from dataclasses import replace
from math import pi
from typing import cast

from sympy import Rational, symbols

from driftproof.synthetic.problems.bounded_composition import BoundedComposition
from driftproof.toolkit.algorithms.local_scgdm import LocalSCGDM
from driftproof.toolkit.cases import grid
from driftproof.toolkit.composition import CompositionProblem
from driftproof.toolkit.constants import Expression, Letters
from driftproof.toolkit.measure import Reduction, Steps, given_past
from driftproof.toolkit.parameters import sweep
from driftproof.toolkit.readings import Erratum, Stated, intended, literal, narrower
from driftproof.verifiers.algebra.symbolic import Step, vanishes
from driftproof.verifiers.claim_types.bound import RightSide, bound
from driftproof.verifiers.claim_types.terms import Terms
from driftproof.verifiers.papers import _proof_steps as elementary
from driftproof.verifiers.papers.scgdm.claims import assumptions as given
from driftproof.verifiers.papers.scgdm.claims._steps import spread

NEAR = BoundedComposition(distance=0.5)
BENT = BoundedComposition(distance=3.0, inner_curvature=4.0, inner_value_noise=1.0)
PLANE = BoundedComposition(dim=2, inner_dim=2, inner_curvature=sweep(0.0, 1.0), distance=0.8)
TWO_STEPS = LocalSCGDM(local_steps=2, step_factor=sweep(0.3, 3.0))


def with_estimates(c: Letters, estimates: str) -> Expression:
    """Return (33) with the spread of u_{t+1} ("before") or of u_{t+2} ("used")."""
    return (
        48 * c.C_f**2 * c.L_g**2 * c.measured("models")
        + 16 * c.C_g**2 * c.L_f**2 * c.measured(estimates)
        + 8 * c.K * c.C_g**2 * c.sigma_f**2
        + 24 * c.K * c.C_f**2 * c.sigma_g**2
    )


def printed(c: Letters) -> Expression:
    return with_estimates(c, "before")


def as_used(c: Letters) -> Expression:
    return with_estimates(c, "used")


mended = Terms(
    {
        "the models": lambda c: 4 * c.C_f**2 * c.L_g**2 * c.measured("models"),
        "the estimates": lambda c: 4 * c.C_g**2 * c.L_f**2 * c.measured("used"),
        "the noise of ∇f": lambda c: c.K * c.C_g**2 * c.sigma_f**2,
        "the noise of ∇g": lambda c: 4 * c.K * c.C_f**2 * c.sigma_g**2,
        "different clients": lambda c: 4 * c.measured("clients"),
    }
)


def steps(right: RightSide) -> list[Step]:
    """Return the derivation of the corrected form."""
    if right is not mended:
        return []
    v, own, mean, drawn, there, centre, b = symbols("v J_1 J_2 f_1 f_2 f_3 b", commutative=False)
    c = elementary.POSITIVE
    four = c.K * (c.C_f * c.sigma_g) ** 2 + (c.C_g * c.L_f) ** 2 * c.measured("used")
    four += (c.C_f * c.L_g) ** 2 * c.measured("models") + c.measured("clients")
    parts = v * (drawn - there) + (v - own) * there + own * (there - centre)
    return [
        vanishes(
            v * drawn - b - (parts + (own - mean) * centre + mean * centre - b),
            r"z_k-\bar b = v_k(\nabla f_k(u_k;\zeta)-\nabla f_k(u_k))+(v_k-\nabla g_k(x_k))"
            r"\nabla f_k(u_k)+\nabla g_k(x_k)(\nabla f_k(u_k)-\nabla f_k(\bar u))+"
            r"(\nabla g_k(x_k)-\nabla g_k(\bar x))\nabla f_k(\bar u)+b_k-\bar b",
        ),
        elementary.squares_of_a_sum(4, 4),
        elementary.squares_of_a_sum(3, 3),  # b_k = b̄ for clients with one f and one g
        vanishes(
            right(c) - c.K * (c.C_g * c.sigma_f) ** 2 - 4 * four,
            r"\text{the first, centred given the rest, and four times the other four squares}",
        ),
    ]


@bound(
    name="scgdm/lemma-a.2",
    source="Local-SCGDM (2022), Lemma A.2 (33)",
    assumes=[*given.ASSUMED, given.STEP_SIZE, given.TWO_SAMPLES],
    statement=r"\sum_{k=1}^K\|z_{t+1}^{(k)}-\bar z_{t+1}\|^2 \le 48C_f^2L_g^2\sum_{k=1}^K"
    r"\|x_{t+1}^{(k)}-\bar x_{t+1}\|^2 + 16C_g^2L_f^2\sum_{k=1}^K\|u_{t+1}^{(k)}-"
    r"\bar u_{t+1}\|^2 + 8KC_g^2\sigma_f^2 + 24KC_f^2\sigma_g^2",
    cases=[
        *grid(
            replace(NEAR, inner_value_noise=0.4),
            LocalSCGDM(local_steps=2, step_size=0.5, inner_momentum=1.9),
            rounds=2,
        ),
        *grid(replace(NEAR, heterogeneity=1.0), LocalSCGDM(), rounds=2),
        *grid(
            replace(NEAR, outer_gradient_noise=0.4),
            LocalSCGDM(local_steps=2, step_size=0.5),
            rounds=1,
        ),
        *grid(
            BoundedComposition(distance=sweep(0.5, 16 * pi), inner_gradient_noise=0.4),
            LocalSCGDM(local_steps=2, step_size=0.5, step_factor=0.001),
            rounds=1,
        ),
        *grid(
            BENT,
            LocalSCGDM(local_steps=sweep(3, 6), step_size=0.5, momentum=1.9, step_factor=3.0),
            rounds=1,
        ),
        # f a line, g strongly curved: models that the noise drove apart have different gradients
        *grid(
            BoundedComposition(
                distance=3000.0, inner_curvature=4.0, outer_curvature=1e-3, outer_gradient_noise=0.1
            ),
            LocalSCGDM(local_steps=3, step_size=0.5, step_factor=sweep(3.0, 10.0)),
            rounds=1,
        ),
        *grid(replace(PLANE, inner_gradient_noise=0.4), TWO_STEPS, rounds=2),
        *grid(replace(PLANE, outer_gradient_noise=0.3), TWO_STEPS, rounds=2),
    ],
    measured={
        "models": r"\sum_k\mathbb{E}\|x_{t+1}^{(k)}-\bar x_{t+1}\|^2",
        "before": r"\sum_k\mathbb{E}\|u_{t+1}^{(k)}-\bar u_{t+1}\|^2",
        "used": r"\sum_k\mathbb{E}\|u_{t+2}^{(k)}-\bar u_{t+2}\|^2",
        "clients": r"\sum_k\mathbb{E}\|b_k-\bar b\|^2",
    },
    readings={
        "u as printed": literal(printed),
        "u as z uses it": intended(as_used, quote="Algorithm 1 makes z_{t+1} of u_{t+2}"),
        "u as z uses it, clients with one f and one g": narrower(
            Stated(as_used, assumes=(given.ALIKE,)), why=given.OF_THEIR_OWN
        ),
    },
    erratum=Erratum(
        "false",
        changes="Clients whose f or g differ have different gradients, even without noise: add the "
        "spread of ∇g^(k)(x̄)ᵀ∇f^(k)(ū) over clients.",
        depends="constant",
    ),
    corrected=mended,
    correction=(
        "With b_k = ∇g_k(x̄)ᵀ∇f_k(ū), Σ ‖z_k − z̄‖² ≤ Σ ‖z_k − b̄‖², and z_k − b̄ = v_k(∇f_k(u_k; ζ) "
        "− ∇f_k(u_k)) + (v_k − ∇g_k(x_k))ᵀ∇f_k(u_k) + ∇g_k(x_k)ᵀ(∇f_k(u_k) − ∇f_k(ū)) + (∇g_k(x_k) "
        "− ∇g_k(x̄))ᵀ∇f_k(ū) + b_k − b̄. The first is centred given the rest: K C_g²σ_f². The other "
        "four: 4KC_f²σ_g², 4C_g²L_f² Σ‖u_k − ū‖², 4C_f²L_g² Σ‖x_k − x̄‖², 4 Σ‖b_k − b̄‖², with no "
        "moment of a product of v_k and u_k, which share a sample."
    ),
    false_siblings=mended.controls(
        {
            "the models": 0,
            "the estimates": Rational(9, 40),
            "the noise of ∇f": Rational(2, 5),
            "the noise of ∇g": Rational(3, 40),
            "different clients": Rational(1, 5),
        }
    ),
    prove=steps,
    explain=(
        "z_{t+1} is computed from u_{t+2}, not u_{t+1}; and the lemma treats clients as if they "
        "had one f and one g. For such clients it holds, with the constants 3, 3, K and 3K."
    ),
)
def gradient_consensus(view: Steps) -> Reduction | None:
    if view.t == 0:
        return None
    x, u = (values.mean(0).expand_as(values) for values in (view.before.x, view.client("u")))
    return given_past(
        spread(view.client("z")),
        models=spread(view.before.x),
        before=spread(view.before.u),
        used=spread(view.client("u")),
        clients=spread(cast(CompositionProblem, view.problem).gradients_at(x, u)),
    )
