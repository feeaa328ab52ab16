r"""FedIHGP takes matrix-vector products and sends vectors, as counted (slide "FedIHGP").

**Kind.** Complexity. Counted where the messages are sent, one process a client: N' + 1 vectors of
d_2 reals a client for one estimate, and in one iteration of FedNest 2T vectors of d_2 for FedInn
and two of d_1 for FedOut beside them. No message has d_2² reals. Counted where the oracles are
asked: N' products of ∇²_yy g_i with a vector, one of ∇²_xy g_i, and no other second derivative.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from driftproof.synthetic.problems.quadratic_bilevel import (
    QuadraticBilevel,
    QuadraticBilevelOracles,
)
from driftproof.toolkit.algorithms._nested import Nested
from driftproof.toolkit.algorithms.fedihgp import FedIHGP
from driftproof.toolkit.algorithms.fednest import FedNest
from driftproof.toolkit.cases import Case, grid
from driftproof.toolkit.federation import run, sampled_context
from driftproof.toolkit.parameters import sweep
from driftproof.verifiers.claim_types.compared import Comparison
from driftproof.verifiers.claim_types.comparison import comparison
from driftproof.verifiers.papers._wire import counted
from driftproof.verifiers.papers.fednest.claims._drawn import lengths

REAL = 8
PROBLEM = QuadraticBilevel(clients=2, dim=3, lower_dim=5, hessian_heterogeneity=0.3)


@dataclass(frozen=True)
class Cost:
    """What one estimate of p costs a client.

    Attributes:
        reals: sent for one term, from d_2.
        products: with ∇²_yy g_i, from N' and d_2.
    """

    reals: Callable[[int], int]
    products: Callable[[int, int], int]


class Watched(QuadraticBilevel):
    """The family with oracles that count how many products they are asked for, by name."""

    @cached_property
    def asked(self) -> Counter[str]:
        return Counter()

    def oracles(
        self, dtype: torch.dtype, device: str = "cpu", clients: range | None = None
    ) -> QuadraticBilevelOracles:
        return Counting(self, dtype, device, clients or range(self.clients))


class Counting(QuadraticBilevelOracles):
    """Oracles of the watched problem; a product has a column a replicate, of which there is one."""

    def __init__(self, of: Watched, dtype: torch.dtype, device: str, clients: range) -> None:
        super().__init__(of, dtype, device, clients)
        self._asked = of.asked

    def lower_hessian_product(self, x: Tensor, y: Tensor, v: Tensor, zeta: Tensor | None) -> Tensor:
        self._asked["lower_hessian_product"] += v.shape[-1]
        return super().lower_hessian_product(x, y, v, zeta)

    def lower_cross_product(self, x: Tensor, y: Tensor, v: Tensor, zeta: Tensor | None) -> Tensor:
        self._asked["lower_cross_product"] += v.shape[-1]
        return super().lower_cross_product(x, y, v, zeta)


def products_asked(case: Case[QuadraticBilevel, Nested]) -> Counter[str]:
    """Return how many products each client takes in the run that ``counted`` counts."""
    problem = Watched(**case.problem.values())
    ctx = sampled_context(problem, ("counted",), replicates=1)
    run(problem, case.algorithm, ctx, rounds=case.rounds, kernels=False)
    return problem.asked


@comparison(
    name="fednest/vector-communication",
    kind="complexity",
    source="FedNest (2022), slides, FedIHGP",
    statement=r"\text{FedIHGP avoids explicit Hessian: matrix-vector products, vector "
    r"communications}",
    cases=[
        *grid(PROBLEM, FedIHGP(terms=sweep(1, 6)), rounds=5),
        *grid(PROBLEM, FedNest(terms=6, inner_calls=2, inner_steps=2), rounds=4),
    ],
    right=Cost(lambda d: d, lambda n, d: n),
    false_siblings=[
        ("a matrix a term", Cost(lambda d: d * d, lambda n, d: n)),
        ("the whole Hessian, column by column", Cost(lambda d: d, lambda n, d: n * d)),
        ("one product more", Cost(lambda d: d, lambda n, d: n + 1)),
    ],
    explain="As stated: vectors alone are sent, and no Hessian is formed.",
)
def vectors(case: Case[QuadraticBilevel, Nested], cost: Cost) -> list[Comparison]:
    problem, method = case.problem, case.algorithm
    whole = isinstance(method, FedNest)
    inner = method.inner_calls * method.inner_steps if whole else 0
    drawn = lengths(case, method.local_steps, inner)
    stated = sum(cost.reals(problem.lower_dim) * (n + 1) for n in drawn)
    if whole:  # q and y of each FedInn, h and x of FedOut
        shared = 2 * method.inner_calls * problem.lower_dim + 2 * problem.dim
        stated += case.rounds * shared
    asked = products_asked(case)
    reals = counted(case).bytes_up / REAL / problem.clients
    hessian = float(asked["lower_hessian_product"])
    products = float(sum(cost.products(n, problem.lower_dim) for n in drawn))
    cross = float(asked["lower_cross_product"])
    return [
        Comparison("reals that one client sends", reals, reals, float(stated)),
        Comparison("products with ∇²_yy g_i", hessian, hessian, products),
        Comparison("products with ∇²_xy g_i", cross, cross, float(case.rounds * whole)),
    ]
