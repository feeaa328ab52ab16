"""The mean direction of a cohort.

**Kind.** Identity, over every cohort C_s ⊂ [n] of m clients, given w̄_s. Algorithm 1 does not say
how C_s is sampled; the statement holds for any sampling in which each client is equally likely, and
C_s is taken as uniform here.
"""

from collections.abc import Callable
from itertools import combinations

import numpy as np
import sympy
import torch

from driftproof.synthetic.problems.bounded_composition import BoundedComposition
from driftproof.toolkit.algorithms.comfedl import ComFedL
from driftproof.toolkit.cases import Case, grid
from driftproof.toolkit.constants import Expression
from driftproof.toolkit.parameters import sweep
from driftproof.verifiers.algebra.symbolic import Step, vanishes
from driftproof.verifiers.claim_types.compared import Comparison, components
from driftproof.verifiers.claim_types.comparison import comparison

Factor = Callable[[Expression, Expression], Expression]
"""From m and n to what the sum over the cohort is multiplied by."""

DIFFERENT = BoundedComposition(
    clients=5,
    dim=3,
    inner_dim=2,
    inner_curvature=0.5,
    heterogeneity=1.0,
    inner_heterogeneity=0.5,
    opposition_slope=0.5,
)


def steps(factor: Factor) -> list[Step]:
    m, n = sympy.symbols("m n", positive=True, integer=True)
    # a client is in C(n−1, m−1) of the C(n, m) cohorts
    chance = sympy.binomial(n - 1, m - 1) / sympy.binomial(n, m)
    share = sympy.simplify(chance.rewrite(sympy.gamma)).gammasimp()
    says = r"\mathbb{P}(i\in\mathcal{C}_s)\cdot\tfrac1m = \tfrac1n"
    return [vanishes(share * factor(m, n) - 1 / n, says)]


@comparison(
    name="comfedl/mean-direction",
    source="ComFedL, arXiv v1, (27); v3, (22)",
    display=True,
    statement=r"\mathbb{E}\,U_{s,0} = \nabla F(\bar w_s),\quad "
    r"U_{s,0} = \frac1m\sum_{i\in\mathcal{C}_s}\nabla F^i(\bar w_s)",
    cases=grid(DIFFERENT, ComFedL(participation=sweep(0.4, 0.2, 1.0)), rounds=1),
    edition="ComFedL, arXiv v1 (27); v3 (22)",
    right=lambda m, n: 1 / m,
    false_siblings=[
        ("divided by n instead of m", lambda m, n: 1 / n),
        ("the sum, undivided", lambda m, n: m / m),
    ],
    prove=steps,
)
def mean_direction(case: Case[BoundedComposition, ComFedL], factor: Factor) -> list[Comparison]:
    problem = case.problem
    n, m = problem.clients, case.algorithm.cohort_size(problem.clients)
    point = torch.linspace(0.3, 1.0, problem.dim, dtype=torch.float64)[:, None]
    each = problem.client_gradients(point)[..., 0].numpy()
    cohorts = [each[list(chosen)].sum(0) for chosen in combinations(range(n), m)]
    mean = np.mean(cohorts, 0) * float(factor(sympy.Integer(m), sympy.Integer(n)))
    whole = problem.gradient(point)[:, 0].numpy()
    return components("component {}", mean, whole)
