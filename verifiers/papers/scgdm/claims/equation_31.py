r"""The first equality of (31): a client's own inner function is inserted once, the mean never.

**Kind.** Symbolic, in one dimension: what is squared for client k before and after, in the values
g^(k)(x^(k); ξ), g^(k)(x^(k)) and g^(k)(x̄), and the means S(ξ), S of the first two and M of the
third over all clients.
"""

from collections.abc import Callable
from typing import TypeAlias

import sympy

from driftproof.toolkit.constants import Expression
from driftproof.toolkit.readings import Erratum, intended, literal
from driftproof.verifiers.algebra.symbolic import Step, vanishes
from driftproof.verifiers.claim_types.proof import proof

sampled, own, at_mean, S_sampled, S, M = sympy.symbols("g_xi g g_x S_xi S M", real=True)
Third: TypeAlias = Callable[[Expression, Expression, Expression], Expression]
"""From S, M and g^(k)(x̄) to what stands between the clients' differences and the means'."""


@proof(
    name="scgdm/equation-31",
    source="Local-SCGDM (2022), proof of Lemma A.1, the first equality of (31)",
    display=True,
    statement=r"g^{(k)}(x^{(k)};\xi)-S(\xi) = g^{(k)}(x^{(k)};\xi)-g^{(k)}(x^{(k)}) + g^{(k)}("
    r"x^{(k)})-g^{(k)}(\bar x) + S-S + S-S(\xi),\quad S = \tfrac1K\sum_{k'}g^{(k')}(x^{(k')})",
    readings={
        "S − S, as printed": literal(lambda mean, at, of_client: mean - mean),
        "the mean of the g^(k')(x̄), less S": intended(
            lambda mean, at, of_client: at - mean,
            quote="the next lines bound the third difference by C_g²‖x^{(k')} − x̄‖²",
        ),
    },
    erratum=Erratum(
        "false",
        changes="The third difference is g^(k)(x̄) − S, which contains the clients' spread at one "
        "point.",
        same_as="scgdm/lemma-a.1",
    ),
    corrected=lambda mean, at, of_client: of_client - mean,
    correction="The terms cancel in turn: g^(k)(x̄) is taken away and added again.",
    false_siblings=[
        ("twice it", lambda mean, at, of_client: 2 * (of_client - mean)),
        ("the other sign", lambda mean, at, of_client: mean - of_client),
    ],
    explain="What is inserted for client k is g^(k)(x̄), and what is taken out is the clients' "
    "mean at x̄: they are one for clients with one g.",
)
def inserted(third: Third) -> list[Step]:
    right = sampled - own + own - at_mean + third(S, M, at_mean) + S - S_sampled
    return [vanishes(sympy.expand(sampled - S_sampled - right), r"\text{left} = \text{right}")]
