"""Lemma 4.1: one step of the momentum's error. docs/scgdm.md has its counterexamples.

**Kind.** Bound, at every step t ≥ 1 and for every client, given the past.
"""

from sympy import Rational, symbols

from driftproof.toolkit.constants import Expression, Letters
from driftproof.toolkit.measure import Reduction, Steps
from driftproof.toolkit.readings import Erratum, Stated, intended, narrower
from driftproof.verifiers.algebra.symbolic import Step, nonnegative, vanishes
from driftproof.verifiers.claim_types.bound import RightSide, bound
from driftproof.verifiers.claim_types.terms import Terms
from driftproof.verifiers.papers import _proof_steps as elementary
from driftproof.verifiers.papers.scgdm.claims import assumptions as given
from driftproof.verifiers.papers.scgdm.claims._cases import CASES, FULL
from driftproof.verifiers.papers.scgdm.claims._steps import (
    MEASURED,
    between_communications,
    momentum_error_of_clients,
)


def with_curvature(c: Letters, curvature: Expression) -> Expression:
    """Return (11) with L_f, (25) with L_F."""
    a = c.alpha * c.eta
    return (
        (1 - a) * c.measured("past")
        + 2 * a * c.C_g**2 * c.L_f**2 * c.measured("inner")
        + 2 * c.eta * c.beta**2 * curvature**2 / c.alpha * c.measured("momentum")
        + 2 * a**2 * (c.C_g**2 * c.sigma_f**2 + c.C_f**2 * c.sigma_g**2)
    )


def printed(c: Letters) -> Expression:
    """Return (11)."""
    return with_curvature(c, c.L_f)


def proven(c: Letters) -> Expression:
    """Return (25)."""
    return with_curvature(c, given.smooth(c))


BETWEEN_COMMUNICATIONS = Stated(
    proven, left=between_communications(momentum_error_of_clients), assumes=(given.TWO_SAMPLES,)
)
mended = Terms(
    {
        "the past error": lambda c: (1 - c.alpha * c.eta) * c.measured("past"),
        "the inner estimate": lambda c: (
            2 * c.alpha * c.eta * c.C_g**2 * c.L_f**2 * c.measured("inner")
        ),
        "the move of x": lambda c: (
            2 * given.smooth(c) ** 2 / (c.alpha * c.eta) * c.measured("moved")
        ),
        "the noise of ∇f": lambda c: 2 * (c.alpha * c.eta * c.C_g * c.sigma_f) ** 2,
        "the noise of ∇g": lambda c: 2 * (c.alpha * c.eta * c.C_f * c.sigma_g) ** 2,
    }
)
"""The corrected right side: L_F, and the move of x itself."""


def steps(right: RightSide) -> list[Step]:
    """Return the derivation of the corrected form."""
    if right is not mended:
        return []
    v, jacobian, drawn, there, target = symbols("v J f_1 f_2 f_3", commutative=False)
    a, r = symbols("a r", positive=True)
    s, below = 1 - a, 1 / (1 + r)  # a is any number between 0 and 1
    c = elementary.POSITIVE
    noise = (c.C_g * c.sigma_f) ** 2 + 2 * (c.C_f * c.sigma_g) ** 2
    share = c.alpha * c.eta
    summed = (1 - share) * c.measured("past") + 2 * given.smooth(c) ** 2 / share * c.measured(
        "moved"
    )
    summed += 2 * share * (c.C_g * c.L_f) ** 2 * c.measured("inner") + share**2 * noise
    return [
        elementary.moving_average(),
        nonnegative(
            (2 / a - (1 + 1 / s) * (1 - a) ** 2 / a).subs(a, below),
            r"s=1-a:\; (1+\tfrac1s)(1-a)^2/a \le 2/a",
        ),
        vanishes(
            v * drawn
            - jacobian * target
            - (v * (drawn - there) + (v - jacobian) * there + jacobian * (there - target)),
            r"z_t-\nabla F_k(x_t) = v(\nabla f(u;\zeta)-\nabla f(u))+(v-\nabla g)\nabla f(u)"
            r"+\nabla g(\nabla f(u)-\nabla f(g))",
        ),
        elementary.squares_of_a_sum(2, 2),
        elementary.cauchy_schwarz(),
        nonnegative(
            ((1 + s) * a - a**2).subs(a, below),
            r"\|B\|^2 \le C_g^2L_f^2e \text{ has the coefficient } (1+s)a-a^2 \ge 0",
        ),
        vanishes((1 + s) * a - a**2 + 2 * a**2 - 2 * a, r"(1+s)a-a^2+2a^2 = 2a"),
        nonnegative(right(c) - summed, r"\text{the sum is at most the right side}"),
    ]


@bound(
    name="scgdm/lemma-4.1",
    source="Local-SCGDM (2022), Lemma 4.1 (11)",
    assumes=[*given.ASSUMED, given.STEP_SIZE],
    statement=r"\mathbb{E}\|m_{t+1}^{(k)}-\nabla F^{(k)}(x_t^{(k)})\|^2 \le "
    r"(1-\alpha\eta)\mathbb{E}\|m_t^{(k)}-\nabla F^{(k)}(x_{t-1}^{(k)})\|^2 + "
    r"2\alpha\eta C_g^2L_f^2\mathbb{E}\|u_{t+1}^{(k)}-g^{(k)}(x_t^{(k)})\|^2 + "
    r"\frac{2\eta\beta^2L_f^2}{\alpha}\mathbb{E}\|m_t^{(k)}\|^2 + "
    r"2\alpha^2\eta^2(C_g^2\sigma_f^2+C_f^2\sigma_g^2)",
    cases=CASES,
    full=FULL,
    measured=MEASURED,
    readings=given.by_samples(printed)
    | {
        "two samples, and L_F as in the proof": intended(
            Stated(proven, assumes=(given.TWO_SAMPLES,)),
            quote="the last display of its proof, (25), has L_F² in this term",
        ),
        "the same, between communications": narrower(
            BETWEEN_COMMUNICATIONS, why="the lemma and Theorem 3.4 speak of every step t"
        ),
    },
    erratum=Erratum(
        "false",
        changes="For the step after a communication the bound needs ‖x_t − x_{t−1}‖², not "
        "β²η²‖m_t‖². The constant is L_F, as in the proof.",
        depends="step",
    ),
    corrected=Stated(mended, assumes=(given.TWO_SAMPLES,)),
    correction=(
        "Let a = αη, D = ∇F_k(x_{t−1}) − ∇F_k(x_t), e = E‖u_{t+1} − g_k(x_t)‖² given the past, B "
        "the conditional mean of z_t minus ∇F_k(x_t). By Cauchy–Schwarz ‖B‖² ≤ C_g²L_f²e, though "
        "u_{t+1} and ∇g(x_t; ξ_t) share their sample. E‖m_{t+1} − ∇F_k(x_t)‖² = ‖(1 − a)(m_t − "
        "∇F_k(x_{t−1}) + D) + aB‖² + a² Var z_t. The first is at most (1 − a)‖m_t − "
        "∇F_k(x_{t−1})‖² + ((1 + 1/s)(1 − a)²/a)‖D‖² + (1 + s)a‖B‖²; with s = 1 − a the middle "
        "factor is at most 2/a. z_t − ∇F_k(x_t) = v(∇f(u; ζ) − ∇f(u)) + (v − ∇g)∇f(u) + ∇g(∇f(u) "
        "− ∇f(g)), so that Var z_t ≤ C_g²σ_f² + 2C_f²σ_g² + 2C_g²L_f²e − ‖B‖². Summed: "
        "2aC_g²L_f²e and 2a²(C_g²σ_f² + C_f²σ_g²), as printed, and 2L_F²/a times ‖x_t − "
        "x_{t−1}‖²."
    ),
    false_siblings=mended.controls(
        {
            "the past error": Rational(4, 5),
            "the inner estimate": 0,
            "the move of x": 0,
            "the noise of ∇f": Rational(2, 5),
            "the noise of ∇g": Rational(2, 5),
        },
        assumes=(given.TWO_SAMPLES,),
    ),
    prove=steps,
    explain=(
        "Just after a communication x_t − x_{t−1} is a jump to the average, which βη‖m_t‖ does "
        "not measure. With L_F and ‖x_t − x_{t−1}‖ in place of βη‖m_t‖ the lemma holds given every"
        " past. (11) also prints L_f where its own proof has L_F; this may be the conversion's."
    ),
)
def momentum_error(view: Steps) -> Reduction | None:
    return momentum_error_of_clients(view)
