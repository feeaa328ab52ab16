r"""Lemma 3.9 in the Frobenius norm, in which step (21) of its proof is true.

**Kind.** Bounds on suprema, enclosed as in ``lemma_3_9``.

**Source.** Local-SCGDM (2022), Lemma 3.9 (10) with (20), (21) and (23).

**Finding.** The norm has an inner product, so (21) holds, but ‖I‖ = √d and (20) fails: for d = 2,
L(x) = Σ_j A(1 − cos x_j) and no noise, E‖∇g‖² reaches 2(1 + λA)², twice the right side; for any
smooth loss with A → 0 it is d against 1. σ_g² holds. With d(1 + λL_1)² in place of (1 + λL_1)² it
is true and attained: L_1, the Lipschitz constant of a gradient, bounds ‖∇²L‖ in the spectral norm.
"""

from driftproof.synthetic.problems.analytic_maml import AnalyticMAML
from driftproof.toolkit.cases import Case, grid
from driftproof.toolkit.constants import Expression, Letters
from driftproof.toolkit.parameters import sweep
from driftproof.toolkit.readings import Erratum
from driftproof.verifiers.claim_types.compared import Comparison
from driftproof.verifiers.claim_types.comparison import comparison
from driftproof.verifiers.claims.scgdm import _suprema as sup
from driftproof.verifiers.claims.scgdm._assumption_3_8 import TASKS


def moment(c: Letters, dim: Expression) -> Expression:
    return dim * (1 + c.lambda_ * c.L_1) ** 2 + c.lambda_**2 * c.sigma_2F**2


@comparison(
    name="scgdm/lemma-3.9-frobenius",
    kind="bound",
    source="Local-SCGDM (2022), Lemma 3.9 (10)",
    assumes=[TASKS],
    statement=r"\mathbb{E}\|\nabla g^{(k)}(x;\xi)\|_F^2 \le (1+\lambda L_1)^2+\lambda^2\sigma_2^2,"
    r"\quad \mathbb{E}\|\nabla g^{(k)}(x;\xi)-\nabla g^{(k)}(x)\|_F^2 \le \lambda^2\sigma_2^2",
    cases=grid(
        AnalyticMAML(
            dim=sweep(1, 2, 3),
            heterogeneity=sweep(0.0, 0.5),
            noise=sweep(0.0, 0.3),
            signs="alternating",
        )
    ),
    readings={
        "C_g²": sup.printed("C_g²", sup.moment_of_g_frobenius, lambda c: moment(c, 1)),
        "σ_g²": sup.printed(
            "σ_g²", sup.variance_of_jacobian_frobenius, lambda c: c.lambda_**2 * c.sigma_2F**2
        ),
    },
    erratum=Erratum(
        "false",
        changes="In the Frobenius norm the constant needs the factor d: ‖I‖² is d, not 1.",
        same_as="scgdm/lemma-3.9",
    ),
    corrected=sup.Constant(sup.moment_of_g_frobenius, lambda c: moment(c, c.d)),
    correction=(
        "E‖A + N‖² = ‖A‖² + E‖N‖² in the Frobenius norm, ‖A‖² ≤ d‖A‖₂² ≤ d(1 + λL_1)², where L_1 "
        "bounds the spectral norm of ∇²L. Attained where every entry of A is 1 + λL_1."
    ),
    false_siblings=[
        ("√d for d", sup.Constant(sup.moment_of_g_frobenius, lambda c: moment(c, c.d**0.5))),
        (
            "without the noise",
            sup.Constant(sup.moment_of_g_frobenius, lambda c: c.d * (1 + c.lambda_ * c.L_1) ** 2),
        ),
        (
            "σ_g² divided by d",
            sup.Constant(
                sup.variance_of_jacobian_frobenius,
                lambda c: c.lambda_**2 * c.sigma_2F**2 / c.d,
            ),
        ),
    ],
    explain=(
        "(20) needs ‖I‖ = 1, which the Frobenius norm has not, and (21) an inner product, which "
        "the spectral norm has not. The Frobenius norm over √d has both, but bounds no ‖Av‖ by "
        "‖A‖‖v‖, as Theorem 3.4 needs; no norm has all three for d ≥ 2 (lemma-3.9-proof)."
    ),
)
def moments_in_the_frobenius_norm(
    case: Case[AnalyticMAML, None], right: sup.Constant
) -> list[Comparison]:
    return sup.each_client(case, right)
