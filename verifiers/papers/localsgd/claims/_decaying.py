r"""What Theorems 1 to 3 of Li et al. (2020) share: assumptions, letters, measure, and classes.

The bound is κ/(γ + T − 1)·(2(B + C)/μ + (μγ/2)E‖w_1 − w*‖²), C = 0 in Theorem 1. Steps are numbered
from 1, as Assumption 4 and w_1 have it: w_T comes after T − 1 = SE of them, S rounds. Weights are
equal, p_k = 1/N, and a whole class has no noise: σ_k = 0.
"""

from collections.abc import Sequence
from typing import Any

import sympy

from driftproof.synthetic.classes import (
    bounded_steps,
    minima_apart,
    over,
    smooth_strongly_convex,
    start_within,
)
from driftproof.synthetic.classes.function_class import Conditions, FunctionClassProblem
from driftproof.toolkit.algorithms.decaying_fedavg import DecayingFedAvg
from driftproof.toolkit.cases import Assumption, Case
from driftproof.toolkit.constants import Expression, Letters
from driftproof.toolkit.measure import Reduction, Steps, each

LETTERS = {
    "R": "initial_distance",
    "L": "field_smoothness",
    "Gamma": "minima_gap",
    "G": "field_gradient_bound",
    "sigma": "field_gradient_noise",
}
ASSUMED = [
    Assumption("Assumption 1", r"F_k \text{ are } L\text{-smooth}", ("field_smoothness",)),
    Assumption("Assumption 2", r"F_k \text{ are } \mu\text{-strongly convex}",
               ("strong_convexity",)),
    Assumption("Assumption 3", r"\mathbb{E}\|\nabla F_k(w_t^k,\xi_t^k)-\nabla F_k(w_t^k)\|^2"
               r"\le\sigma_k^2", ("field_gradient_noise",)),
    Assumption("Assumption 4", r"\mathbb{E}\|\nabla F_k(w_t^k,\xi_t^k)\|^2\le G^2,\; t=1..T-1",
               ("field_gradient_bound",)),
    Assumption("step sizes", r"\eta_t=\tfrac{2}{\mu(\gamma+t)}",
               relation=lambda c: sympy.Eq(c.beta * c.mu, 2)),
    Assumption("offset", r"\gamma=\max\{8\kappa,E\},\; \kappa=L/\mu",
               relation=lambda c: sympy.Eq(c.gamma, sympy.Max(8 * c.L / c.mu, c.E))),
]  # fmt: skip
EVERYONE = Assumption(
    "full device participation", "", applies=lambda case: not case.algorithm.cohort
)
SCHEME_I = Assumption(
    "Assumption 6",
    r"\text{Scheme I: } \mathcal S_t \text{ drawn with replacement}",
    applies=lambda case: case.algorithm.replacement == "with",
)
SCHEME_II = Assumption(
    "Assumption 7",
    r"\text{Scheme II: } \mathcal S_t \text{ drawn without}",
    applies=lambda case: case.algorithm.replacement == "without",
)


def error(c: Letters) -> Expression:
    """Return B = Σp_k²σ_k² + 6LΓ + 8(E − 1)²G²."""
    return c.sigma**2 / c.N + 6 * c.L * c.Gamma + 8 * (c.E - 1) ** 2 * c.G**2


def bounded(c: Letters, errors: Expression, start: Expression) -> Expression:
    """Return the bound with these errors B + C, and with ‖w_1 − w*‖² = start."""
    kappa = c.L / c.mu
    return kappa / (c.gamma + c.S * c.E) * (2 * errors / c.mu + c.mu * c.gamma / 2 * start)


def decaying(
    *,
    mu: float,
    local_steps: int,
    rounds: int | list[int] = 1,
    Gamma: float = 0.01,
    G: float = 1.0,
    R: float = 1.0,
    clients: int = 2,
    **sampling: Any,
) -> Sequence[Case[FunctionClassProblem, Any]]:
    """Return cases over 1-smooth, μ-strongly convex functions, with the step sizes in print."""
    method = DecayingFedAvg(
        local_steps=local_steps,
        step_numerator=2 / mu,
        step_offset=max(8 / mu, local_steps),
        **sampling,
    )
    conditions: Conditions = [
        smooth_strongly_convex(L=1, mu=mu),
        minima_apart(Gamma),
        bounded_steps(G),
        start_within(R),
    ]
    return over(conditions, method, rounds=rounds, clients=clients)


def gap_at_end(view: Steps) -> Reduction | None:
    """Measure F(w̄_T) − F*."""
    return each("round", "local_step", view.gap(view.mean("w"))) if view.last else None
