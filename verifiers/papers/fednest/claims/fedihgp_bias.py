r"""The bias of FedIHGP, with an explicit constant that is attained.

**Kind.** Bound. The expectation is exact, by two routes: the recursion, term by term, and, where
there are at most 2¹⁸ of them, FedIHGP run for every outcome of N', of the cohorts S_0, …, S_{N'}
and of all noise.

**Why.** Cohorts and samples of different terms are independent and uniform, so each factor has
mean I − H/ℓ, H = (1/m) Σ ∇²_y g_i, and (N/ℓ)·(1/N)Σ_{j<N}(I − H/ℓ)^j = H^{-1}(I − (I − H/ℓ)^N).
Attained by scalars with |∇_y f| = ℓ_{f,0}.
"""

from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from sympy import Rational

from driftproof.synthetic.problems.logistic_bilevel import LogisticBilevel
from driftproof.synthetic.problems.quadratic_bilevel import QuadraticBilevel
from driftproof.toolkit.algorithms.fedihgp import FedIHGP
from driftproof.toolkit.bilevel import BilevelProblem
from driftproof.toolkit.cases import Case, grid
from driftproof.toolkit.constants import Expression, Letters
from driftproof.toolkit.draws import TooManyAtoms
from driftproof.toolkit.federation import run_exactly
from driftproof.toolkit.measure import Reduction, Steps, average
from driftproof.toolkit.parameters import sweep
from driftproof.verifiers.claim_types.compared import Comparison
from driftproof.verifiers.claim_types.comparison import comparison
from driftproof.verifiers.papers.fednest.claims import assumptions as given
from driftproof.verifiers.papers.fednest.claims._derivatives import derivatives, start
from driftproof.verifiers.papers.fednest.claims.neumann import bias_bound, value

OUTCOMES = 2**18
"""The most outcomes that are run; beyond, one route is left."""
SCALAR = QuadraticBilevel(clients=1, dim=1, lower_dim=1, upper_slope=1.0, lower_start=5.0)
DIFFERENT = QuadraticBilevel(
    clients=3,
    dim=2,
    upper_slope=1.0,
    hessian_heterogeneity=0.4,
    lower_start=3.0,
    target_heterogeneity=0.5,
)
NOISY = QuadraticBilevel(
    clients=2,
    dim=3,
    upper_slope=0.5,
    hessian_heterogeneity=0.3,
    lower_start=3.0,
    upper_noise=0.3,
    lower_curvature_noise=0.2,
)

NOISY_SCALAR = replace(SCALAR, upper_noise=0.3, lower_curvature_noise=0.2)
"""Noise with so few outcomes that FedIHGP itself is run for each of them."""


@dataclass(frozen=True)
class Recursion:
    """FedIHGP's recursion as printed, or with a change.

    Attributes:
        last: N' is uniform on {0, …, N − last}.
        scale: whether p_0 has the factor N.
        reused: whether S_0 serves for every term.
        divided: whether the sums over S_n are divided by |S_n|.
    """

    last: int = 1
    scale: bool = True
    reused: bool = False
    divided: bool = True


AS_PRINTED = Recursion()


@dataclass(frozen=True)
class Bound:
    """The stated bound (or a share of it), for a recursion."""

    recursion: Recursion = AS_PRINTED
    share: Expression = 1

    def __call__(self, c: Letters) -> Expression:
        return self.share * bias_bound(c)


def nothing(view: Steps) -> Reduction:
    """Measure nothing: the estimate is read from the state."""
    return average("round", 0 * view.round_start("p").sum(0))


def expectation(problem: BilevelProblem, method: FedIHGP, recursion: Recursion) -> np.ndarray:
    """Return E p_{N'} by the recursion, from the means over every cohort."""
    gradients, hessians, _ = derivatives(problem, *start(problem))
    ell, size = problem.constants["lower_smoothness"], method.cohort_size(problem.clients)
    factors = np.eye(len(hessians[0])) - hessians / ell
    first = (method.terms if recursion.scale else 1) / ell
    count = size if recursion.divided else 1
    terms = range(method.terms - recursion.last + 1)
    cohorts = [list(chosen) for chosen in combinations(range(problem.clients), size)]
    whole = sum(factors[cohort].sum(0) / count for cohort in cohorts) / len(cohorts)
    total = np.zeros(len(hessians[0]))
    for cohort in cohorts:
        p = first * gradients[cohort].sum(0) / size
        for _ in terms:
            total += p / len(terms) / len(cohorts)
            p = (factors[cohort].sum(0) / count if recursion.reused else whole) @ p
    return total


@comparison(
    name="fednest/fedihgp-bias",
    kind="bound",
    source="FedNest (2022), slides, FedIHGP",
    assumes=[given.LIPSCHITZ, given.CONVEX],
    statement=r"\|p(x,y)-\mathbb{E}[p_{N'}]\| \le \mathcal O\Big(\Big(\frac{\kappa_g-1}{\kappa_g}"
    r"\Big)^N\Big), \text{ here with } \frac{\ell_{f,0}}{\mu_g}",
    cases=[
        *grid(SCALAR, FedIHGP(terms=sweep(1, 3, 10)), rounds=1),
        *grid(
            DIFFERENT, FedIHGP(terms=sweep(1, 2, 4, 40), participation=sweep(1.0, 0.34)), rounds=1
        ),
        *grid(NOISY, FedIHGP(terms=sweep(2, 3), participation=sweep(1.0, 0.5)), rounds=1),
        *grid(
            LogisticBilevel(clients=3, lower_dim=2, noise="none"),
            FedIHGP(terms=sweep(1, 3, 10), participation=sweep(1.0, 0.34)),
            rounds=1,
        ),
        *grid(NOISY_SCALAR, FedIHGP(terms=sweep(3, 10)), rounds=1),
    ],
    right=Bound(),
    false_siblings=[
        ("N' over {0, …, N}", Bound(Recursion(last=0))),
        ("without the factor N", Bound(Recursion(scale=False))),
        ("one cohort for all terms", Bound(Recursion(reused=True))),
        ("without 1/|S_n|", Bound(Recursion(divided=False))),
        ("a tenth less", Bound(share=Rational(9, 10))),
    ],
    explain=(
        "With ℓ_f,0/μ_g for the O it holds, also for sampled clients with different Hessians, and "
        "scalars attain it for every N."
    ),
)
def bias(case: Case[BilevelProblem, FedIHGP], bound: Bound) -> list[Comparison]:
    problem, method = case.problem, case.algorithm
    p = problem.inverse_hessian_gradient(*start(problem))[:, 0]
    routes = {"term by term": expectation(problem, method, bound.recursion)}
    with suppress(TooManyAtoms):
        if bound.recursion == AS_PRINTED:
            outcome = run_exactly(problem, method, rounds=1, left=nothing, limit=OUTCOMES)
            routes["every outcome"] = outcome.state.p[0].numpy() @ outcome.weights
    most, comparisons = value(case, bound), []
    for route, mean in routes.items():
        error = float(np.linalg.norm(p.numpy() - mean))
        comparisons.append(Comparison(f"{route}, N = {method.terms}", error, error, most))
    return comparisons
