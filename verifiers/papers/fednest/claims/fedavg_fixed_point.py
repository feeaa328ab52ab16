r"""FedAvg on heterogeneous clients stops elsewhere (slide before FedIHGP).

**Kind.** Existence, on quadratic g_i with full participation, in closed form: a client's τ steps
take y to y_i* + (I − βH_i)^τ(y − y_i*), so FedAvg's fixed point is

    ŷ = [Σ_i S_i]^{-1} Σ_i S_i y_i*,  S_i = I − (I − βH_i)^τ,  y_i* = H_i^{-1}(C_i x + e_i),

while y* has H_i for S_i. They agree for τ = 1, for equal H_i (S_i = S commutes with H) and for
equal y_i*. As β → 0 for fixed τ, S_i/β → τH_i and ŷ → y*; as τ → ∞, ŷ → (1/m) Σ y_i*.
"""

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import sympy
import torch

from driftproof.synthetic.problems.quadratic_bilevel import QuadraticBilevel
from driftproof.toolkit.algorithms.fedinn import FedInn
from driftproof.toolkit.cases import Case, grid
from driftproof.toolkit.constants import Expression
from driftproof.toolkit.engines.enumerated import NoiselessContext
from driftproof.toolkit.federation import run
from driftproof.toolkit.parameters import sweep
from driftproof.verifiers.algebra.symbolic import Step, vanishes
from driftproof.verifiers.claim_types.compared import Comparison, components
from driftproof.verifiers.claim_types.comparison import comparison
from driftproof.verifiers.papers.fednest.claims import assumptions as given

DIFFERENT = QuadraticBilevel(
    clients=2, dim=2, lower_dim=2, smallest=0.8, hessian_heterogeneity=0.5, offset_heterogeneity=1.0
)


FixedPoint: TypeAlias = Callable[[QuadraticBilevel, FedInn], np.ndarray]


def minimisers(problem: QuadraticBilevel) -> np.ndarray:
    """Return every client's own y_i*, [clients, lower_dim], at x⁰."""
    parts, x = problem.parts, problem.start()[: problem.dim]
    solved: np.ndarray = np.linalg.solve(parts["H"], (parts["C"] @ x + parts["e"])[..., None])
    return solved[..., 0]


def closed_form(problem: QuadraticBilevel, method: FedInn) -> np.ndarray:
    """Return ŷ."""
    own = minimisers(problem)
    unit = np.eye(problem.lower_dim)
    shares = np.stack(
        [
            unit
            - np.linalg.matrix_power(unit - method.inner_step_size * hessian, method.inner_steps)
            for hessian in problem.parts["H"]
        ]
    )
    point: np.ndarray = np.linalg.solve(shares.sum(0), np.einsum("ijk,ik->j", shares, own))
    return point


def unbiased(problem: QuadraticBilevel, method: FedInn) -> np.ndarray:
    """Return y*(x⁰)."""
    x = torch.from_numpy(problem.start()[: problem.dim])[:, None]
    y: np.ndarray = problem.lower_solution(x)[:, 0].numpy()
    return y


def mean_of_minimisers(problem: QuadraticBilevel, method: FedInn) -> np.ndarray:
    mean: np.ndarray = minimisers(problem).mean(0)
    return mean


def steps(stated: FixedPoint) -> list[Step]:
    """Scalars, h_1 = 1, h_2 = 2, y_1* = 1, y_2* = 0."""
    beta = sympy.symbols("beta", positive=True)
    one, two = 1 - (1 - beta) ** 2, 1 - (1 - 2 * beta) ** 2
    best = sympy.Rational(1, 3)
    known: dict[FixedPoint, Expression] = {
        closed_form: one / (one + two),
        unbiased: best,
        mean_of_minimisers: sympy.Rational(1, 2),
    }
    point = known[stated]
    after = ((1 - one) * point + one + (1 - two) * point) / 2
    return [
        vanishes(after - point, r"\tau = 2:\; \hat y \text{ is a fixed point}"),
        vanishes(
            point - best - 2 * beta / (3 * (6 - 5 * beta)),
            r"\hat y - y^* = \tfrac{S_1}{S_1+S_2}-\tfrac13 = \tfrac{2\beta}{3(6-5\beta)} > 0"
            r" \text{ for } 0<\beta<\tfrac12",
        ),
        vanishes(
            sympy.limit(point, beta, 0) - best, r"\beta\to0 \text{ at fixed } \tau:\; \hat y\to y^*"
        ),
    ]


@comparison(
    name="fednest/fedavg-fixed-point",
    kind="existence",
    source="FedNest (2022), slides, the one before FedIHGP",
    assumes=[given.CONVEX],
    statement=r"\text{FedAvg can lead to convergence to a point different from } y^*(x)",
    cases=[
        *grid(
            DIFFERENT, FedInn(variance_reduced=False, inner_step_size=0.4, inner_steps=5), rounds=60
        ),
        *grid(
            DIFFERENT,
            FedInn(
                variance_reduced=False, inner_step_size=sweep(0.1, 0.7), inner_steps=sweep(1, 2, 20)
            ),
            rounds=400,
        ),
        *grid(
            QuadraticBilevel(
                clients=3, dim=2, lower_dim=3, hessian_heterogeneity=0.4, cross_heterogeneity=0.5
            ),
            FedInn(variance_reduced=False, inner_step_size=0.3, inner_steps=7),
            rounds=400,
        ),
    ],
    right=closed_form,
    false_siblings=[
        ("no bias", unbiased),
        ("the mean of the clients' minimisers", mean_of_minimisers),
    ],
    prove=steps,
    explain=(
        "It stops at a closed-form point, which is y* only for one local step, for equal Hessians "
        "or for equal minimisers."
    ),
)
def fixed_point(case: Case[QuadraticBilevel, FedInn], stated: FixedPoint) -> list[Comparison]:
    ctx = NoiselessContext(case.problem.clients, dtype=torch.float64, device="cpu")
    ended = run(case.problem, case.algorithm, ctx, rounds=case.rounds).state
    end = ended.y[0, :, 0].numpy()
    return components("component {} of the limit", end, stated(case.problem, case.algorithm))
