"""The composition that χ²-regularised robust learning is, where no weight is clipped.

It is ℓ̄ + Var(ℓ_i)/(2λ): h = (1/m) Σ (ℓ_i + ℓ_i²/(2λ)), g = ℓ̄, f(g) = −g²/(2λ) in the form (2).

**Kind.** Identity, at every x of the ball and in the minimum.

**Source.** (3) and (5), corrected. It has no printed form: (5) prints −Var(ℓ_i)/(2λ).

**Routes.** By algebra: on Σ p_i = 1 the objective is V − (λm/2) Σ (p_i − p_i*)² with
p_i* = 1/m + (ℓ_i − ℓ̄)/(λm), so p* is the maximiser if it is in the simplex, that is if
λ ≥ ℓ̄ − min ℓ_i. By certified optima, with the problem's own proven depth for the hypothesis.
"""

from driftproof.synthetic.problems.penalised_dro import PenalisedDRO
from driftproof.toolkit.cases import Assumption, Case, grid
from driftproof.toolkit.parameters import sweep
from driftproof.verifiers.algebra.symbolic import Step
from driftproof.verifiers.claim_types.compared import Comparison
from driftproof.verifiers.claim_types.comparison import comparison
from driftproof.verifiers.papers.feddro.claims import _interior
from driftproof.verifiers.papers.feddro.claims._inner_maximum import Values
from driftproof.verifiers.papers.feddro.claims._interior import FEW_SAMPLES, mean, variance

INTERIOR = Assumption(
    "no weight is clipped",
    r"\lambda \ge \bar\ell(x) - \min_i\ell(x;\zeta_i) \text{ for all } x",
    ("loss_depth",),
    relation=lambda c: c.lambda_ >= c.D_ell,
)


def steps(right: Values) -> list[Step]:
    return _interior.steps(right.formula)


@comparison(
    name="feddro/equation-5-interior",
    source="FedDRO (2023), (5)",
    assumes=[INTERIOR],
    statement=r"\max_{p\in P_m}\sum_{i=1}^m p_i\ell(x;\zeta_i)-\lambda\frac m2\sum_{i=1}^m"
    r"\Big(p_i-\frac1m\Big)^2 = \frac1m\sum_{i=1}^m\Big(\ell(x;\zeta_i)+"
    r"\frac{\ell(x;\zeta_i)^2}{2\lambda}\Big)-\frac{1}{2\lambda}"
    r"\Big(\frac1m\sum_{i=1}^m\ell(x;\zeta_i)\Big)^2",
    cases=[
        *grid(FEW_SAMPLES),
        *grid(
            PenalisedDRO(
                divergence="chi-square", penalty=sweep(2.0, 20.0, 0.1), data_seed=sweep(0, 1)
            )
        ),
    ],
    corrected=Values(_interior.composition),
    correction=(
        "Complete the square on Σ p_i = 1: Σ p_i ℓ_i − (λm/2) Σ (p_i − 1/m)² = V − (λm/2) Σ (p_i "
        "− p_i*)², p_i* = 1/m + (ℓ_i − ℓ̄)/(λm), V = ℓ̄ + Var(ℓ_i)/(2λ). p_i* ≥ 0 for all i is λ "
        "≥ ℓ̄ − min ℓ_i."
    ),
    false_siblings=[
        ("the variance taken away", Values(lambda ell, lam: mean(ell) - variance(ell) / (2 * lam))),
        (
            "the variance over m − 1",
            Values(
                lambda ell, lam: mean(ell) + len(ell) / (len(ell) - 1) * variance(ell) / (2 * lam)
            ),
        ),
        ("λ for 2λ", Values(lambda ell, lam: mean(ell) + variance(ell) / lam)),
    ],
    prove=steps,
)
def composition(case: Case[PenalisedDRO, None], right: Values) -> list[Comparison]:
    return right.compare(case.problem)
