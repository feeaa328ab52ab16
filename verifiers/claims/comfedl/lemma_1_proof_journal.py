r"""The displays of Lemma 1's proof, as the journal version prints them.

**Statement.** (15) ∂L/∂r_i = f^i − γ log(r_i n) − γ + λ, and (16)–(21) from it.

**Kind.** Symbolic.

**Source.** 001, (14)–(21).
"""

from typing import Any

from verifiers.claim_types.proof import proof
from verifiers.claims.comfedl._lemma_1_proof import displays, gamma, n
from verifiers.symbolic import Step


@proof(
    name="comfedl/lemma-1-proof-journal",
    source="001, proof of Lemma 1, (14)–(21)",
    statement=r"\frac{\partial L(w,r,\lambda)}{\partial r_i} = f^i(w) - \gamma\log(r_in) - "
    r"\gamma + \lambda = 0,\quad r_i = \frac1n\exp\Big(\frac\lambda\gamma - "
    r"1\Big)\exp(f^i(w)/\gamma)",
    edition="001",
    right=gamma,
    false_siblings=[("the preprint's term", gamma / n), ("without the term", 0 * gamma)],
)
def displays_holds(right: Any) -> list[Step]:
    return displays(right, first=15)
