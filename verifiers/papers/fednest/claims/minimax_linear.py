r"""Linear convergence of FedNest on the minimax problem (slide "Minimax Experiment").

**Kind.** Existence, on f_i = −[½‖y‖² − b_iᵀy + yᵀA_i x] + (λ/2)‖x‖²: z_K = (x^K, y^K) → z*, the
saddle, with E‖z_K − z*‖² a sum of geometric terms. One round is an affine map (``_minimax``), so
errors and floors are exact numbers; the federation is run too, for every cohort.

**Assumed**: no series (N = 0), as the experiment's public code has it: ∇_y f = 0 at y*(x) = argmax
f; and step sizes for which the moments do not grow. The slides give neither. With all clients and
αλτ, βτ large it diverges, as every alternation of long calls does.
"""

from collections.abc import Callable
from contextlib import suppress
from typing import TypeAlias

import numpy as np

from driftproof.synthetic.problems.quadratic_minimax import QuadraticMinimax
from driftproof.toolkit.algorithms._nested import Nested
from driftproof.toolkit.algorithms.fednest import FedNest
from driftproof.toolkit.algorithms.fednest_sgd import FedNestSGD
from driftproof.toolkit.algorithms.lfednest import LFedNest
from driftproof.toolkit.cases import Assumption, Case, grid
from driftproof.toolkit.draws import TooManyAtoms
from driftproof.toolkit.federation import run_exactly
from driftproof.toolkit.measure import Reduction, Steps, average
from driftproof.toolkit.parameters import sweep
from driftproof.toolkit.readings import Stated, literal, wider
from driftproof.verifiers.claim_types.compared import Comparison
from driftproof.verifiers.claim_types.comparison import comparison
from driftproof.verifiers.papers.fednest.claims import _minimax as exact

ALL = Assumption(
    "full participation",
    r"\mathcal S = \{1,\dots,m\}",
    applies=lambda case: case.algorithm.cohort_size(case.problem.clients) == case.problem.clients,
)
SOME = Assumption(
    "sampled clients",
    r"|\mathcal S| < m",
    applies=lambda case: case.algorithm.cohort_size(case.problem.clients) < case.problem.clients,
)
STABLE = Assumption(
    "step sizes",
    r"\text{the second moments of a round do not grow}",
    applies=lambda case: exact.converges(case),
)
DIRECT = Assumption(
    "N = 0",
    r"\text{FedOut without series: } \nabla_x f_i(x,y^+) \text{ alone}",
    applies=lambda case: case.algorithm.terms == 0,
)
OUTCOMES = 20_000
Limit: TypeAlias = Callable[[QuadraticMinimax, Nested], float]
"""The stated limit of E‖z − z*‖²."""
SAMPLED_SCALARS = QuadraticMinimax(clients=sweep(2, 4), dim=1, heterogeneity=0.5)
PAIR = QuadraticMinimax(clients=2, heterogeneity=0.5)
TWO_CALLS = FedNest(
    terms=0, inner_calls=2, inner_steps=5, inner_step_size=0.2, outer_steps=3, outer_step_size=0.05
)


def vanishing(problem: QuadraticMinimax, method: Nested) -> float:
    return 0.0


def floor(problem: QuadraticMinimax, method: Nested) -> float:
    return exact.limit(problem, method)


def squared_error(view: Steps) -> Reduction:
    """Return ‖z_K − z*‖² of the state that a round starts from."""
    assert isinstance(view.problem, QuadraticMinimax)
    z = np.concatenate([view.round_start(name).numpy() for name in "xy"])
    away = z - exact.saddle(view.problem)[:, None]
    return average("round", view.round_start("x").new_tensor((away**2).sum(0)))


@comparison(
    name="fednest/minimax-linear",
    kind="existence",
    source="FedNest (2022), slides, Minimax Experiment",
    assumes=[DIRECT, STABLE],
    statement=r"\text{FedNest converges linearly to the saddle point despite heterogeneity}",
    cases=[
        *grid(
            QuadraticMinimax(clients=sweep(1, 2), dim=1, heterogeneity=0.5),
            FedNest(terms=0, inner_steps=3, inner_step_size=0.4, outer_steps=2),
            rounds=1,
        ),
        *grid(
            QuadraticMinimax(
                clients=4, heterogeneity=sweep(0.0, 0.5, 2.0), regulariser=sweep(0.1, 1.0)
            ),
            TWO_CALLS,
            rounds=1,
        ),
        *grid(
            SAMPLED_SCALARS,
            FedNest(terms=0, inner_steps=3, inner_step_size=0.4, outer_steps=2, participation=0.5),
            rounds=1,
        ),
        *grid(
            PAIR,
            FedNestSGD(terms=0, inner_steps=3, inner_step_size=0.4, participation=0.5),
            rounds=1,
        ),
        *grid(
            PAIR,
            LFedNest(terms=0, inner_steps=3, inner_step_size=0.4, participation=sweep(1.0, 0.5)),
            rounds=1,
        ),
    ],
    readings={
        "all clients take part": literal(Stated(vanishing, assumes=(ALL,))),
        "clients are sampled": wider(
            Stated(vanishing, assumes=(SOME,)),
            why="the slides print means over all m clients; sampling is in the public code alone",
        ),
    },
    corrected=floor,
    correction=(
        "v = (x, y, 1) ← F_S v, so vec E vvᵀ obeys the recursion of E F_S ⊗ F_S, whose eigenvalue "
        "1 is simple where it converges; E‖z − z*‖² is read from its eigenvector. It is 0 if and "
        "only if every cohort has z* as fixed point: for |S| = m, or equal clients."
    ),
    false_siblings=[
        ("half the floor", lambda problem, method: floor(problem, method) / 2),
        ("a tenth more", lambda problem, method: floor(problem, method) * 1.1),
    ],
    explain=(
        "Linear where all clients take part. With sampled clients there is a floor, in closed "
        "form: variance reduction does not remove it, and on this problem changes no iterate at "
        "all."
    ),
)
def limit_of_the_error(case: Case[QuadraticMinimax, Nested], stated: Limit) -> list[Comparison]:
    problem, method = case.problem, case.algorithm
    ended = exact.limit(problem, method)
    what = f"E‖z − z*‖² in the limit (E z at rate {exact.moments(problem, method).rate:.4f})"
    comparisons = [Comparison(what, ended, ended, stated(problem, method))]
    with suppress(TooManyAtoms):
        # the same of the federation: the mean of the errors at the starts of two rounds
        outcome = run_exactly(problem, method, rounds=2, left=squared_error, limit=OUTCOMES)
        measured = float(outcome.values[0] @ outcome.weights)
        by_map = np.mean([exact.error_after(problem, method, k) for k in (0, 1)])
        comparisons.append(Comparison("E‖z_k − z*‖², k = 0, 1", measured, measured, float(by_map)))
    return comparisons
