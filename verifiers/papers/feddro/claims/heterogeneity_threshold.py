r"""The text after Theorem 5.1: too many local updates make heterogeneity hurt.

**Kind.** Existence, by algebra on an instance in closed form.

**Instance.** K = 2, no compositional part and no noise, h_k(x) = a_k(x − c_k)²/2 with a_1 ≠ a_2
(made linear far away, so that Δ_h is finite). A client's local steps take x − c_k to
(1 − ηa_k)^I (x − c_k), so the models' average rests at x̂ = Σ s_kc_k/Σ s_k, s_k = 1 − (1 − ηa_k)^I.

**Finding.** The statement holds. The two terms are equal at I − 1 = T^{1/4}/(|b|K)^{3/4}. Beyond
it the harm is real: ∇Φ(x̂)² divided by |b|K(I − 1)²/T tends to q²/16 with
q = a_1a_2(a_1 − a_2)(c_1 − c_2)/(a_1 + a_2), which is not 0. So no choice of the unknown constants
lets Theorem 5.1 do without the factor (I − 1)². With equal curvatures, or with I = 1, there is no
bias, however far apart the c_k are.
"""

import sympy

from driftproof.toolkit.constants import Expression
from driftproof.toolkit.readings import literal
from driftproof.verifiers.algebra.symbolic import Step, computed, nonnegative, vanishes
from driftproof.verifiers.claim_types.proof import proof

eta, first, second, shift, total, horizon = sympy.symbols(
    "eta a_1 a_2 delta n T", positive=True
)  # n = |b|K, and c_1 = δ, c_2 = 0
count = sympy.Symbol("I", positive=True, integer=True)


def bias(steps: Expression, one: Expression = first, two: Expression = second) -> Expression:
    """Return ∇Φ at the point where the models' average rests."""
    moved = [1 - (1 - eta * a) ** steps for a in (one, two)]
    rest = moved[0] * shift / sum(moved)
    return (one * (rest - shift) + two * rest) / 2


def at_zero(fraction: Expression) -> Expression:
    """Return the limit as η → 0 by l'Hôpital's rule: a quarter of the time of sympy.limit."""
    above, below = fraction.together().as_numer_denom()
    while above.subs(eta, 0) == 0 and below.subs(eta, 0) == 0:
        above, below = above.diff(eta), below.diff(eta)
    return above.subs(eta, 0) / below.subs(eta, 0)


@proof(
    name="feddro/heterogeneity-threshold",
    kind="existence",
    source="FedDRO (2023), after Theorem 5.1",
    statement=r"\text{heterogeneity degrades the performance when } "
    r"\frac{|b|K(I-1)^2}T \text{ dominates } \frac1{\sqrt{|b|KT}}",
    readings={"on some instance": literal(2)},
    false_siblings=[("the harm grows like I − 1", 1), ("the harm grows like (I − 1)³", 3)],
    explain=(
        "Two clients with different curvature rest where the gradient is of the order η(I − 1): "
        "its square is the first term of 𝒞, up to a constant. So that term cannot be dropped, "
        "whatever the constants are that the text leaves out."
    ),
)
def threshold(power: int) -> list[Step]:
    """Return the steps; ``power`` is that of I − 1 in the first term of 𝒞."""
    many = total * (count - 1) ** 2 / horizon
    crossing = horizon ** sympy.Rational(1, 4) / total ** sympy.Rational(3, 4)
    small = at_zero(bias(count) / eta)
    product = first * second * (first - second) * shift / (first + second)
    scaled = sympy.factor(small**2 / (count - 1) ** power)
    told = f"(∇Φ/η)² over (I − 1)^{power} tends to {scaled} as η → 0"
    return [
        vanishes(
            many.subs(count, 1 + crossing) - 1 / sympy.sqrt(total * horizon),
            r"\tfrac{|b|K(I-1)^2}T = \tfrac1{\sqrt{|b|KT}} \text{ at } "
            r"I-1 = T^{1/4}/(|b|K)^{3/4}",
        ),
        vanishes(bias(1), r"I=1:\; \nabla\Phi(\hat x) = 0"),
        vanishes(
            bias(count, first, first), r"a_1=a_2:\; \nabla\Phi(\hat x) = 0 \text{ for all } I"
        ),
        computed(
            rf"\lim_{{\eta\to0}} \|\nabla\Phi(\hat x)\|^2/(\eta^2(I-1)^{power}) "
            r"\text{ does not depend on } I",
            count not in scaled.free_symbols,
            told,
        ),
        vanishes(
            small**2 - (product * (count - 1) / 4) ** 2,
            r"\text{it is } \big(\tfrac{a_1a_2(a_1-a_2)(c_1-c_2)}{4(a_1+a_2)}\big)^2,\; "
            r"\eta^2 = |b|K/T",
        ),
        nonnegative((product / 4) ** 2, r"\text{which is positive for } a_1\ne a_2,\ c_1\ne c_2"),
    ]
