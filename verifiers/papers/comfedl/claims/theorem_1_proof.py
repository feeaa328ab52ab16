"""The displays of Theorem 1's proof: one step of the descent inequality and what bounds it.

Its inner product is split in three; Cauchy–Schwarz, Jensen, Lemmas 2 and 3, and a sum over s and t.

**Source.** In arXiv v1 it is the proof of Theorem 3 (which is Theorem 1 again).

**Finding.** The proof holds, display by display, with the sum of roots that it prints. The product
that the theorem prints in its place is not what the proof gives: the root of Lemma 3's bound is not
at most that product. In arXiv v1 (33) and (34) a bracket closes a line too early; that is how the
text was converted.
"""

from sympy import sqrt

from driftproof.toolkit.constants import Expression
from driftproof.verifiers.algebra.symbolic import Step
from driftproof.verifiers.claim_types.proof import proof
from driftproof.verifiers.papers.comfedl.claims._theorem_proof import c, displays, sigma
from driftproof.verifiers.papers.comfedl.claims.lemma_3 import five_terms

DRIFT = sqrt(5 * (c.G_g**2 * c.L_f**2 + c.G_f**4 * c.L_g**2)) * c.tau * c.eta * c.G_g * c.G_f
OUTER = sqrt(5) * c.G_f * sigma / sqrt(c.b1)
INNER = sqrt(5) * (c.G_g + c.L_g * c.G_f) * sigma / sqrt(c.b)


@proof(
    name="comfedl/theorem-1-proof",
    source="ComFedL, arXiv v1, (32)–(34); v3, (27)–(29)",
    display=True,
    statement=r"\sqrt{\mathbb{E}\|\bar u_{s,t}-U_{s,0}\|^2} \le \sqrt{5(G_g^2L_f^2+G_f^4L_g^2)}"
    r"\tau\eta G_gG_f + \frac{\sqrt5G_f\sigma}{\sqrt{b_1}} + \frac{\sqrt5G_g\sigma}{\sqrt b} + "
    r"\frac{\sqrt5L_gG_f\sigma}{\sqrt b}",
    edition="ComFedL, arXiv v1 (32)–(34); v3 (27)–(29)",
    right=DRIFT + OUTER + INNER,
    false_siblings=[
        ("the product that Theorem 1 prints", DRIFT * OUTER + INNER),
        ("without the outer noise", DRIFT + INNER),
        ("half of the drift", DRIFT / 2 + OUTER + INNER),
    ],
    explain="The proof holds as printed, and shows the plus sign that the theorem lacks.",
)
def sum_of_roots(right: Expression) -> list[Step]:
    return displays(right, five_terms)
