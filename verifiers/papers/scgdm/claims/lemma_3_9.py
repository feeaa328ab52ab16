r"""Lemma 3.9: the constants of federated MAML, one by one.

**Kind.** Bounds on suprema, each enclosed by a grid over a period and a bound on the second
derivative (``_suprema``). One task a device, or each of its tasks on its own; the norm of a matrix
is the spectral norm, in which (20) is true, or, in readings of their own, the Frobenius norm. A
task that is drawn at each step is scgdm/lemma-3.9-tasks.
"""

from driftproof.synthetic.problems.analytic_maml import AnalyticMAML
from driftproof.toolkit.cases import Case, grid
from driftproof.toolkit.constants import Expression, Letters
from driftproof.toolkit.parameters import sweep
from driftproof.toolkit.readings import Erratum, narrower
from driftproof.verifiers.claim_types.compared import Comparison
from driftproof.verifiers.claim_types.comparison import comparison
from driftproof.verifiers.papers.scgdm.claims import _suprema as sup
from driftproof.verifiers.papers.scgdm.claims._assumption_3_8 import TASKS

SWEPT = AnalyticMAML(
    dim=sweep(1, 2),
    heterogeneity=sweep(0.0, 0.5),
    noise=sweep(0.0, 0.3),
    adaptation=sweep(0.3, 1.5),
    signs="alternating",
)
SEVERAL_TASKS = AnalyticMAML(
    clients=3,
    dim=sweep(1, 3),
    tasks=2,
    amplitude=0.5,
    frequency=2.0,
    heterogeneity=0.4,
    task_heterogeneity=0.3,
    noise=0.2,
    signs="alternating",
)


def stretch(c: Letters) -> Expression:
    return 1 + c.lambda_ * c.L_1


def frobenius(c: Letters, norm_of_identity: Expression) -> Expression:
    """Return C_g² in the Frobenius norm, with what is said of ‖I‖²."""
    return norm_of_identity * stretch(c) ** 2 + c.lambda_**2 * c.sigma_2F**2


def minkowski(c: Letters) -> Expression:
    """Return C_g² as corrected."""
    return (stretch(c) + c.lambda_ * c.sigma_2) ** 2


@comparison(
    name="scgdm/lemma-3.9",
    kind="bound",
    source="Local-SCGDM (2022), Lemma 3.9 (10)",
    assumes=[TASKS],
    statement=r"L_f = L_1,\; L_g = \lambda L_2,\; C_f^2 = \sigma_1^2 + G^2,\; "
    r"C_g^2 = (1+\lambda L_1)^2 + \lambda^2\sigma_2^2,\; \sigma_f^2 = \sigma_1^2,\; "
    r"\sigma_g^2 = \lambda^2\sigma_2^2,\; \delta_g^2 = \lambda^2\sigma_1^2"
    "\n"
    r"\|\nabla F^{(k)}(x)-\nabla F^{(k)}(y)\| \le "
    r"\big((1+\lambda L_1)^2L_1+\lambda GL_2\big)\|x-y\|",
    cases=[
        *grid(AnalyticMAML(clients=1, noise=0.2)),
        *grid(SWEPT),
        *grid(AnalyticMAML(clients=1, dim=2, noise=sweep(0.3, 3.0), adaptation=1.0)),
        *grid(SEVERAL_TASKS),
    ],
    readings={
        "L_f": sup.printed("L_f", sup.smoothness_of_f, lambda c: c.L_1),
        "L_g": sup.printed("L_g", sup.smoothness_of_g, lambda c: c.lambda_ * c.L_2),
        "C_f²": sup.printed("C_f²", sup.moment_of_f, lambda c: c.sigma_1**2 + c.G**2),
        "C_g²": sup.printed(
            "C_g²",
            sup.moment_of_g,
            lambda c: stretch(c) ** 2 + c.lambda_**2 * c.sigma_2**2,
            "(9) bounds E‖∇²L(x; ξ) − ∇²L(x)‖² by σ_2² and names no norm: an operator norm",
        ),
        "C_g², σ_2 in the Frobenius norm": sup.printed(
            "C_g²",
            sup.moment_of_g,
            lambda c: stretch(c) ** 2 + c.lambda_**2 * c.sigma_2F**2,
            "(9) bounds E‖∇²L(x; ξ) − ∇²L(x)‖² by σ_2² and names no norm: the Frobenius norm",
        ),
        "C_g², every norm Frobenius": sup.printed(
            "C_g²",
            sup.moment_of_g_frobenius,
            lambda c: frobenius(c, 1),
            "no norm is named, and (21) adds squares, as the Frobenius norm allows",
        ),
        "C_g² with d(1 + λL_1)², every norm Frobenius": narrower(
            sup.Constant(sup.moment_of_g_frobenius, lambda c: frobenius(c, c.d)),
            why="the print lacks the factor d, which is ‖I‖² in the Frobenius norm",
        ),
        "σ_f²": sup.printed("σ_f²", sup.variance_of_f, lambda c: c.sigma_1**2),
        "σ_g²": sup.printed(
            "σ_g²",
            sup.variance_of_jacobian,
            lambda c: c.lambda_**2 * c.sigma_2**2,
            "no norm is named: the spectral norm on both sides",
        ),
        "σ_g², every norm Frobenius": sup.printed(
            "σ_g²",
            sup.variance_of_jacobian_frobenius,
            lambda c: c.lambda_**2 * c.sigma_2F**2,
            "no norm is named: the Frobenius norm on both sides",
        ),
        "δ_g²": sup.printed("δ_g²", sup.variance_of_value, lambda c: c.lambda_**2 * c.sigma_1**2),
        "Lipschitz constant of ∇F": sup.printed(
            "Lipschitz constant of ∇F",
            sup.smoothness_of_objective,
            lambda c: stretch(c) ** 2 * c.L_1 + c.lambda_ * c.G * c.L_2,
        ),
    },
    erratum=Erratum(
        "false",
        changes="In two or more dimensions C_g² is (1 + λL_1 + λσ_2)² in the spectral norm, up to "
        "twice what is printed. The admissible β of Theorem 3.4 gets smaller. The other seven "
        "constants hold.",
        depends="constant",
    ),
    corrected=sup.Constant(sup.moment_of_g, minkowski),
    correction=(
        "C_g² = (1 + λL_1 + λσ_2)². By Minkowski's inequality in L², (E‖A + N‖²)^½ ≤ ‖A‖ + "
        "(E‖N‖²)^½ ≤ 1 + λL_1 + λσ_2, in any norm with ‖I‖ = 1. It is attained for d ≥ 2 by A = "
        "(1 + λL_1)I, N = ±λσ_2 diag(1, −1). The other constants hold as printed."
    ),
    false_siblings=[
        ("L_g without λ", sup.Constant(sup.smoothness_of_g, lambda c: c.L_2)),
        ("C_f² without the noise", sup.Constant(sup.moment_of_f, lambda c: c.G**2)),
        (
            "δ_g² with λ for λ²",
            sup.Constant(sup.variance_of_value, lambda c: c.lambda_ * c.sigma_1**2),
        ),
        (
            "σ_g² 10 % smaller",
            sup.Constant(sup.variance_of_jacobian, lambda c: 0.9 * c.lambda_**2 * c.sigma_2**2),
        ),
        (
            "C_g² by Minkowski, 10 % smaller",
            sup.Constant(sup.moment_of_g, lambda c: 0.9 * minkowski(c)),
        ),
        (
            "C_g² with √d(1 + λL_1)², every norm Frobenius",
            sup.Constant(sup.moment_of_g_frobenius, lambda c: frobenius(c, c.d**0.5)),
        ),
        (
            "∇F with one factor 1 + λL_1",
            sup.Constant(
                sup.smoothness_of_objective, lambda c: stretch(c) * c.L_1 + c.lambda_ * c.G * c.L_2
            ),
        ),
    ],
    explain=(
        "Each constant of (10) is a row of its own. C_g² is false from two dimensions on, in the "
        "spectral norm, where the mean square of a sum is not the sum of the mean squares, and in "
        "the Frobenius norm, where ‖I‖² is d; the other seven hold. The Frobenius norm over √d has "
        "both properties, but bounds no ‖Av‖ by ‖A‖‖v‖, which Theorem 3.4 needs. Theorem 3.4 takes "
        "C_g² from here."
    ),
)
def constants(case: Case[AnalyticMAML, None], right: sup.Constant) -> list[Comparison]:
    return sup.each_client(case, right)
