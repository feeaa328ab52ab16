r"""Remark 2: ComFedL's rate on the special problem.

**Statement.** With η = 1/T^{α1}, 0 < α1 ≤ 1, b = 1/T^{α2}, α2 > 0: (1/S) Σ E‖∇F(w̄_s)‖² ≤
O(1/T^{1−α1} + τ/T^{α1} + 1/T^{0.5α2}); for α1 = ½, α2 = 1 and τ = O(1) this is O(1/√T).

**Kind.** Rate.

**Source.** 000, Remark 2; not in 001.

**Finding.** The misprint of Remark 1, and counted there: b = 1/T^{α2} is less than one sample;
b = T^{α2} gives the order from Theorem 2, and costs T^{1+α2} samples a client. The first term of
Theorem 2's bound is then (F(w̄_0) − F*)T^{α1−1}; drift and smoothness are constants times τT^{-α1};
the noise terms are constants times T^{-α2/2}.
"""

from sympy import Rational, log

from synthetic.problems.bounded_composition import BoundedComposition
from toolkit.algorithms.comfedl import ComFedL
from toolkit.cases import Case
from toolkit.measure import Reduction, View
from toolkit.readings import Erratum, intended, literal
from verifiers.claim_types.rate import Schedule, rate
from verifiers.claims.comfedl.assumptions import A1, A2, A3, A4
from verifiers.claims.comfedl.remark_1 import FLOORS, TAU, T, a1, a2
from verifiers.claims.comfedl.theorem_2 import special_convergence
from verifiers.derived import Derived

ORDER = T ** (a1 - 1) + TAU * T**-a1 + T ** (-a2 / 2)


def instance(steps):
    """Return the noisy instance that attains the rate: η = T^{-1/2}, b = T, τ = 2."""
    return Case(
        BoundedComposition(distance=3.0, inner_heterogeneity=0.5, inner_value_noise=0.2),
        ComFedL(branch="special", local_steps=2, step_size=steps**-0.5, batch=steps),
        rounds=steps // 2,
    )


@rate(
    name="comfedl/remark-2",
    source="000, Remark 2",
    assumes=[A1, A2, A3, A4],
    statement=r"\eta=\frac1{T^{\alpha_1}},\; b=\frac1{T^{\alpha_2}}:"
    r"\quad\frac1S\sum_{s=0}^{S-1}\mathbb{E}\|\nabla F(\bar w_s)\|^2 \le "
    r"O(\order)",
    cases=[instance(steps) for steps in (64, 128, 256, 512, 1024, 2048, 4096)],
    full=[instance(steps) for steps in (8192, 16384, 32768)],
    range=special_convergence.range,
    edition="000",
    readings={
        "minibatches of T^(-α) samples": literal(
            Schedule({"eta": T**-a1, "b": T**-a2}, ORDER, counts=("b",))
        ),
        "minibatches of T^α samples": intended(
            Schedule({"eta": T**-a1, "b": T**a2}, ORDER, counts=("b",)),
            quote="Theorem 2's terms 2G_gσ/√b and 2L_gG_fσ/√b become the printed 1/T^{0.5α_2} with "
            "b = T^{α_2}, and with nothing else",
        ),
    },
    erratum=Erratum(
        "misprint",
        changes="The minibatches have to grow: b = T^{α2}. T steps then cost T^{1+α2} samples a "
        "client.",
        same_as="comfedl/remark-1",
    ),
    horizon=T,
    derived=Derived("comfedl/theorem-2", "printed"),
    floors=FLOORS,
    false_siblings=[
        ("faster by T^{1/10}", Schedule({"eta": T**-a1, "b": T**a2}, T ** Rational(-3, 5))),
        (
            "faster by a logarithm",
            Schedule({"eta": T**-a1, "b": T**a2}, T ** Rational(-1, 2) / log(T)),
        ),
        ("one sample is enough", Schedule({"eta": T**-a1, "b": 1}, T ** Rational(-1, 2))),
    ],
    explain=(
        "A minibatch of 1/T samples does not exist, so the remark as printed speaks of nothing. "
        "With b = T, which is plainly meant, it follows from Theorem 2, and T^(-1/2) is attained."
    ),
)
def special_convergence_rate(view: View) -> Reduction:
    return special_convergence.left(view)
