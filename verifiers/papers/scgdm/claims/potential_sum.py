r"""The sum of the potential's decrease: (42), (45) and (46).

**Statement.** (42): 2(P_0 − P_T)/(βηT) is at most 2(F(x_0) − F(x_*))/(βηT) +
E‖m_1 − ∇F(x_0)‖²/(αηT) + 2C_g²L_g²E‖u_1 − g(x_0)‖²/(γηT), "by the definition of the potential
function" (39). (45): P_0 = E F(x_0) + (β/α)E‖m_1 − ∇F(x_0)‖² + (2βC_g²L_g²/γ)E‖u_1 − g(x_0)‖².
(46) is 2(P_0 − F(x_*))/(βηT) with (45), (43) and (44).

**Kind.** Symbolic.
"""

from typing import NamedTuple

from sympy import symbols

from driftproof.toolkit.constants import Expression
from driftproof.toolkit.readings import Erratum, intended, literal
from driftproof.verifiers.algebra.symbolic import Step, vanishes
from driftproof.verifiers.claim_types.proof import proof

gap, first, inner, alpha, beta, gamma, eta, horizon = symbols(
    "Delta A_0 B_0 alpha beta gamma eta T", positive=True
)
C_f, C_g, L_f, L_g, sigma_f, sigma_g, delta = symbols(
    "C_f C_g L_f L_g sigma_f sigma_g delta_g", positive=True
)
POTENTIAL = gap + beta / alpha * first + 2 * beta * C_g**2 * L_f**2 / gamma * inner


class Share(NamedTuple):
    """What is left of the potential's start: L_g or L_f, and how often the errors count."""

    curvature: Expression
    factor: int

    @property
    def summed(self) -> Expression:
        """The part of (42) or (46) that P_0 gives, in A_0 and B_0."""
        return (
            2 * gap / (beta * eta * horizon)
            + self.factor * first / (alpha * eta * horizon)
            + 2 * self.factor * C_g**2 * self.curvature**2 * inner / (gamma * eta * horizon)
        )


@proof(
    name="scgdm/potential-sum",
    source="Local-SCGDM (2022), (42), (45), (46)",
    display=True,
    statement=r"\frac{2(P_0-F(x_*))}{\beta\eta T} = \frac{2(F(x_0)-F(x_*))}{\beta\eta T} + "
    r"\frac{\mathbb{E}\|m_1-\nabla F(x_0)\|^2}{\alpha\eta T} + \frac{2C_g^2L_g^2"
    r"\mathbb{E}\|u_1-g(x_0)\|^2}{\gamma\eta T}",
    readings={
        "(42)": literal(Share(L_g, 1), part="(42)"),
        "(42), with L_f and the factor of (46)": intended(
            Share(L_f, 2),
            part="(42)",
            quote="the potential, (14) and (39), has L_f², and (46), made from (42), the factor 2",
        ),
        "(46)": literal(Share(L_g, 2), part="(46)"),
        "(46), with L_f": intended(
            Share(L_f, 2), part="(46)", quote="the potential, (14) and (39), has L_f²"
        ),
    },
    erratum=Erratum(
        "misprint",
        changes="The third term of (6), (7) and (46) is 4C_g²L_f²δ_g²/(γηT), with L_f. With L_g it "
        "is 0 for linear g, and then nothing pays for the error of the first estimate.",
        depends="constant",
    ),
    corrected=Share(L_f, 2),
    correction="2P_0/(βηT) with P_0 of (39): 2A_0/(αηT) and 4C_g²L_f²B_0/(γηT).",
    false_siblings=[("L_f, but half of it", Share(L_f, 1)), ("L_f, but twice it", Share(L_f, 4))],
    explain=(
        "The third term of (6) comes from the potential, where it has L_f; the displays from (42)"
        " on print L_g. (42) also lost a factor of 2 that (46) has."
    ),
)
def summed_potential(right: Share) -> list[Step]:
    started = {
        first: 3 * (C_g**2 * sigma_f**2 + C_g**2 * L_f**2 * delta**2 + C_f**2 * sigma_g**2),
        inner: delta**2,
    }
    values = C_g**2 * right.curvature**2 * delta**2
    printed = (
        2 * gap / (beta * eta * horizon)
        + right.factor * started[first] / (alpha * eta * horizon)
        + 2 * right.factor * values / (gamma * eta * horizon)
    )
    return [
        vanishes(
            right.summed - 2 * POTENTIAL / (beta * eta * horizon),
            r"\tfrac{2}{\beta\eta T}\big(P_0-F(x_*)\big) \text{ as printed}",
        ),
        vanishes(
            right.summed.subs(started) - printed, r"\text{with (43) and (44) in place of } A_0, B_0"
        ),
    ]
