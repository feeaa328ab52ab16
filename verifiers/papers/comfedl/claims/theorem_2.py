"""Theorem 2: convergence of ComFedL on the special problem: one common, noiseless outer function.

**Source.** Not in arXiv v3. The plus sign that Theorem 1 lacks is there.
"""

from dataclasses import replace

from sympy import sqrt

from driftproof.synthetic.problems.bounded_composition import BoundedComposition
from driftproof.synthetic.problems.kl_dro import KLDRO
from driftproof.synthetic.problems.opposed_clients import OpposedClients
from driftproof.synthetic.problems.stuck_estimator import StuckEstimator
from driftproof.toolkit.algorithms.comfedl import ComFedL
from driftproof.toolkit.cases import grid
from driftproof.toolkit.constants import Expression, Letters
from driftproof.toolkit.measure import Reduction, States
from driftproof.toolkit.parameters import sweep
from driftproof.verifiers.claim_types.bound import bound
from driftproof.verifiers.papers.comfedl.claims import _theorem_bounds as bounds
from driftproof.verifiers.papers.comfedl.claims._cases import NOISY, wide
from driftproof.verifiers.papers.comfedl.claims.assumptions import A1, A2, A3, A4, sigma

SMALL_NOISE = ComFedL(
    branch="special",
    local_steps=5,
    step_size=0.01,
    batch=16,
    participation=sweep(1.0, 0.5),
    samples=sweep("shared", "independent"),
)


def right_side(c: Letters, drift: int = 1, noise: int = 1) -> Expression:
    """Return the right side; the controls leave out the drift or the noise."""
    moved = 2 * bounds.h(c) * c.tau * c.eta * c.G_g * c.G_f
    noisy = 2 * (c.G_g + c.L_g * c.G_f) * sigma(c) / sqrt(c.b)
    return (
        bounds.initial(c) + c.G_f * c.G_g * (drift * moved + noise * noisy) + bounds.smoothness(c)
    )


@bound(
    name="comfedl/theorem-2",
    source="ComFedL, arXiv v1, Theorem 2 (13) and Theorem 4 (38)",
    assumes=[A1, A2, A3, A4],
    statement=r"\frac1S\sum_{s=0}^{S-1}\mathbb{E}\|\nabla F(\bar w_s)\|^2 \le "
    r"\frac{F(\bar w_0)-F^*}{T\eta} + G_fG_g\Big(2H\tau\eta G_gG_f + \frac{2G_g\sigma}{\sqrt b}"
    r" + \frac{2L_gG_f\sigma}{\sqrt b}\Big) + L\tau\eta G_g^2G_f^2 + \frac{L\eta}2G_f^2G_g^2 "
    "\n"
    r"H=\sqrt{G_g^2L_f^2+G_f^4L_g^2}",
    cases=[
        *grid(OpposedClients(), ComFedL(branch="special", local_steps=2, step_size=0.5), rounds=26),
        *grid(
            OpposedClients(), ComFedL(branch="special", local_steps=2, step_size=0.005), rounds=400
        ),
        *grid(
            BoundedComposition(clients=sweep(2, 5), dim=sweep(1, 3), inner_heterogeneity=0.5),
            ComFedL(branch="special", local_steps=sweep(1, 5), step_size=0.02),
            rounds=100,
        ),
        *grid(replace(NOISY, inner_heterogeneity=0.5), SMALL_NOISE, rounds=100),
        *grid(
            StuckEstimator(), ComFedL(branch="special", local_steps=2, step_size=0.01), rounds=100
        ),
        *grid(
            KLDRO(ball=0.5),
            ComFedL(branch="special", local_steps=5, step_size=0.005, batch=64),
            rounds=20,
        ),
    ],
    full=wide(rounds=100, branch="special", inner_heterogeneity=sweep(0.0, 0.9)),
    range=bounds.largest,
    edition="ComFedL, arXiv v1 (13), (38)",
    right=right_side,
    false_siblings=[
        ("without the drift term", lambda c: right_side(c, drift=0)),
        ("without the noise terms", lambda c: right_side(c, noise=0)),
    ],
)
def special_convergence(view: States) -> Reduction:
    return bounds.squared_gradient(view)
