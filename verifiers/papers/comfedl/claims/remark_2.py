"""Remark 2: ComFedL's rate on the special problem.

**Kind.** Rate. For α1 = ½, α2 = 1 and τ = O(1) it is O(1/√T).

**Source.** Not in arXiv v3.
"""

from driftproof.synthetic.problems.bounded_composition import BoundedComposition
from driftproof.toolkit.measure import Reduction, States
from driftproof.toolkit.readings import Erratum, intended, literal
from driftproof.verifiers.claim_types.derived import Derived
from driftproof.verifiers.claim_types.rate import rate
from driftproof.verifiers.papers.comfedl.claims import _remarks as remarks
from driftproof.verifiers.papers.comfedl.claims._theorem_bounds import largest, squared_gradient
from driftproof.verifiers.papers.comfedl.claims.assumptions import A1, A2, A3, A4

MINIBATCHES = {"b": remarks.a2}
NOISY = BoundedComposition(distance=3.0, inner_heterogeneity=0.5, inner_value_noise=0.2)


@rate(
    name="comfedl/remark-2",
    source="ComFedL, arXiv v1, Remark 2",
    assumes=[A1, A2, A3, A4],
    statement=r"\eta=\frac1{T^{\alpha_1}},\; b=\frac1{T^{\alpha_2}}:"
    r"\quad\frac1S\sum_{s=0}^{S-1}\mathbb{E}\|\nabla F(\bar w_s)\|^2 \le "
    r"O(\order)",
    cases=[remarks.case(NOISY, steps, "special") for steps in remarks.STEPS],
    full=[remarks.case(NOISY, steps, "special") for steps in (8192, 16384, 32768)],
    range=largest,
    edition="ComFedL, arXiv v1",
    readings={
        "minibatches of T^(-α) samples": literal(remarks.schedule(MINIBATCHES, -1)),
        "minibatches of T^α samples": intended(
            remarks.schedule(MINIBATCHES, 1),
            quote="Theorem 2's terms 2G_gσ/√b and 2L_gG_fσ/√b become the printed 1/T^{0.5α_2} with "
            "b = T^{α_2}, and with nothing else",
        ),
    },
    erratum=Erratum(
        "misprint",
        changes="The minibatches have to grow: b = T^{α2}. T steps then cost T^{1+α2} samples a "
        "client.",
        same_as="comfedl/remark-1",
    ),
    horizon=remarks.T,
    derived=Derived("comfedl/theorem-2", "printed"),
    floors=remarks.FLOORS,
    false_siblings=remarks.false_siblings(MINIBATCHES),
    explain=remarks.explained("Theorem 2"),
)
def special_convergence_rate(view: States) -> Reduction:
    return squared_gradient(view)
