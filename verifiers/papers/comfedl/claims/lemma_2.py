"""Lemma 2: client drift.

**Kind.** Bound; almost sure, and attained at t = τ when all gradients align (linear pieces). Each
of the t ≤ τ local steps has length at most η‖∇g‖‖∇f‖ ≤ ηG_gG_f.
"""

from driftproof.synthetic.problems.bounded_composition import BoundedComposition
from driftproof.toolkit.algorithms.comfedl import ComFedL
from driftproof.toolkit.cases import grid
from driftproof.toolkit.constants import Expression, Letters
from driftproof.toolkit.measure import Reduction, Steps, each, sq
from driftproof.toolkit.parameters import sweep
from driftproof.verifiers.claim_types.bound import bound
from driftproof.verifiers.papers.comfedl.claims.assumptions import A1, A2, A3, A4

NOISY = BoundedComposition(
    clients=4,
    dim=3,
    inner_dim=2,
    inner_curvature=0.5,
    inner_value_noise=0.1,
    inner_gradient_noise=0.2,
    outer_gradient_noise=0.1,
    heterogeneity=1.0,
)


def squared_path(c: Letters) -> Expression:
    """Return the square of τ steps' length."""
    return c.tau**2 * c.eta**2 * c.G_g**2 * c.G_f**2


@bound(
    name="comfedl/lemma-2",
    source="ComFedL, arXiv v1 and v3, Lemma 2",
    assumes=[A1, A2, A3, A4],
    statement=r"\mathbb{E}\|\bar w_{s,t}-\bar w_s\|^2 \le \tau^2\eta^2G_g^2G_f^2",
    cases=[
        *grid(
            BoundedComposition(
                clients=sweep(2, 4), dim=sweep(1, 3), distance=100.0, heterogeneity=sweep(0.0, 1.0)
            ),
            ComFedL(local_steps=sweep(5, 1), step_size=sweep(0.1, 0.01)),
            rounds=4,
        ),
        *grid(
            NOISY,
            ComFedL(
                local_steps=5, participation=sweep(1.0, 0.5), samples=sweep("shared", "independent")
            ),
            rounds=4,
        ),
    ],
    right=squared_path,
    range=squared_path,
    false_siblings=[
        ("10 % smaller", lambda c: 0.9 * (c.tau * c.eta * c.G_g * c.G_f) ** 2),
        ("linear in the local steps", lambda c: c.tau * (c.eta * c.G_g * c.G_f) ** 2),
    ],
)
def client_drift(view: Steps) -> Reduction:
    return each("round", "local_step", sq(view.mean("w") - view.round_start("w")))
