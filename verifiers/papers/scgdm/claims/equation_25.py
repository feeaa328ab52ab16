r"""The fourth equality of (25): the square is split as if its two halves were uncorrelated.

With A the past's part of m_{t+1} − ∇F(x_t), B = vᵀ(∇f(u; ζ) − ∇f(u)), C = vᵀ(∇f(u) − ∇f(g)) and D =
(v − ∇g)ᵀ∇f(g), where v = ∇g(x_t; ξ_t) and u = u_{t+1}, (25) says E‖A + αη(B + C + D)‖² = E‖A +
αηC‖² + α²η²E‖B + D‖².

**Kind.** Symbolic, for one client in one dimension: g(x; ξ) = (1 + sξ)x at x_t = 1 with a coin ξ =
±1, f'(y) = y where the run stays, no ζ. u_t = 1 + d and A are any numbers that the past has left.
"""

from typing import NamedTuple

import sympy

from driftproof.toolkit.readings import Erratum, intended, literal
from driftproof.verifiers.algebra.symbolic import Step, vanishes
from driftproof.verifiers.claim_types.proof import proof

a, c, s = sympy.symbols("a c s", positive=True)  # αη, γη and the size of the noise
A, d = sympy.symbols("A d", real=True)


class Split(NamedTuple):
    """How the square is split: whether g and ∇g have one sample, and how often E CD is added."""

    one_sample: bool
    cross: int = 0


@proof(
    name="scgdm/equation-25",
    source="Local-SCGDM (2022), proof of Lemma 4.1, the fourth equality of (25)",
    display=True,
    statement=r"\mathbb{E}\|A+\alpha\eta(B+C+D)\|^2 = \mathbb{E}\|A+\alpha\eta C\|^2 + "
    r"\alpha^2\eta^2\mathbb{E}\|B+D\|^2",
    readings={
        "one ξ_t for g and ∇g, as in Algorithm 1": literal(Split(True)),
        "two samples": intended(
            Split(False), quote="(25) writes v_t with ξ_t, and (26) g with a ξ that has no index"
        ),
    },
    erratum=Erratum(
        "false",
        changes="The cross term 2α²η²E⟨C, D⟩ is missing: both C and D contain v_t. Lemma 4.1 does "
        "not need the step, as its corrected form is proved without it.",
        depends="step",
    ),
    corrected=Split(True, cross=2),
    correction="B is centred given the rest and A is of the past; of the products E⟨C, D⟩ is left.",
    false_siblings=[
        ("half of the cross term", Split(True, cross=1)),
        ("twice the cross term", Split(True, cross=4)),
    ],
    explain="The printed reason, E v_t = ∇g(x_t), makes D centred, but C is a function of v_t too.",
)
def split(of: Split) -> list[Step]:
    """Return the step, with the mean over the coins of g and of ∇g."""
    coins = [(x, x if of.one_sample else y) for x in (1, -1) for y in (1, -1)]
    left = right = product = sympy.Integer(0)
    for of_jacobian, of_value in coins:
        v, u = 1 + s * of_jacobian, (1 - c) * (1 + d) + c * (1 + s * of_value)
        first, second = v * (u - 1), v - 1
        left += (A + a * (first + second)) ** 2 / 4
        right += ((A + a * first) ** 2 + (a * second) ** 2) / 4
        product += first * second / 4
    says = r"\mathbb{E}\|A+\alpha\eta(C+D)\|^2 = \mathbb{E}\|A+\alpha\eta C\|^2 + \alpha^2\eta^2"
    return [
        vanishes(sympy.expand(left - right - of.cross * a**2 * product), rf"{says}\mathbb{{E}}D^2")
    ]
