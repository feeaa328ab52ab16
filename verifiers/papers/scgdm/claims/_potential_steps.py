"""The derivation of the corrected Theorem 3.4, as steps: docs/scgdm.md has it in words."""

from sympy import Rational, summation, symbols

from driftproof.toolkit.constants import Expression, Letters
from driftproof.verifiers.algebra.symbolic import Step, nonnegative, vanishes
from driftproof.verifiers.claim_types.bound import RightSide
from driftproof.verifiers.papers import _proof_steps as elementary
from driftproof.verifiers.papers.scgdm.claims import assumptions as given
from driftproof.verifiers.papers.scgdm.claims._theorem import corrected, value_noise

Recursion = dict[str, Expression]
"""The coefficients of A, e, M, V of the correction, and "1", what is added."""


def recursions(c: Letters) -> tuple[Recursion, Recursion]:
    """Return what bounds e_{t+1} and A_{t+1}; ‖B‖² is at most (3/2)C_g²L_f²e_{t+1} + 3C_f²L_g²V."""
    a, forgets = c.alpha * c.eta, c.gamma * c.eta
    value = {
        "e": 1 - forgets,
        "M": 2 * c.C_g**2 * c.beta**2 * c.eta / c.gamma,
        "V": 2 * forgets * c.C_g**2,
        "1": (forgets * c.delta_g) ** 2,
    }
    noise = c.C_g**2 * c.sigma_f**2 + 2 * c.C_f**2 * c.sigma_g**2
    error = {k: 2 * a * (c.C_g * c.L_f) ** 2 * v for k, v in value.items()} | {"A": 1 - a}
    error["V"] += 4 * a * (c.C_f * c.L_g) ** 2
    error["M"] += 4 * c.beta**2 * c.eta * given.smooth(c) ** 2 / c.alpha
    error["1"] += a**2 / c.K * (noise + 2 * forgets**2 * value_noise(c))
    return value, error


def steps(right: RightSide) -> list[Step]:
    """Return the steps of the corrected form; of the printed ones they say nothing."""
    if right is not corrected:
        return []
    c, (p, q) = elementary.POSITIVE, symbols("p q", real=True)
    a, j, r = symbols("a j r", positive=True)
    below = 1 / (1 + r)  # any number between 0 and 1
    whole, curved, step = given.smooth(c), c.C_g**4 * c.L_f**2, c.beta * c.eta
    condition = curved / c.gamma**2 + c.eta * curved / c.gamma + whole**2 / c.alpha**2
    value, rise = recursions(c)
    # of F(x̄) + on_a·A + on_e·e, less (βη/2)‖∇F‖²
    on_a, on_e = c.beta / (2 * c.alpha), c.beta * (c.C_g * c.L_f) ** 2 / c.gamma
    rise = {k: on_a * v + on_e * value.get(k, 0) for k, v in rise.items()}
    rise["A"] += step / 2 - on_a
    rise["M"] -= step / 2 * (1 - step * whole)
    rise["e"] -= on_e
    first = (c.C_g * c.sigma_f) ** 2 + 2 * (c.C_f * c.sigma_g) ** 2 + 2 * value_noise(c)
    start = c.F_gap + on_a * first + on_e * c.delta_g**2
    drift = summation((j * step * c.C_g * c.C_f) ** 2, (j, 0, c.p - 1)) / c.p
    summed = 2 / step * (start / c.T + 4 * step * whole**2 * drift + rise["1"])
    return [
        elementary.moving_average(),
        nonnegative(
            ((2 - 2 * (1 - a) ** 2) / a).subs(a, below),
            r"a=\gamma\eta,\ s=1:\; (1+\tfrac1s)(1-a)^2/a \le 2/a;\quad "
            r"a=\alpha\eta,\ s=\tfrac13:\; \text{at most } 4/a, \text{ and } (1+s)a = 4a/3",
        ),
        vanishes(
            Rational(3, 2) * p**2 + 3 * q**2 - (p + q) ** 2 - (p - 2 * q) ** 2 / 2,
            r"\|B\|^2 \le \tfrac32C_g^2L_f^2e+3C_f^2L_g^2V:\; "
            r"\tfrac32\|p\|^2+3\|q\|^2-\|p+q\|^2 = \tfrac12\|p-2q\|^2",
        ),
        elementary.squares_of_a_sum(2, 2),
        elementary.descent_along(),
        vanishes(rise["A"], r"\text{the potential's coefficient of } A_t \text{ is } 0"),
        vanishes(
            rise["e"] + step * c.gamma * c.eta * (c.C_g * c.L_f) ** 2,
            r"\text{of } e_t:\; -\beta\gamma\eta^2C_g^2L_f^2 \le 0",
        ),
        vanishes(
            rise["M"] + step / 2 * (1 - step * whole - 4 * c.beta**2 * condition),
            r"\text{of } M_t:\; -\tfrac{\beta\eta}2\big(1-\beta\eta L_F-4\beta^2S\big),\; "
            r"S = \tfrac{C_g^4L_f^2}{\gamma^2}+\tfrac{\eta C_g^4L_f^2}\gamma+"
            r"\tfrac{L_F^2}{\alpha^2}",
        ),
        nonnegative(
            (condition.subs(c.eta, 1) - condition).subs(c.eta, below),
            r"\text{at most } 0, \text{ since } \beta\eta L_F\le\tfrac12 \text{ and } "
            r"8\beta^2S\le1, \text{ where } S \text{ is largest at } \eta=1",
        ),
        nonnegative(
            (4 * step * whole**2 - rise["V"]).subs(c.gamma, below / c.eta).expand(),
            r"\text{of } V_t:\; \text{at most } 4\beta\eta L_F^2 \text{ for } \gamma\eta<1",
        ),
        vanishes(
            right(c) - summed,
            r"\tfrac2{\beta\eta}\big(\tfrac{P_0}T+4\beta\eta L_F^2\tfrac1p\textstyle"
            r"\sum_{j<p}(j\beta\eta C_gC_f)^2+\text{the noise}\big) \text{ is the right side}",
        ),
    ]
