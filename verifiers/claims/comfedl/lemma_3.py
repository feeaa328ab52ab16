r"""Lemma 3: the error of the averaged estimator.

**Statement.** E‖ū_{s,t} − U_{s,0}‖² ≤ 5(G_g²L_f² + G_f⁴L_g²)τ²η²G_g²G_f² + 5G_f²σ²/b1 + 5G_g²σ²/b
+ 5L_g²G_f²σ²/b.

**Kind.** Bound, at every local step, with all clients or some, shared or independent samples.

**Source.** 000, Lemma 3 (29); 001, Lemma 3 (24).

**About the proof.** It adds and subtracts so that the inner Jacobian's noise ∇f_B(w̄_s) − ∇f(w̄_s) is
bounded by σ²/b before ∇g multiplies it. In the spectral norm of the papers' notation that is false
for p, d ≥ 2: the diagonal matrix of two independent signs has norm 1, the mean of two of them the
mean square 3/4 > 1/2. The lemma survives: with (∇g(f_B) − ∇g(f))ᵀ∇f_B ≤ L_gG_f‖f_B − f‖ first, only
∇g(f(w̄_s))ᵀ(∇f_B − ∇f) is left, a vector, for which the variance of a mean is σ²/b.
"""

from synthetic.problems import MAML, BoundedComposition, StuckEstimator
from toolkit import claim, grid
from toolkit.algorithms import ComFedL
from verifiers.claims.comfedl import _estimator_error as parts
from verifiers.claims.comfedl._wide import wide
from verifiers.claims.comfedl.assumptions import A1, A2, A3, A4


def five(c, drift=1, cohort=1, factor=5):
    """Return the right side; the controls change a factor."""
    noise = (parts.outer(c) + parts.inner(c)) / cohort
    return factor * (drift * parts.moved(c) + noise)


@claim(
    name="comfedl/lemma-3",
    kind="bound",
    source="000, Lemma 3 (29); 001, Lemma 3 (24)",
    assumes=[A1, A2, A3, A4],
    statement=r"\mathbb{E}\|\bar u_{s,t}-U_{s,0}\|^2 \le 5(G_g^2L_f^2+G_f^4L_g^2)\tau^2\eta^2"
    r"G_g^2G_f^2 + \frac{5G_f^2\sigma^2}{b_1} + \frac{5G_g^2\sigma^2}{b} + "
    r"\frac{5L_g^2G_f^2\sigma^2}{b}",
)
class EstimatorError:
    cases = [
        *grid(StuckEstimator(), ComFedL(step_size=0.001, batch=2), rounds=1),
        *grid(StuckEstimator(clients=8), ComFedL(step_size=0.001), rounds=1),
        *grid(
            BoundedComposition(
                clients=[2, 5], dim=[1, 3], inner_curvature=[0.0, 0.5], heterogeneity=1.0
            ),
            ComFedL(local_steps=5, step_size=[0.02, 0.2]),
            rounds=4,
        ),
        *grid(
            BoundedComposition(
                inner_value_noise=0.2, inner_gradient_noise=0.1, outer_gradient_noise=0.3
            ),
            ComFedL(local_steps=2, step_size=0.02, samples=["shared", "independent"]),
            rounds=1,
        ),
        *grid(
            BoundedComposition(
                clients=4, dim=3, inner_dim=2, inner_curvature=0.5, inner_value_noise=0.2,
                inner_gradient_noise=0.2, outer_gradient_noise=0.2, heterogeneity=0.5,
            ),
            ComFedL(
                local_steps=5, step_size=0.01, batch=4, outer_batch=2,
                participation=[1.0, 0.5], samples=["shared", "independent"],
            ),
            rounds=2,
        ),
        *grid(
            MAML(form=["average", "exp"], gradient_noise=0.3, ball=2.0, temperature=8.0),
            ComFedL(local_steps=3, step_size=0.05), rounds=2,
        ),
    ]  # fmt: skip
    full = wide(rounds=5, heterogeneity=[0.0, 10.0])
    left = parts.error
    range = parts.largest
    editions = "000 (29); 001 (24)"
    right = five
    false_siblings = [
        ("without the drift", lambda c: five(c, drift=0)),
        ("noise averaged over the cohort", lambda c: five(c, cohort=c.m)),
        ("a tenth", lambda c: five(c, factor=0.5)),
    ]
