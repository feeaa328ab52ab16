r"""FedNest with one local step is ALSET (slide "Theory: Comparison with Previous Results").

**Statement.** "FedNest enjoys the same convergence as non-federated alternating SGD (ALSET),
despite objective heterogeneity."

**Kind.** Identity, to rounding: with one local step a call (τ = 1) and all clients, the iterates of
FedNest on different noisy clients are those of ALSET on the clients' mean problem, whatever the
differences are. ALSET is written apart, from the mean problem's arrays (``_alset``).

**Why.** With τ = 1 the two differences of FedSVRG cancel, so that a client moves by the shared
gradient, the mean over all clients. The same holds of every term of FedIHGP.

Several local steps: fednest/same-as-alset-local-steps.
"""

from typing import Any

import numpy as np

from synthetic.problems.quadratic_bilevel import QuadraticBilevel
from toolkit.algorithms.fednest import FedNest
from toolkit.cases import Case, grid
from toolkit.parameters import sweep
from verifiers.claim_types.comparison import comparison
from verifiers.claims._pseudo_code import models
from verifiers.claims.fednest._alset import MeanProblem
from verifiers.compared import Comparison

NAME = "same-as-alset"


def alset(problem, given, rounds, change):
    """Run ALSET; ``change`` is what a false sibling does. Return every client's x and y."""
    made = MeanProblem(problem, given, NAME)
    if change == "first":
        made.hessian, made.cross = problem.parts["H"][0], problem.parts["C"][0]
    if change == "target":
        made.target = problem.parts["a"][0]
    return [np.tile(v, (problem.clients, 1)) for v in made.run(rounds)]


@comparison(
    name="fednest/same-as-alset",
    source="002, Theory: Comparison with Previous Results",
    statement=r"\text{FedNest enjoys the same convergence as non-federated alternating SGD (ALSET),"
    r" despite objective heterogeneity}",
    cases=grid(
        QuadraticBilevel(
            clients=sweep(2, 5),
            dim=2,
            lower_dim=3,
            hessian_heterogeneity=sweep(0.1, 0.45),
            cross_heterogeneity=0.4,
            offset_heterogeneity=0.5,
            target_heterogeneity=0.6,
            regulariser=0.5,
            regulariser_heterogeneity=0.3,
            tilt=0.2,
            upper_noise=0.3,
            lower_value_noise=0.2,
            lower_curvature_noise=0.2,
            cross_noise=0.2,
        ),
        FedNest(inner_calls=sweep(1, 3), terms=4),
        rounds=6,
    ),
    right="",
    false_siblings=[
        ("ALSET on the first client's lower level", "first"),
        ("ALSET with the first client's target", "target"),
    ],
    explain=(
        "With one local step and all clients FedNest is ALSET on the mean problem, iterate by "
        "iterate, so that heterogeneity costs nothing."
    ),
)
def same(case: Case, right: Any) -> list[Comparison]:
    return models(case, NAME, alset, right, fields=("x", "y"))
