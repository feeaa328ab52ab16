"""The displays of Theorem 2's proof: as of Theorem 1's, with Lemma 4 in place of Lemma 3.

**Source.** The proof of Theorem 4 (which is Theorem 2 again); not in arXiv v3.
"""

from sympy import sqrt

from driftproof.toolkit.constants import Expression
from driftproof.verifiers.algebra.symbolic import Step
from driftproof.verifiers.claim_types.proof import proof
from driftproof.verifiers.papers.comfedl.claims._theorem_proof import c, displays, sigma
from driftproof.verifiers.papers.comfedl.claims.lemma_4 import four_terms

DRIFT = 2 * sqrt(c.G_g**2 * c.L_f**2 + c.G_f**4 * c.L_g**2) * c.tau * c.eta * c.G_g * c.G_f
NOISE = 2 * (c.G_g + c.L_g * c.G_f) * sigma / sqrt(c.b)


@proof(
    name="comfedl/theorem-2-proof",
    source="ComFedL, arXiv v1, (39), (40)",
    display=True,
    statement=r"\sqrt{\mathbb{E}\|\bar u_{s,t}-U_{s,0}\|^2} \le 2\sqrt{G_g^2L_f^2+G_f^4L_g^2}"
    r"\tau\eta G_gG_f + \frac{2G_g\sigma}{\sqrt b} + \frac{2L_gG_f\sigma}{\sqrt b}",
    edition="ComFedL, arXiv v1 (39), (40)",
    right=DRIFT + NOISE,
    false_siblings=[("half of the drift", DRIFT / 2 + NOISE), ("without the noise", DRIFT)],
)
def sum_of_roots(right: Expression) -> list[Step]:
    return displays(right, four_terms)
