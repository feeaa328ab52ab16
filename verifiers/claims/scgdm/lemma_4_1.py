r"""Lemma 4.1: one step of the momentum's error.

**Statement**, as printed in (11), for 0 < αη < 1: E‖m_{t+1} − ∇F_k(x_t)‖² ≤ (1 − αη)E‖m_t −
∇F_k(x_{t−1})‖² + 2αηC_g²L_f²E‖u_{t+1} − g_k(x_t)‖² + (2ηβ²L_f²/α)E‖m_t‖² + 2α²η²(C_g²σ_f² +
C_f²σ_g²).

**Kind.** Bound, at every step t ≥ 1 and for every client, given the past.

**Finding.** False as printed. (i) L_f² stands where the proof (25) has L_F²: with a linear f (L_f =
0 in the limit) and a curved g the gradient moves along with x and nothing pays for it. (ii) Just
after a communication x_t = x̄_t, and x_t − x_{t−1} is not −βηm_t: see ``scgdm/lemma-4.1-proof``.
(iii) With one sample for g and f the conditional mean of z_t is off by their covariance.

**Smallest counterexample** of (i): one client, no noise, t = 1: f a line of slope 1, g' curved, so
that ∇F changes from x_0 to x_1: left 0.0331, right 9.4·10⁻⁷ (L_f = 10⁻³).
"""

from toolkit import Stated, claim
from verifiers.claims.scgdm import _steps
from verifiers.claims.scgdm import assumptions as given
from verifiers.claims.scgdm._cases import CASES, FULL


def bound(c, curvature, moved=1, inner=1, past=1, noise=1, inside=1):
    """Return a right side; the controls scale its terms."""
    a = c.alpha * c.eta
    return (
        (1 - past * a) * c.measured("past")
        + inner * 2 * a * c.C_g**2 * c.L_f**2 * c.measured("inner")
        + moved * 2 * c.eta * c.beta**2 * curvature**2 / c.alpha * c.measured("momentum")
        + 2 * a**2 * (noise * c.C_g**2 * c.sigma_f**2 + inside * c.C_f**2 * c.sigma_g**2)
    )


def mended(c, moved=1, inner=1, past=1, noise=1, inside=1):
    """Return the corrected right side: L_F, and the move of x itself."""
    whole = given.smooth(c)
    without = bound(c, whole, moved=0, inner=inner, past=past, noise=noise, inside=inside)
    return without + moved * 2 * whole**2 / (c.alpha * c.eta) * c.measured("moved")


@claim(
    name="scgdm/lemma-4.1",
    kind="bound",
    source="003, Lemma 4.1 (11)",
    assumes=[*given.ASSUMED, given.STEP_SIZE],
    statement=r"\mathbb{E}\|m_{t+1}^{(k)}-\nabla F^{(k)}(x_t^{(k)})\|^2 \le "
    r"(1-\alpha\eta)\mathbb{E}\|m_t^{(k)}-\nabla F^{(k)}(x_{t-1}^{(k)})\|^2 + "
    r"2\alpha\eta C_g^2L_f^2\mathbb{E}\|u_{t+1}^{(k)}-g^{(k)}(x_t^{(k)})\|^2 + "
    r"\frac{2\eta\beta^2L_f^2}{\alpha}\mathbb{E}\|m_t^{(k)}\|^2 + "
    r"2\alpha^2\eta^2(C_g^2\sigma_f^2+C_f^2\sigma_g^2)",
)
class MomentumError:
    cases = CASES
    full = FULL
    left = _steps.momentum
    measured = _steps.MEASURED
    readings = given.by_samples(lambda c: bound(c, c.L_f))
    corrected = Stated(mended, assumes=(given.TWO_SAMPLES,))
    correction = (
        "Let a = αη, D = ∇F_k(x_{t−1}) − ∇F_k(x_t), e = E‖u_{t+1} − g_k(x_t)‖² given the past, B "
        "the conditional mean of z_t minus ∇F_k(x_t). By Cauchy–Schwarz ‖B‖² ≤ C_g²L_f²e, though "
        "u_{t+1} and ∇g(x_t; ξ_t) share their sample. E‖m_{t+1} − ∇F_k(x_t)‖² = ‖(1 − a)(m_t − "
        "∇F_k(x_{t−1}) + D) + aB‖² + a² Var z_t. The first is at most (1 − a)‖m_t − "
        "∇F_k(x_{t−1})‖² + ((1 + 1/s)(1 − a)²/a)‖D‖² + (1 + s)a‖B‖²; with s = 1 − a the middle "
        "factor is at most 2/a. z_t − ∇F_k(x_t) = v(∇f(u; ζ) − ∇f(u)) + (v − ∇g)∇f(u) + ∇g(∇f(u) "
        "− ∇f(g)), so that Var z_t ≤ C_g²σ_f² + 2C_f²σ_g² + 2C_g²L_f²e − ‖B‖². Summed: "
        "2aC_g²L_f²e and 2a²(C_g²σ_f² + C_f²σ_g²), as printed, and 2L_F²/a times ‖x_t − "
        "x_{t−1}‖²."
    )
    false_siblings = [
        ("the error contracts twice as fast",
         Stated(lambda c: mended(c, past=2), assumes=(given.TWO_SAMPLES,))),
        ("nothing for the move of x",
         Stated(lambda c: mended(c, moved=0), assumes=(given.TWO_SAMPLES,))),
        ("a tenth of the noise",
         Stated(lambda c: mended(c, noise=0.1), assumes=(given.TWO_SAMPLES,))),
        ("a tenth of the noise of ∇g",
         Stated(lambda c: mended(c, inside=0.1), assumes=(given.TWO_SAMPLES,))),
    ]  # fmt: skip
    explain = (
        "(11) prints L_f where its own proof has L_F; without it a curved g refutes the lemma. "
        "With L_F and ‖x_t − x_{t−1}‖ in place of βη‖m_t‖, which differ after a communication, it"
        " holds given every past."
    )
