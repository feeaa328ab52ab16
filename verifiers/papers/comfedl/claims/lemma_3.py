"""Lemma 3: the error of the averaged estimator.

**Kind.** Bound, at every local step, with all clients or some, shared or independent samples.
"""

from driftproof.synthetic.problems.bounded_composition import BoundedComposition
from driftproof.synthetic.problems.maml import MAML
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

FAR = 6.283185307179586
"""2π: there the noise of the inner value vanishes, and that of its derivative is largest."""
NOISY = BoundedComposition(
    clients=4,
    dim=3,
    inner_dim=2,
    inner_curvature=0.1,
    inner_value_noise=0.05,
    inner_gradient_noise=0.05,
    outer_gradient_noise=0.2,
    distance=1.0,
)
SOME_CLIENTS = ComFedL(
    local_steps=5,
    step_size=0.05,
    batch=8,
    outer_batch=2,
    participation=sweep(1.0, 0.5),
    samples=sweep("shared", "independent"),
)

five_terms = terms(5, outer=True)


@bound(
    name="comfedl/lemma-3",
    source="ComFedL, arXiv v1, Lemma 3 (29); v3, Lemma 3 (24)",
    assumes=[A1, A2, A3, A4],
    statement=r"\mathbb{E}\|\bar u_{s,t}-U_{s,0}\|^2 \le 5(G_g^2L_f^2+G_f^4L_g^2)\tau^2\eta^2"
    r"G_g^2G_f^2 + \frac{5G_f^2\sigma^2}{b_1} + \frac{5G_g^2\sigma^2}{b} + "
    r"\frac{5L_g^2G_f^2\sigma^2}{b}",
    cases=[
        *grid(StuckEstimator(clients=sweep(1, 16)), ComFedL(step_size=0.001, batch=2), rounds=1),
        # gradients that change at their largest rate, at the knee of a Huber function
        *grid(
            BoundedComposition(clients=sweep(2, 5), dim=sweep(1, 3), distance=1.0),
            ComFedL(local_steps=5, step_size=sweep(0.02, 0.1)),
            rounds=4,
        ),
        *grid(
            OpposedClients(clients=1, slope=1.0, curvature=1.0, distance=1.0),
            ComFedL(local_steps=5, step_size=0.02),
            rounds=4,
        ),
        *grid(
            BoundedComposition(
                clients=sweep(2, 5), inner_curvature=sweep(0.0, 0.5), heterogeneity=1.0
            ),
            ComFedL(local_steps=5, step_size=0.02),
            rounds=4,
        ),
        # one noise alone, the other minibatch being large
        *grid(
            BoundedComposition(clients=1, outer_gradient_noise=0.3, distance=3.0),
            ComFedL(step_size=0.001, batch=64),
            rounds=1,
        ),
        *grid(
            BoundedComposition(
                clients=1, inner_gradient_noise=0.3, outer_curvature=0.2, distance=FAR
            ),
            ComFedL(step_size=0.001, outer_batch=64),
            rounds=1,
        ),
        *grid(
            BoundedComposition(
                inner_value_noise=0.2, inner_gradient_noise=0.1, outer_gradient_noise=0.3
            ),
            ComFedL(local_steps=2, step_size=0.02, samples=sweep("shared", "independent")),
            rounds=1,
        ),
        *grid(NOISY, SOME_CLIENTS, rounds=2),
        *grid(
            MAML(form=sweep("average", "exp"), gradient_noise=0.3, ball=2.0, temperature=8.0),
            ComFedL(local_steps=3, step_size=0.05),
            rounds=2,
        ),
    ],
    full=wide(rounds=5, heterogeneity=sweep(0.0, 10.0)),
    range=largest,
    edition="ComFedL, arXiv v1 (29); v3 (24)",
    right=five_terms,
    false_siblings=[
        *five_terms.without_each(),
        ("noise averaged over the cohort", lambda c: five_terms(c) / c.m),
        ("a tenth", lambda c: five_terms(c) / 10),
    ],
    explain=(
        "Each of the five terms is seen by a case in which it is the largest, up to a fifth of the "
        "bound: a fifth is what five squares in a sum cost. So a factor of 5 cannot be told from 1."
    ),
)
def estimator_error(view: Steps) -> Reduction:
    return error(view)
