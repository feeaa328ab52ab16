r"""FedInn converges to y*(x) (slide "Proposed Algorithm: FedNest").

"The global convergence of FedInn ensures accurate hypergradient computation": at fixed x FedSVRG
on y converges to y*(x), from any start, with step sizes that are small enough for the number of
local steps (the slide names neither; to choose them is left to the reader).

**Kind.** Bound, per call: g(x, y⁺) − g(x, y*) ≤ ρ²(g(x, y) − g(x, y*)), no noise, all clients. Not
to diverge needs ρ = 1; to converge ρ < 1.

With equal Hessians ρ = (1 − βμ_g)^τ for every τ.
"""

import numpy as np
from sympy import Rational, diff, limit, symbols
from torch import Tensor

from driftproof.synthetic.problems.quadratic_bilevel import QuadraticBilevel
from driftproof.synthetic.problems.quadratic_minimax import QuadraticMinimax
from driftproof.toolkit.algorithms.fedinn import FedInn
from driftproof.toolkit.bilevel import BilevelProblem
from driftproof.toolkit.cases import Assumption, grid
from driftproof.toolkit.constants import Expression, Letters
from driftproof.toolkit.measure import Reduction, Steps, each
from driftproof.toolkit.oracles import Bilevel
from driftproof.toolkit.parameters import sweep
from driftproof.toolkit.readings import Stated, literal, narrower, wider
from driftproof.verifiers.algebra.symbolic import Step, nonnegative, vanishes
from driftproof.verifiers.claim_types.bound import RightSide, bound
from driftproof.verifiers.papers import _proof_steps as elementary
from driftproof.verifiers.papers.fednest.claims import assumptions as given
from driftproof.verifiers.papers.fednest.claims._derivatives import derivatives, start

STEP_SIZE = Assumption(
    "step size", r"\beta\le1/\ell_{g,1}", relation=lambda c: c.beta <= 1 / c.ell_g1
)
SHORT = Assumption(
    "short calls", r"\tau\beta\ell_{g,1}\le1", relation=lambda c: c.tau * c.beta * c.ell_g1 <= 1
)
QUADRATIC = Assumption(
    "quadratic lower level",
    r"\nabla^2 g_i \text{ constant}",
    applies=lambda case: case.problem.constants.get("lower_hessian_smoothness") == 0,
)
QUIET = Assumption(
    "no noise, all clients",
    r"\nabla_y g_i(\cdot;\zeta) = \nabla_y g_i,\; |\mathcal S| = m",
    applies=lambda case: (
        case.problem.constants["lower_gradient_noise"] == 0 and case.algorithm.participation == 1
    ),
)
EQUAL = Assumption(
    "equal Hessians",
    r"\nabla^2_y g_i = \nabla^2_y g",
    applies=lambda case: bool(np.ptp(_hessians(case.problem), axis=0).max() <= 1e-12),
)


def _hessians(problem: BilevelProblem) -> np.ndarray:
    """Return every client's Hessian, [clients, lower_dim, lower_dim]."""
    return derivatives(problem, *start(problem))[1]


def gap(problem: BilevelProblem, x: Tensor, y: Tensor) -> Tensor:
    """Return g(x, y) − g(x, y*) = ½⟨∇_y g(x, y), y − y*(x)⟩ of a quadratic g, [replicates]."""
    every, others = (v.expand(problem.clients, *v.shape) for v in (x, y))
    oracles: Bilevel = problem.oracles(y.dtype, str(y.device))
    gradient = oracles.lower_grad(every, others, None).mean(0)
    return (gradient * (y - problem.lower_solution(x))).sum(0) / 2


def as_before(c: Letters) -> Expression:
    return c.measured("before")


def equal_hessians(c: Letters) -> Expression:
    return (1 - c.beta * c.mu_g) ** (2 * c.tau) * c.measured("before")


def contraction(c: Letters, share: Expression = 1) -> Expression:
    """Return ρ² times what was before."""
    factor = 1 - share * (1 - (1 - c.beta * c.ell_g1) ** c.tau) * c.mu_g / c.ell_g1
    return factor**2 * c.measured("before")


def steps(right: RightSide) -> list[Step]:
    """Return the derivation of the corrected form, in the norm of H."""
    if right is not contraction:
        return []
    beta, s, left = symbols("beta s h", positive=True)
    nu, tau = symbols("nu tau", positive=True, integer=True)
    summed = (1 - (1 - beta * s) ** tau) / s
    slope = diff(beta * (1 - beta * s) ** nu, s)
    c = elementary.POSITIVE
    least = c.mu_g * (1 - (1 - c.beta * c.ell_g1) ** c.tau) / c.ell_g1
    return [
        vanishes(
            summed.subs(tau, tau + 1) - summed - beta * (1 - beta * s) ** tau,
            r"P_i = \textstyle\sum_{\nu<\tau}\beta(I-\beta H_i)^\nu \text{ has the eigenvalues } "
            r"(1-(1-\beta s)^\tau)/s",
        ),
        nonnegative(
            -slope.subs(s, (1 - left) / beta),
            r"\text{each summand falls in } s \text{ while } 1-\beta s = h > 0, "
            r"\text{ so } P_i \ge (1-(1-\beta\ell)^\tau)/\ell",
        ),
        vanishes(limit(summed, s, 0) - tau * beta, r"\text{and } P_i \le \tau\beta"),
        vanishes(
            right(c) - (1 - least) ** 2 * c.measured("before"),
            r"\rho = 1-\mu_g(1-(1-\beta\ell)^\tau)/\ell, \text{ as } "
            r"\mu_g(1-(1-\beta\ell)^\tau)/\ell \le H^{1/2}PH^{1/2} \le \tau\beta\ell \le 1",
        ),
    ]


def without_condition_number(c: Letters) -> Expression:
    return (1 - c.beta * c.ell_g1) ** (2 * c.tau) * c.measured("before")


@bound(
    name="fednest/fedinn-convergence",
    source="FedNest (2022), slides, Proposed Algorithm: FedNest, Inner Optimizer",
    assumes=[given.CONVEX, STEP_SIZE, QUADRATIC, QUIET],
    statement=r"\text{the global convergence of FedInn}:\quad g(x,y^+)-g(x,y^*(x)) \le "
    r"\rho^2\big(g(x,y)-g(x,y^*(x))\big)",
    cases=[
        *grid(
            QuadraticBilevel(clients=2, dim=1, lower_dim=1, cross=0.0, hessian_heterogeneity=0.9),
            FedInn(inner_step_size=0.5, inner_steps=sweep(50, 8, 2, 1)),
            rounds=2,
        ),
        *grid(
            QuadraticBilevel(
                clients=sweep(2, 3), hessian_heterogeneity=0.4, offset_heterogeneity=0.5
            ),
            FedInn(inner_step_size=sweep(0.5, 0.02), inner_steps=sweep(1, 5, 25)),
            rounds=2,
        ),
        *grid(
            QuadraticBilevel(clients=2, smallest=0.1, offset_heterogeneity=0.5),
            FedInn(inner_step_size=0.5, inner_steps=sweep(1, 50)),
            rounds=1,
        ),
        *grid(
            QuadraticMinimax(clients=3, heterogeneity=0.5),
            FedInn(inner_step_size=0.4, inner_steps=sweep(1, 10)),
            rounds=2,
        ),
        *grid(
            QuadraticBilevel(clients=1, cross=0.0, lower_dim=1, dim=1),
            FedInn(inner_step_size=0.05, inner_steps=4),
            rounds=5,
        ),
    ],
    measured={"before": r"\big(g(x,y)-g(x,y^*)\big)"},
    readings={
        "τβℓ_{g,1} ≤ 1": literal(Stated(as_before, assumes=(SHORT,))),
        "any τ": wider(
            as_before, why="the slide does not say: for every τ and every step size up to 1/ℓ_{g,1}"
        ),
        "any τ, equal Hessians": narrower(
            Stated(equal_hessians, assumes=(EQUAL,)), why="equal Hessians are assumed nowhere"
        ),
    },
    corrected=Stated(contraction, assumes=(SHORT,)),
    correction=(
        "In the norm ‖v‖_H² = vᵀHv the error is multiplied by the symmetric I − H^½PH^½. A "
        "summand of P is a decreasing function (1 − (1 − βs)^τ)/s of H_i's eigenvalues s ≤ ℓ, so "
        "P ≥ (1 − (1 − βℓ)^τ)/ℓ and P ≤ τβ; H lies between μ_g and ℓ. So the eigenvalues of "
        "H^½PH^½ lie between (1 − (1 − βℓ)^τ)/κ_g and τβℓ ≤ 1. g − g* = ½‖y − y*‖_H²."
    ),
    false_siblings=[
        ("twice as fast", Stated(lambda c: contraction(c, 2), assumes=(SHORT,))),
        ("without κ_g", Stated(without_condition_number, assumes=(SHORT,))),
        ("a tenth faster", Stated(lambda c: contraction(c, Rational(11, 10)), assumes=(SHORT,))),
        ("without τβℓ ≤ 1", lambda c: contraction(c)),  # of which the steps say nothing
    ],
    prove=steps,
    explain=(
        "With τβℓ_g,1 ≤ 1 it contracts at an explicit rate. Where Hessians differ many local steps "
        "make it diverge, even with β ≤ 1/ℓ_g,1: the step size has to shrink with τ."
    ),
)
def gap_after_a_call(view: Steps) -> Reduction | None:
    problem = view.problem
    assert isinstance(problem, BilevelProblem)
    if view.local_step < view.local_steps:
        return None
    x = view.round_start("x")
    before = gap(problem, x, view.round_start("y"))
    return each("round", "local_step", gap(problem, x, view.mean("y")), before=before)
