r"""Rounds of communication (table of LFedNest), counted on the wire.

**Kind.** Complexity. The rounds of K iterations, counted where the messages are sent, one process a
client, against K times the stated number; T inner iterations, N terms of the Neumann series.
"""

from collections.abc import Callable
from typing import TypeAlias

from driftproof.synthetic.problems.quadratic_bilevel import QuadraticBilevel
from driftproof.toolkit.algorithms._nested import Nested
from driftproof.toolkit.algorithms.fednest import FedNest
from driftproof.toolkit.algorithms.fednest_sgd import FedNestSGD
from driftproof.toolkit.algorithms.lfednest import LFedNest
from driftproof.toolkit.cases import Assumption, Case, grid
from driftproof.toolkit.parameters import sweep
from driftproof.toolkit.readings import Stated, literal, wider
from driftproof.verifiers.claim_types.compared import Comparison
from driftproof.verifiers.claim_types.comparison import comparison
from driftproof.verifiers.papers._wire import counted
from driftproof.verifiers.papers.fednest.claims._drawn import lengths

PROBLEM = QuadraticBilevel(clients=2, hessian_heterogeneity=0.3, upper_noise=0.1)
SAMPLED = Assumption(
    "FedIHGP as printed",
    r"N' \sim U\{0,\dots,N-1\}",
    applies=lambda case: (
        case.algorithm.series == "sampled" and not case.algorithm.local_hypergradient
    ),
)
SUMMED = Assumption(
    "the partial sum",
    r"\text{N matrix products}",
    applies=lambda case: (
        case.algorithm.series == "summed" and not case.algorithm.local_hypergradient
    ),
)
LIGHT = Assumption(
    "LFedNest", r"\text{local series}", applies=lambda case: case.algorithm.local_hypergradient
)


NestedCase: TypeAlias = Case[QuadraticBilevel, Nested]
StatedRounds: TypeAlias = Callable[[NestedCase, float], float]
"""From a case and what was counted to the stated rounds of the run."""


def table(method: Nested) -> int:
    """Return the stated rounds of one iteration."""
    if method.local_hypergradient:
        return method.inner_calls + 1
    return (2 if method.reduces_inner else 1) * method.inner_calls + method.terms + 3


def exactly(case: NestedCase, count: float) -> float:
    """Return the stated rounds of the run."""
    return case.rounds * table(case.algorithm)


def at_most(case: NestedCase, count: float) -> float:
    """Return what was counted unless it is more than stated."""
    return min(count, exactly(case, count))


def of_the_drawn(case: NestedCase, count: float) -> float:
    """Return the rounds for the N' that each iteration drew."""
    method = case.algorithm
    if method.local_hypergradient or method.series == "summed":
        return exactly(case, count)
    drawn = lengths(case, method.local_steps, method.inner_calls * method.inner_steps)
    return sum(table(method) - method.terms + n for n in drawn)


def as_fednest(case: NestedCase, count: float) -> float:
    """Return FedNest's stated rounds, 2T + N + 3, whatever the method."""
    method = case.algorithm
    return case.rounds * (2 * method.inner_calls + method.terms + 3)


def one_fewer(case: NestedCase, count: float) -> float:
    return exactly(case, count) - case.rounds


def one_fewer_of_the_drawn(case: NestedCase, count: float) -> float:
    return of_the_drawn(case, count) - case.rounds


def one_inner_fewer_of_the_drawn(case: NestedCase, count: float) -> float:
    return of_the_drawn(case, count) - case.rounds * case.algorithm.inner_calls


@comparison(
    name="fednest/communication",
    kind="complexity",
    source="FedNest (2022), slides, table of LFedNest",
    statement=r"\text{FedNest: } 2T+N+3,\quad \text{FedNest}_{SGD}\text{: } T+N+3,\quad "
    r"\text{LFedNest: } T+1",
    cases=[
        *grid(
            PROBLEM, FedNest(terms=4, inner_calls=2, series=sweep("sampled", "summed")), rounds=5
        ),
        *grid(PROBLEM, FedNestSGD(terms=3, inner_steps=2), rounds=5),
        *grid(PROBLEM, LFedNest(terms=3, inner_calls=3, outer_steps=2), rounds=4),
    ],
    readings={
        "N matrix products": literal(
            Stated(exactly, assumes=(SUMMED,)),
            quote='the table has "N: # terms of Neumann series"',
            part="FedNest and FedNest_SGD",
        ),
        "N' random, at most": literal(
            Stated(at_most, assumes=(SAMPLED,)),
            quote='FedIHGP has "Select N′ ∈ {0, …, N − 1}": N is the most that is sent, so that '
            "the table states a budget",
            part="FedNest and FedNest_SGD",
        ),
        "N' random, exactly": wider(
            Stated(exactly, assumes=(SAMPLED,)), why="the slide does not say that no round is saved"
        ),
        "LFedNest": literal(Stated(exactly, assumes=(LIGHT,)), part="LFedNest"),
    },
    corrected=of_the_drawn,
    correction=(
        "2T + N' + 3 rounds, T + N' + 3 with plain steps on y: N' + 1 averages of FedIHGP, two of "
        "FedOut. On average N' = (N − 1)/2, at most N − 1."
    ),
    false_siblings=[
        ("one round fewer", Stated(one_fewer)),
        ("one round fewer for the N' that is drawn", Stated(one_fewer_of_the_drawn)),
        ("one inner round fewer for the N' that is drawn", Stated(one_inner_fewer_of_the_drawn)),
        ("FedNest's for LFedNest", Stated(as_fednest, assumes=(LIGHT,))),
    ],
    explain=(
        "LFedNest's count is exact. The other two are upper bounds for FedIHGP as printed, with N' "
        "random and below N, and exact where N matrix products are always taken. On average N' "
        "saves (N + 1)/2 rounds an iteration."
    ),
)
def rounds(case: NestedCase, stated: StatedRounds) -> list[Comparison]:
    count = float(counted(case).rounds)
    what = f"rounds of {case.rounds} iterations"
    return [Comparison(what, count, count, float(stated(case, count)))]
