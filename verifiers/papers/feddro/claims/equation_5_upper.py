"""The mean and the variance bound χ²-regularised robust learning from above, for every λ.

**Kind.** Bound; the left side is enclosed by weak duality.

**Source.** (3) and (5), corrected. It has no printed form.

**Finding.** m = 2, losses 0 and t: (3) is t/2 + t²/(8λ) for t ≤ 2λ and t − λ/2 beyond; the bound
exceeds it by (t − 2λ)²/(8λ). So FedDRO on h + f(g) minimises an upper bound on (3) when λ is small.
"""

from driftproof.synthetic.problems.penalised_dro import PenalisedDRO
from driftproof.toolkit.cases import Case, grid
from driftproof.toolkit.parameters import sweep
from driftproof.verifiers.claim_types.compared import Comparison
from driftproof.verifiers.claim_types.comparison import comparison
from driftproof.verifiers.papers.feddro.claims._inner_maximum import Values
from driftproof.verifiers.papers.feddro.claims._interior import composition, mean, variance


@comparison(
    name="feddro/equation-5-upper",
    kind="bound",
    source="FedDRO (2023), (5)",
    statement=r"\max_{p\in P_m}\sum_{i=1}^m p_i\ell(x;\zeta_i)-\lambda\frac m2\sum_{i=1}^m"
    r"\Big(p_i-\frac1m\Big)^2 \le \bar\ell(x)+\frac{1}{2\lambda}\Big(\frac1m\sum_{i=1}^m"
    r"\ell(x;\zeta_i)^2-\bar\ell(x)^2\Big)",
    cases=grid(
        PenalisedDRO(
            divergence="chi-square", penalty=sweep(2.0, 0.1, 0.02), data_seed=sweep(0, 1), ball=3.0
        )
    ),
    corrected=Values(composition),
    correction=(
        "Dropping p_i ≥ 0 can only raise the maximum, and without it the maximum over Σ p_i = 1 "
        "is ℓ̄ + Var(ℓ_i)/(2λ) (equation-5-interior)."
    ),
    false_siblings=[
        ("half the variance", Values(lambda ell, lam: mean(ell) + variance(ell) / (4 * lam))),
        ("without the variance", Values(lambda ell, lam: mean(ell))),
    ],
)
def upper_bound(case: Case[PenalisedDRO, None], right: Values) -> list[Comparison]:
    return right.compare(case.problem)
