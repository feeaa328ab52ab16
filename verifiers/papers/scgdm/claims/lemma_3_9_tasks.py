r"""Lemma 3.9 with the task drawn inside f, as (8) prints f.

**Kind.** Bounds on suprema, enclosed as in ``lemma_3_9``.
"""

from math import pi

from driftproof.synthetic.problems.analytic_maml import AnalyticMAML
from driftproof.toolkit.cases import Case, grid
from driftproof.toolkit.constants import Expression, Letters
from driftproof.toolkit.parameters import sweep
from driftproof.toolkit.readings import Erratum, intended
from driftproof.verifiers.claim_types.compared import Comparison
from driftproof.verifiers.claim_types.comparison import comparison
from driftproof.verifiers.papers.scgdm.claims import _suprema as sup
from driftproof.verifiers.papers.scgdm.claims._assumption_3_8 import TASKS


def moment(c: Letters) -> Expression:
    return c.sigma_1**2 + c.G**2


@comparison(
    name="scgdm/lemma-3.9-tasks",
    kind="bound",
    source="Local-SCGDM (2022), Lemma 3.9 (10), f as in (8)",
    sentence="scgdm/lemma-3.9",
    assumes=[TASKS],
    statement=r"\mathbb{E}_{i,\zeta}\|\nabla f^{(k)}(y;\zeta)-\nabla f^{(k)}(y)\|^2 \le \sigma_1^2,"
    r"\quad \mathbb{E}_{i,\zeta}\|\nabla f^{(k)}(y;\zeta)\|^2 \le \sigma_1^2+G^2,"
    r"\quad f^{(k)}(y;\zeta) = \mathcal{L}^{(k)}_i(y;\zeta)",
    cases=grid(
        AnalyticMAML(
            clients=1,
            tasks=2,
            dim=sweep(1, 2),
            task_heterogeneity=sweep(pi / 2, 0.0, 0.5),
            noise=sweep(0.0, 0.3),
        )
    ),
    readings={
        "σ_f²": sup.printed("σ_f²", sup.drawn_variance_of_f, lambda c: c.sigma_1**2),
        "σ_f², each task on its own": intended(
            sup.Constant(sup.variance_of_f, lambda c: c.sigma_1**2),
            part="σ_f²",
            quote="(23) bounds E‖∇f(y; ζ) − ∇f(y)‖² by E‖∇L_i(y; ζ) − ∇L_i(y)‖², with one task i",
        ),
        "C_f²": sup.printed("C_f²", sup.drawn_moment_of_f, moment),
    },
    erratum=Erratum(
        "overstated",
        changes="σ_f² = σ_1² is right for a device with one task. If a step draws the task with "
        "its test sample, take σ_f² = σ_1² + G².",
        depends="constant",
    ),
    corrected=sup.Constant(sup.drawn_variance_of_f, moment),
    correction=(
        "E_{i,ζ}‖∇L_i(y; ζ) − ∇f(y)‖² = E_i E_ζ‖∇L_i(y; ζ) − ∇L_i(y)‖² + E_i‖∇L_i(y) − ∇f(y)‖² ≤ "
        "σ_1² + E_i‖∇L_i(y)‖² ≤ σ_1² + G². Two tasks with opposite gradients attain it at σ_1 = "
        "0."
    ),
    false_siblings=[
        ("half of G²", sup.Constant(sup.drawn_variance_of_f, lambda c: c.sigma_1**2 + c.G**2 / 2)),
        ("C_f² without the noise", sup.Constant(sup.drawn_moment_of_f, lambda c: c.G**2)),
    ],
    explain=(
        "The proof writes L_i for f^{(k)}, which (8) defines as the mean over the device's tasks."
        " If a step draws the task with its test sample, the variance of ∇f is that of the test "
        "samples and that of the tasks; Theorem 3.4's noise terms then need σ_1² + G²."
    ),
)
def moments_with_the_task_drawn(
    case: Case[AnalyticMAML, None], right: sup.Constant
) -> list[Comparison]:
    return sup.each_client(case, right)
