"""What ComFedL's analysis gives when all clients take part and the step is small: a sharper bound.

**Kind.** Bound. It is ours, and nothing of it is printed; it decides whether the papers' rate is
the best with all clients (``comfedl/optimal-rate``).
"""

from dataclasses import replace
from fractions import Fraction

from sympy import Rational, sqrt, summation, symbols

from driftproof.synthetic.problems.bounded_composition import BoundedComposition
from driftproof.synthetic.problems.opposed_clients import OpposedClients
from driftproof.synthetic.problems.stuck_estimator import StuckEstimator
from driftproof.toolkit.algorithms.comfedl import ComFedL
from driftproof.toolkit.cases import Assumption, grid
from driftproof.toolkit.constants import Expression, Letters
from driftproof.toolkit.measure import Reduction, States
from driftproof.toolkit.parameters import sweep
from driftproof.verifiers.algebra.symbolic import Step, vanishes
from driftproof.verifiers.claim_types.bound import RightSide, bound
from driftproof.verifiers.claim_types.terms import Terms
from driftproof.verifiers.papers import _proof_steps as elementary
from driftproof.verifiers.papers.comfedl.claims import _theorem_bounds as bounds
from driftproof.verifiers.papers.comfedl.claims._cases import NOISY
from driftproof.verifiers.papers.comfedl.claims.assumptions import A1, A2, A3, A4
from driftproof.verifiers.papers.comfedl.claims.lemma_3_proof import REORDERED, five_parts

ALL = Assumption("all clients", r"m = n", relation=lambda c: c.m >= c.n)
SMALL_STEP = Assumption(
    "step size", r"L\tau\eta \le 1", relation=lambda c: c.L * c.tau * c.eta <= 1
)

DRIFTING = BoundedComposition(
    outer_slope=0.15,
    outer_curvature=0.08,
    opposition_slope=1.15,
    opposition_centre=0.2,
    distance=1.1,
)
DRIFTING_APART = OpposedClients(
    slope=0.15,
    curvature=0.08,
    opposition_slope=1.15,
    opposition_curvature=1.0,
    opposition_centre=0.2,
    distance=1.1,
)
"""The same with inner maps that differ, and one outer function."""
SMALL_NOISE = ComFedL(
    local_steps=5, step_size=0.01, batch=16, outer_batch=16, samples=sweep("shared", "independent")
)

error = Terms(
    {
        "the drift through the inner maps": lambda c: c.G_g * c.L_f * bounds.drift_length(c),
        "the drift through the outer functions": lambda c: (
            c.G_f**2 * c.L_g * bounds.drift_length(c)
        ),
        "the outer noise": lambda c: c.G_f * c.sigma_3 / sqrt(c.b1),
        "the Jacobian's noise": lambda c: c.G_g * c.sigma_1 / sqrt(c.b),
        "the plug-in bias": bounds.bias,
    }
)
"""The root mean square of v − ∇F(w̄_s), by its parts."""


def right_side(c: Letters, error: Terms = error, gap: Expression = 1) -> Expression:
    """Return the right side; the controls change the error or the initial gap's share."""
    return gap * 2 * c.F_gap / (c.T * c.eta) + error(c) ** 2


def with_error(error: Terms) -> RightSide:
    return lambda c: right_side(c, error)


def steps(right: RightSide) -> list[Step]:
    """Return the derivation, of the statement alone."""
    if right is not right_side:
        return []
    c, t = elementary.POSITIVE, symbols("t", positive=True)
    apart = summation(t * c.eta * c.G_g * c.G_f, (t, 0, c.tau - 1)) / c.tau
    parts = [
        c.G_g * c.L_f * apart,
        c.G_f * c.sigma_3 / sqrt(c.b1),
        c.G_f**2 * c.L_g * apart,
        bounds.bias(c),
        c.G_g * c.sigma_1 / sqrt(c.b),
    ]
    return [
        five_parts(REORDERED),
        elementary.root_of_a_mean(),
        elementary.cauchy_schwarz(),
        elementary.descent_along(),
        vanishes(
            right(c) - 2 * c.F_gap / (c.T * c.eta) - sum(parts) ** 2,
            r"\text{root mean squares of the five: } G_gL_fd,\ \tfrac{G_f\sigma_3}{\sqrt{b_1}},\ "
            r"G_f^2L_gd,\ \tfrac{L_gG_f\sigma_2}{\sqrt b},\ \tfrac{G_g\sigma_1}{\sqrt b},\; "
            r"d = \tfrac1\tau\textstyle\sum_{t<\tau}t\eta G_gG_f; "
            r"\text{ the square of their sum, by Minkowski}",
        ),
    ]


@bound(
    name="comfedl/full-participation",
    source="a result of driftproof's, by the papers' analysis",
    assumes=[A1, A2, A3, A4, ALL, SMALL_STEP],
    statement=r"\frac1S\sum_{s=0}^{S-1}\mathbb{E}\|\nabla F(\bar w_s)\|^2 \le "
    r"\frac{2(F(\bar w_0)-F^*)}{T\eta} + \Big((G_gL_f+G_f^2L_g)\frac{\tau-1}2\eta G_gG_f + "
    r"\frac{G_f\sigma_3}{\sqrt{b_1}} + \frac{G_g\sigma_1}{\sqrt b} + "
    r"\frac{L_gG_f\sigma_2}{\sqrt b}\Big)^2",
    cases=[
        *grid(BoundedComposition(clients=1, distance=0.9), ComFedL(step_size=1.0), rounds=1),
        *grid(DRIFTING, ComFedL(local_steps=2, step_size=0.2), rounds=100),
        *grid(DRIFTING_APART, ComFedL(local_steps=2, step_size=0.2), rounds=100),
        *grid(
            BoundedComposition(clients=1, outer_slope=1.5, outer_gradient_noise=1.0, distance=0.0),
            ComFedL(step_size=0.8),
            rounds=50,
        ),
        *grid(
            BoundedComposition(
                heterogeneity=10.0, outer_curvature=0.1, inner_gradient_noise=0.15, distance=0.0
            ),
            ComFedL(step_size=10.0),
            rounds=50,
        ),
        *grid(StuckEstimator(), ComFedL(step_size=0.1), rounds=1000),
        *grid(
            BoundedComposition(clients=sweep(2, 5), dim=sweep(1, 3), heterogeneity=sweep(0.0, 1.0)),
            ComFedL(local_steps=sweep(1, 5), step_size=0.02),
            rounds=200,
        ),
        *grid(
            replace(NOISY, outer_gradient_noise=0.02, heterogeneity=0.5), SMALL_NOISE, rounds=100
        ),
    ],
    range=bounds.largest,
    corrected=right_side,
    correction=(
        "Over a round, w̄ moves by −ητv, v the average of ū_{s,t}. Smoothness and Lτη ≤ 1 give "
        "E F(w̄_{s+1}) ≤ E F(w̄_s) − (ητ/2)E‖∇F(w̄_s)‖² + (ητ/2)E‖v − ∇F(w̄_s)‖². With m = n, "
        "v − ∇F(w̄_s) is an average of errors ū_{s,t} − U_{s,0}, whose five parts have root mean "
        "squares that add up (Minkowski) to at most the bracket."
    ),
    false_siblings=[
        ("without the initial gap", lambda c: right_side(c, gap=0)),
        ("9/10 of the initial gap", lambda c: right_side(c, gap=Rational(9, 10))),
        *((name, with_error(left)) for name, left in error.without_each()),
        *error.controls(
            {
                "the drift through the inner maps": Fraction(1, 2),
                "the drift through the outer functions": Fraction(1, 2),
                "the outer noise": Fraction(3, 4),
                "the Jacobian's noise": Fraction(1, 10),
                "the plug-in bias": Fraction(1, 2),
            },
            form=with_error,
        ),
    ],
    prove=steps,
    explain=(
        "The error enters squared, where Theorem 1 has it times G_fG_g. So the step size need not "
        "be 1/√T: T^(-1/3) and minibatches of T^(2/3) give O(T^(-2/3)). With clients sampled, "
        "m < n, U_{s,0} is not ∇F(w̄_s), the proof does not go through, and O(1/√T) cannot be "
        "beaten (comfedl/optimal-rate). Untested: the coefficient of the Jacobian's noise between "
        "1/10 and 1, and √b, as the bias is seen at b = 1."
    ),
)
def full_participation(view: States) -> Reduction:
    return bounds.squared_gradient(view)
