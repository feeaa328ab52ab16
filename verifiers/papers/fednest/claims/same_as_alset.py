r"""FedNest with one local step is ALSET (slide "Theory: Comparison with Previous Results").

**Kind.** Identity, to rounding: with one local step a call (τ = 1) and all clients, the iterates of
FedNest on different noisy clients are those of ALSET on the clients' mean problem, whatever the
differences are. ALSET is written apart, from the mean problem's arrays (``_alset``).

**Why.** With τ = 1 the two differences of FedSVRG cancel, so that a client moves by the shared
gradient, the mean over all clients. The same holds of every term of FedIHGP.

Several local steps: fednest/same-as-alset-local-steps.
"""

from dataclasses import replace
from enum import Enum

import numpy as np

from driftproof.synthetic.problems.quadratic_bilevel import QuadraticBilevel
from driftproof.toolkit.algorithms.fednest import FedNest
from driftproof.toolkit.cases import Case, grid
from driftproof.toolkit.parameters import sweep
from driftproof.verifiers.claim_types.compared import Comparison
from driftproof.verifiers.claim_types.comparison import comparison
from driftproof.verifiers.papers._pseudo_code import models
from driftproof.verifiers.papers.fednest.claims._alset import MeanProblem
from driftproof.verifiers.papers.fednest.claims.fednest_loop import NOISY

NAME = "same-as-alset"
DIFFERENT = replace(NOISY, clients=sweep(2, 5), hessian_heterogeneity=sweep(0.1, 0.45))


class Solved(Enum):
    """The problem that ALSET is run on."""

    MEAN = "the clients' mean"
    FIRST_LOWER = "the mean, with the first client's lower level"
    FIRST_TARGET = "the mean, with the first client's target"


def alset(
    problem: QuadraticBilevel, given: FedNest, rounds: int, solved: Solved
) -> list[np.ndarray]:
    """Run ALSET. Return every client's x and y."""
    mean = MeanProblem(problem, given, NAME)
    if solved is Solved.FIRST_LOWER:
        mean.hessian, mean.cross = problem.parts["H"][0], problem.parts["C"][0]
    if solved is Solved.FIRST_TARGET:
        mean.target = problem.parts["a"][0]
    return [np.tile(v, (problem.clients, 1)) for v in mean.run(rounds)]


@comparison(
    name="fednest/same-as-alset",
    source="FedNest (2022), slides, Theory: Comparison with Previous Results",
    statement=r"\text{FedNest enjoys the same convergence as non-federated alternating SGD (ALSET),"
    r" despite objective heterogeneity}",
    cases=grid(DIFFERENT, FedNest(inner_calls=sweep(1, 3), terms=4), rounds=6),
    right=Solved.MEAN,
    false_siblings=[
        ("ALSET on the first client's lower level", Solved.FIRST_LOWER),
        ("ALSET with the first client's target", Solved.FIRST_TARGET),
    ],
    explain=(
        "With one local step and all clients FedNest is ALSET on the mean problem, iterate by "
        "iterate, so that heterogeneity costs nothing."
    ),
)
def fednest_and_alset(case: Case[QuadraticBilevel, FedNest], solved: Solved) -> list[Comparison]:
    return models(case, NAME, alset, solved, fields=("x", "y"))
