r"""Lemma 4: the error of the averaged estimator when the outer function is common and known.

**Statement.** E‖ū_{s,t} − U_{s,0}‖² ≤ 4(G_g²L_f² + G_f⁴L_g²)τ²η²G_g²G_f² + 4G_g²σ²/b
+ 4L_g²G_f²σ²/b, for the special problem (g^1 = … = g^n without noise) and the first branch.

**Kind.** Bound, at every local step.

**Source.** 000, Lemma 4 (37); not in 001. The remark on the proof of Lemma 3 holds here as well.
"""

from synthetic.problems import KLDRO, BoundedComposition, StuckEstimator
from toolkit import claim, grid
from toolkit.algorithms import ComFedL
from verifiers.claims.comfedl import _estimator_error as parts
from verifiers.claims.comfedl._wide import wide
from verifiers.claims.comfedl.assumptions import A1, A2, A3, A4


def four(c, drift=1, cohort=1, factor=4):
    """Return the right side; the controls change a factor."""
    return factor * (drift * parts.moved(c) + parts.inner(c) / cohort)


@claim(
    name="comfedl/lemma-4",
    kind="bound",
    source="000, Lemma 4 (37)",
    assumes=[A1, A2, A3, A4],
    statement=r"\mathbb{E}\|\bar u_{s,t}-U_{s,0}\|^2 \le 4(G_g^2L_f^2+G_f^4L_g^2)\tau^2\eta^2"
    r"G_g^2G_f^2 + \frac{4G_g^2\sigma^2}{b} + \frac{4L_g^2G_f^2\sigma^2}{b}",
)
class SpecialEstimatorError:
    cases = [
        *grid(StuckEstimator(), ComFedL(branch="special", step_size=0.001, batch=2), rounds=1),
        *grid(StuckEstimator(clients=8), ComFedL(branch="special", step_size=0.001), rounds=1),
        *grid(
            BoundedComposition(clients=[2, 5], dim=[1, 3], inner_curvature=[0.0, 0.5]),
            ComFedL(branch="special", local_steps=5, step_size=[0.02, 0.2]),
            rounds=4,
        ),
        *grid(
            BoundedComposition(
                clients=4, dim=3, inner_dim=2, inner_curvature=0.5, inner_heterogeneity=0.5,
                inner_value_noise=0.2, inner_gradient_noise=0.2,
            ),
            ComFedL(
                branch="special", local_steps=5, step_size=0.01, batch=4,
                participation=[1.0, 0.5], samples=["shared", "independent"],
            ),
            rounds=2,
        ),
        *grid(
            KLDRO(ball=1.5),
            ComFedL(branch="special", local_steps=3, step_size=0.01, batch=4),
            rounds=2,
        ),
    ]  # fmt: skip
    full = wide(rounds=5, branch="special", inner_heterogeneity=[0.0, 0.9])
    left = parts.error
    range = parts.largest
    editions = "000 (37)"
    right = four
    false_siblings = [
        ("without the drift", lambda c: four(c, drift=0)),
        ("noise averaged over the cohort", lambda c: four(c, cohort=c.m)),
    ]
