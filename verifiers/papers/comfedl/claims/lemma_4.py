"""Lemma 4: the error of the averaged estimator when the outer function is common and known.

**Kind.** Bound, at every local step, for the special problem (g^1 = … = g^n without noise) and the
first branch.

**Source.** Not in arXiv v3. The remark on the proof of Lemma 3 holds here as well.
"""

from dataclasses import replace

from driftproof.synthetic.problems.bounded_composition import BoundedComposition
from driftproof.synthetic.problems.kl_dro import KLDRO
from driftproof.synthetic.problems.opposed_clients import OpposedClients
from driftproof.synthetic.problems.stuck_estimator import StuckEstimator
from driftproof.toolkit.algorithms.comfedl import ComFedL
from driftproof.toolkit.cases import grid
from driftproof.toolkit.measure import Reduction, Steps
from driftproof.toolkit.parameters import sweep
from driftproof.verifiers.claim_types.bound import bound
from driftproof.verifiers.papers.comfedl.claims._cases import wide
from driftproof.verifiers.papers.comfedl.claims._estimator_error import error, largest, terms
from driftproof.verifiers.papers.comfedl.claims.assumptions import A1, A2, A3, A4
from driftproof.verifiers.papers.comfedl.claims.lemma_3 import FAR, NOISY

DIFFERENT = replace(NOISY, inner_heterogeneity=0.5, outer_gradient_noise=0.0)
SOME_CLIENTS = ComFedL(
    branch="special",
    local_steps=5,
    step_size=0.1,
    batch=8,
    participation=sweep(1.0, 0.5),
    samples=sweep("shared", "independent"),
)

four_terms = terms(4, outer=False)


@bound(
    name="comfedl/lemma-4",
    source="ComFedL, arXiv v1, Lemma 4 (37)",
    assumes=[A1, A2, A3, A4],
    statement=r"\mathbb{E}\|\bar u_{s,t}-U_{s,0}\|^2 \le 4(G_g^2L_f^2+G_f^4L_g^2)\tau^2\eta^2"
    r"G_g^2G_f^2 + \frac{4G_g^2\sigma^2}{b} + \frac{4L_g^2G_f^2\sigma^2}{b}",
    cases=[
        *grid(
            StuckEstimator(clients=sweep(1, 16)),
            ComFedL(branch="special", step_size=0.001, batch=2),
            rounds=1,
        ),
        *grid(
            BoundedComposition(clients=sweep(2, 5), dim=sweep(1, 3), distance=1.0),
            ComFedL(branch="special", local_steps=5, step_size=sweep(0.02, 0.1)),
            rounds=4,
        ),
        *grid(
            OpposedClients(clients=1, slope=1.0, curvature=1.0, distance=1.0),
            ComFedL(branch="special", local_steps=5, step_size=0.02),
            rounds=4,
        ),
        *grid(
            BoundedComposition(clients=sweep(2, 5), dim=sweep(1, 3), inner_curvature=0.5),
            ComFedL(branch="special", local_steps=5, step_size=0.02),
            rounds=4,
        ),
        *grid(
            BoundedComposition(
                clients=1, inner_gradient_noise=0.3, outer_curvature=0.2, distance=FAR
            ),
            ComFedL(branch="special", step_size=0.001),
            rounds=1,
        ),
        *grid(DIFFERENT, SOME_CLIENTS, rounds=2),
        *grid(
            KLDRO(ball=0.3),
            ComFedL(branch="special", local_steps=3, step_size=0.01, batch=4),
            rounds=2,
        ),
    ],
    full=wide(rounds=5, branch="special", inner_heterogeneity=sweep(0.0, 0.9)),
    range=largest,
    edition="ComFedL, arXiv v1 (37)",
    right=four_terms,
    false_siblings=[
        *four_terms.without_each(),
        ("noise averaged over the cohort", lambda c: four_terms(c) / c.m),
        ("a tenth", lambda c: four_terms(c) / 10),
    ],
    explain=(
        "Each of the four terms is seen by a case in which it is the largest, up to a quarter of "
        "the bound: a quarter is what four squares in a sum cost."
    ),
)
def special_estimator_error(view: Steps) -> Reduction:
    return error(view)
