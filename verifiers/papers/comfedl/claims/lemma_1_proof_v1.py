"""The displays of Lemma 1's proof, as the preprint prints them.

**Kind.** Symbolic: (18), and (19)–(24) from it.
"""

from driftproof.toolkit.constants import Expression
from driftproof.toolkit.readings import Erratum
from driftproof.verifiers.algebra.symbolic import Step
from driftproof.verifiers.claim_types.proof import proof
from driftproof.verifiers.papers.comfedl.claims._lemma_1_proof import displays, gamma, n


@proof(
    name="comfedl/lemma-1-proof-v1",
    source="ComFedL, arXiv v1, proof of Lemma 1, (16)–(24)",
    display=True,
    statement=r"\frac{\partial L(w,r,\lambda)}{\partial r_i} = f^i(w) - \gamma\log(r_in) - "
    r"\frac{\gamma}{n} + \lambda = 0,\quad r_i = \frac1n\exp\Big(\frac\lambda\gamma - "
    r"\frac1n\Big)\exp(f^i(w)/\gamma)",
    edition="ComFedL, arXiv v1",
    right=gamma / n,
    erratum=Erratum(
        "false",
        changes="Lemma 1 is not affected. Only the multiplier λ of the proof is wrong, by γ − γ/n. "
        "The journal version has the right derivative.",
        depends="nothing",
    ),
    corrected=gamma,
    correction=(
        "d/dr [γ r log(rn)] = γ log(rn) + γ, so the term is γ, as the journal version prints. "
        "(19) and the middle of (24) then have γ in place of γ/n, (20) to (23) have 1 in the "
        "place of 1/n; the value in (24) stays."
    ),
    false_siblings=[("without the term", 0 * gamma), ("n times the term", n * gamma)],
    explain=(
        "The first display has γ/n where the derivative gives γ. The multiplier is then wrong by "
        "the same amount, the maximiser and the value are not: Lemma 1 holds."
    ),
)
def lagrangian(term: Expression) -> list[Step]:
    return displays(term, first=18)
