r"""FedIHGP takes matrix-vector products and sends vectors, as counted (slide "FedIHGP").

**Statement.** "FedIHGP avoids explicit Hessian: matrix-vector products; vector communications."

**Kind.** Complexity. Counted where the messages are sent, one process a client: N' + 1 vectors of
d_2 reals a client for one estimate, and in one iteration of FedNest 2T vectors of d_2 for FedInn
and two of d_1 for FedOut beside them. No message has d_2² reals. Counted where the oracles are
asked: N' products of ∇²_yy g_i with a vector, one of ∇²_xy g_i, and no other second derivative.
"""

from collections import Counter
from dataclasses import dataclass
from typing import Any

from synthetic.problems.quadratic_bilevel import QuadraticBilevel
from toolkit.algorithms.fedihgp import FedIHGP
from toolkit.algorithms.fednest import FedNest
from toolkit.cases import Case, grid
from toolkit.federation import run, sampled_context
from toolkit.parameters import sweep
from verifiers.claim_types.comparison import comparison
from verifiers.claims._wire import counted
from verifiers.claims.fednest._drawn import lengths
from verifiers.compared import Comparison

REAL = 8
PROBLEM = QuadraticBilevel(clients=2, dim=3, lower_dim=5, hessian_heterogeneity=0.3)
PRODUCTS = ("lower_hessian_product", "lower_cross_product")


@dataclass(frozen=True)
class Cost:
    """What one estimate of p costs a client.

    Attributes:
        reals: sent for one term, from d_2.
        products: with ∇²_yy g_i, from N' and d_2.
    """

    reals: object
    products: object


class Watched:
    """Oracles that count how often they are asked, by name and by how many vectors."""

    def __init__(self, problem, asked):
        self._problem, self._asked = problem, asked

    def __getattr__(self, name):
        return getattr(self._problem, name)

    def oracles(self, *where):
        return Counting(self._problem.oracles(*where), self._asked)


class Counting:
    """One set of oracles, counted."""

    def __init__(self, oracles, asked):
        self._oracles, self._asked = oracles, asked

    def __getattr__(self, name):
        held = getattr(self._oracles, name)
        if name not in PRODUCTS:
            return held

        def ask(x, y, v, noise):
            self._asked[name] += v.shape[-1]  # one column a replicate, of which there is one
            return held(x, y, v, noise)

        return ask


def asked(case):
    """Return how many products each client takes in the run that ``counted`` counts."""
    made, ctx = Counter(), sampled_context(case.problem, ("counted",), replicates=1)
    watched = Watched(case.problem, made)
    run(watched, case.algorithm, ctx, rounds=case.rounds, kernels=False)
    return made


@comparison(
    name="fednest/vector-communication",
    kind="complexity",
    source="002, FedIHGP",
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
def vectors(case: Case, right: Any) -> list[Comparison]:
    problem, method = case.problem, case.algorithm
    whole = isinstance(method, FedNest)
    inner = method.inner_calls * method.inner_steps if whole else 0
    drawn = lengths(case, method.local_steps, inner)
    stated = sum(right.reals(problem.lower_dim) * (n + 1) for n in drawn)
    if whole:  # q and y of each FedInn, h and x of FedOut
        shared = 2 * method.inner_calls * problem.lower_dim + 2 * problem.dim
        stated += case.rounds * shared
    sent, made = counted(case), asked(case)
    reals = sent.bytes_up / REAL / problem.clients
    hessian = float(made["lower_hessian_product"])
    products = float(sum(right.products(n, problem.lower_dim) for n in drawn))
    cross = float(made["lower_cross_product"])
    return [
        Comparison("reals that one client sends", reals, reals, float(stated)),
        Comparison("products with ∇²_yy g_i", hessian, hessian, products),
        Comparison("products with ∇²_xy g_i", cross, cross, float(case.rounds * whole)),
    ]
