r"""The N-term Neumann approximation of p (slide "FedIHGP").

**Kind.** Bound: "≈" is read as that slide's own estimate of the error, (ℓ_{f,0}/μ_g)((κ_g − 1)/
κ_g)^N with the constant of fednest/fedihgp-bias, for the expectation over N' ~ U{0, …, N − 1} and
independent ζ_n.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import sympy

from driftproof.synthetic.problems.quadratic_bilevel import QuadraticBilevel
from driftproof.toolkit.algorithms.fedihgp import FedIHGP
from driftproof.toolkit.bilevel import BilevelProblem
from driftproof.toolkit.cases import Case, grid, roles_of
from driftproof.toolkit.constants import Expression, Letters, evaluate
from driftproof.toolkit.parameters import sweep
from driftproof.toolkit.readings import Erratum, intended, literal
from driftproof.verifiers.algebra.symbolic import Step, vanishes
from driftproof.verifiers.claim_types.bound import RightSide
from driftproof.verifiers.claim_types.compared import Comparison
from driftproof.verifiers.claim_types.comparison import comparison
from driftproof.verifiers.papers.fednest.claims import assumptions as given
from driftproof.verifiers.papers.fednest.claims._derivatives import derivatives, start

Weights: TypeAlias = Callable[[Expression], tuple[Expression, Expression]]
"""From m to the weights of the sum around the bracket and of the one inside the product."""
DIFFERENT = QuadraticBilevel(
    clients=sweep(1, 2, 3, 8),
    dim=2,
    upper_slope=1.0,
    hessian_heterogeneity=0.3,
    target_heterogeneity=0.5,
    lower_start=2.0,
)
SCALAR = QuadraticBilevel(clients=1, dim=1, lower_dim=1, upper_slope=1.0, lower_start=5.0)


def bias_bound(c: Letters) -> Expression:
    """Return (ℓ_{f,0}/μ_g)((κ_g − 1)/κ_g)^N, κ_g = ℓ_{g,1}/μ_g."""
    return c.ell_f0 / c.mu_g * (1 - c.mu_g / c.ell_g1) ** c.N


@dataclass(frozen=True)
class Sums:
    """The bound, for a series whose sums have weights."""

    weights: Weights

    def __call__(self, c: Letters) -> Expression:
        return bias_bound(c)


MEANS = Sums(lambda m: (1 / m, 1 / m))


def value(case: Case[BilevelProblem, FedIHGP], right: RightSide) -> float:
    """Return the number of a right side on a case."""
    notation = case.algorithm.notation
    return evaluate(right(Letters(notation)), notation, roles_of(case))


def steps(sums: Sums) -> list[Step]:
    """Scalars h_i = h, ∇_y f_i = 1: the sum over N' of the printed products, for any m."""
    h, more = sympy.symbols("h delta", positive=True)  # ℓ_{g,1} = h + δ
    m = sympy.Symbol("m", positive=True, integer=True)
    ell, terms = h + more, 3
    around, inside = sums.weights(m)
    factor = inside * m * (1 - h / ell)
    series = sum(around * m / ell * factor**j for j in range(terms))
    stated = (1 - (1 - h / ell) ** terms) / h
    says = r"\tfrac1\ell\sum_{j<N}(1-\tfrac h\ell)^j = \tfrac1h\big(1-(1-\tfrac h\ell)^N\big)"
    return [vanishes(series - stated, says + r",\; N = 3,\ m \text{ clients}")]


@comparison(
    name="fednest/neumann",
    kind="bound",
    source="FedNest (2022), slides, FedIHGP",
    assumes=[given.LIPSCHITZ, given.CONVEX],
    statement=r"p := \sum_i\Big[\sum_i\nabla^2_y g_i\Big]^{-1}\nabla_y f_i \approx \sum_i\Big["
    r"\frac{N}{\ell_{g,1}}\prod_{n=1}^{N'}\sum_i\Big(I-\frac1{\ell_{g,1}}\nabla^2_y "
    r"g_i(\zeta_n)\Big)\Big]\nabla_y f_i",
    cases=[
        *grid(DIFFERENT, FedIHGP(terms=sweep(1, 2, 5, 20)), rounds=1),
        *grid(SCALAR, FedIHGP(terms=sweep(1, 3, 10)), rounds=1),
    ],
    readings={
        "sums, as printed": literal(Sums(lambda m: (1, 1))),
        "means, as in FedIHGP": intended(
            MEANS,
            quote="FedIHGP on the same slide: p_0 = (N/ℓ_{g,1})|S_n|^{-1} Σ p_{i,0} and p_n = "
            "|S_n|^{-1} Σ p_{i,n}, means over the clients",
        ),
    },
    erratum=Erratum(
        "misprint",
        changes="Write both sums as means. Whoever programs the display as it stands gets a series "
        "that does not approximate p; FedIHGP, the algorithm, is right.",
        depends="constant",
    ),
    corrected=MEANS,
    correction=(
        "Write both sums as means. E over independent ζ_n replaces each factor by its mean I − "
        "H/ℓ, H = (1/m) Σ ∇²_y g_i, and E over N' sums: (1/ℓ) Σ_{j<N} (I − H/ℓ)^j = H^{-1}(I − (I "
        "− H/ℓ)^N), 0 ≤ I − H/ℓ ≤ (1 − μ_g/ℓ)I. What is left is H^{-1}(I − H/ℓ)^N (1/m) Σ ∇_y f_i, "
        "of norm at most (1 − μ_g/ℓ)^N ℓ_{f,0}/μ_g."
    ),
    false_siblings=[
        ("1/m inside the product only", Sums(lambda m: (1, 1 / m))),
        ("1/m around the bracket only", Sums(lambda m: (1 / m, 1))),
    ],
    prove=steps,
    explain=(
        "The printed sums lack 1/m: with two clients or more the series does not approximate p, "
        "and diverges when m(1 − μ_g/ℓ_g,1) > 1. With means, as FedIHGP on the same slide takes "
        "them, it holds."
    ),
)
def error_of_the_series(case: Case[QuadraticBilevel, FedIHGP], sums: Sums) -> list[Comparison]:
    problem, terms = case.problem, case.algorithm.terms
    around, inside = sums.weights(problem.clients)
    x, y = start(problem)
    gradients, hessians, _ = derivatives(problem, x, y)
    ell = problem.constants["lower_smoothness"]
    factor = inside * (np.eye(len(y)) - hessians / ell).sum(0)
    term = around * gradients.sum(0) / ell
    total = np.zeros(len(y))
    for _ in range(terms):  # N·E over N' of the products is their sum
        total, term = total + term, factor @ term
    error = float(np.linalg.norm(problem.inverse_hessian_gradient(x, y)[:, 0].numpy() - total))
    bound = value(case, sums)
    return [Comparison(f"N = {terms}, m = {problem.clients}", error, error, bound, terms)]
