"""The displays of Lemma 1's proof, as the journal version prints them.

**Kind.** Symbolic: (15), and (16)–(21) from it.
"""

from driftproof.toolkit.constants import Expression
from driftproof.verifiers.algebra.symbolic import Step
from driftproof.verifiers.claim_types.proof import proof
from driftproof.verifiers.papers.comfedl.claims._lemma_1_proof import displays, gamma, n


@proof(
    name="comfedl/lemma-1-proof-journal",
    source="ComFedL, arXiv v3, proof of Lemma 1, (14)–(21)",
    display=True,
    statement=r"\frac{\partial L(w,r,\lambda)}{\partial r_i} = f^i(w) - \gamma\log(r_in) - "
    r"\gamma + \lambda = 0,\quad r_i = \frac1n\exp\Big(\frac\lambda\gamma - "
    r"1\Big)\exp(f^i(w)/\gamma)",
    edition="ComFedL, arXiv v3",
    right=gamma,
    false_siblings=[("the preprint's term", gamma / n), ("without the term", 0 * gamma)],
)
def lagrangian(term: Expression) -> list[Step]:
    return displays(term, first=15)
