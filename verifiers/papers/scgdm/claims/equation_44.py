r"""(44): the error of the first estimate is said to be δ_g².

**Kind.** Symbolic, g(x; ξ) = x + ξ sin x with a coin ξ = ±1: its variance at x_0 is sin² x_0, and
the least δ_g² of Assumption 3.3, which holds for all x, is 1.
"""

from collections.abc import Callable
from typing import TypeAlias

import sympy

from driftproof.toolkit.constants import Expression
from driftproof.toolkit.readings import Erratum, intended, literal
from driftproof.verifiers.algebra.symbolic import Step, nonnegative, vanishes
from driftproof.verifiers.claim_types.proof import proof

x_0 = sympy.Symbol("x_0", real=True)
VARIANCE, BOUND = sympy.sin(x_0) ** 2, sympy.Integer(1)
Says: TypeAlias = Callable[[Expression, Expression], Step]
"""From the two sides to the step."""


def equal(left: Expression, right: Expression) -> Step:
    return vanishes(left - right, r"\mathbb{E}\|u_1-g(x_0)\|^2 = \delta_g^2")


def at_most(left: Expression, right: Expression) -> Step:
    says = r"\mathbb{E}\|u_1-g(x_0)\|^2 \le \delta_g^2"
    return nonnegative(sympy.trigsimp(right - left), says)


@proof(
    name="scgdm/equation-44",
    source="Local-SCGDM (2022), (44)",
    display=True,
    statement=r"\mathbb{E}\|u_1^{(k)}-g^{(k)}(x_0)\|^2 = \mathbb{E}\|g^{(k)}(x_0;\xi_0^{(k)})-"
    r"g^{(k)}(x_0)\|^2 = \delta_g^2",
    readings={
        "equal": literal(equal),
        "at most": intended(
            at_most, quote="Assumption 3.3 bounds the variance, and (45) is an inequality"
        ),
    },
    erratum=Erratum(
        "misprint", changes="Read “at most” for the last sign of (44).", depends="nothing"
    ),
    false_siblings=[
        ("at most half of it", lambda left, right: at_most(left, right / 2)),
        ("at least it", lambda left, right: at_most(right, left)),
    ],
    explain="A bound on a variance for all x is attained at some x, and not at every x_0.",
)
def first_estimate(says: Says) -> list[Step]:
    return [says(VARIANCE, BOUND)]
