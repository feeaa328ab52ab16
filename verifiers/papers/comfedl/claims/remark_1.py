"""Remark 1: ComFedL's rate.

**Kind.** Rate. For α1 = ½, α2 = α3 = 1 and τ = O(1) it is O(1/√T).

Why it follows: the first term of Theorem 1's bound is (F(w̄_0) − F*)T^{α1−1}; drift and smoothness
are constants times τT^{-α1}; the bias of the plug-in estimator is a constant times T^{-α2/2}.

**Floors.** (i) One client, no noise, F' = G beyond the knee δ of a Huber function, start D > δ:
each step moves by ηG, so the gradient is G in the first (D − δ)/(τηG) rounds: left ≥ G(D − δ)/(Tη),
which at η = T^{-1/2} is of order T^{-1/2}: the rate is attained and no better one holds. (ii) The
stuck estimator with b = 1: left = G² for every T: the minibatch has to grow.
"""

from driftproof.synthetic.problems.bounded_composition import BoundedComposition
from driftproof.toolkit.measure import Reduction, States
from driftproof.toolkit.readings import Erratum, intended, literal
from driftproof.verifiers.claim_types.derived import Derived
from driftproof.verifiers.claim_types.rate import rate
from driftproof.verifiers.papers.comfedl.claims import _remarks as remarks
from driftproof.verifiers.papers.comfedl.claims._theorem_bounds import largest, squared_gradient
from driftproof.verifiers.papers.comfedl.claims.assumptions import A1, A2, A3, A4

MINIBATCHES = {"b": remarks.a2, "b1": remarks.a3}
NOISY = BoundedComposition(
    heterogeneity=0.5, distance=3.0, inner_value_noise=0.2, outer_gradient_noise=0.2
)


@rate(
    name="comfedl/remark-1",
    source="ComFedL, arXiv v1 and v3, Remark 1",
    assumes=[A1, A2, A3, A4],
    statement=r"\eta=\frac1{T^{\alpha_1}},\; b=\frac1{T^{\alpha_2}},\; b_1=\frac1{T^{\alpha_3}}:"
    r"\quad\frac1S\sum_{s=0}^{S-1}\mathbb{E}\|\nabla F(\bar w_s)\|^2 \le "
    r"O(\order)",
    cases=[remarks.case(NOISY, steps, "general", outer_batch=steps) for steps in remarks.STEPS],
    full=[
        remarks.case(NOISY, steps, "general", outer_batch=steps)
        for steps in (8192, 16384, 32768, 65536)
    ],
    range=largest,
    readings={
        "minibatches of T^(-α) samples": literal(remarks.schedule(MINIBATCHES, -1)),
        "minibatches of T^α samples": intended(
            remarks.schedule(MINIBATCHES, 1),
            quote="Theorem 1's terms √5G_gσ/√b and √5G_fσ/√b_1 become the printed 1/T^{0.5α_2} and "
            "1/T^{0.5α_3} with b = T^{α_2} and b_1 = T^{α_3}, and with nothing else",
        ),
    },
    erratum=Erratum(
        "misprint",
        changes="The minibatches have to grow: b = T^{α2}, b1 = T^{α3}. T steps then cost T^{1+α2} "
        "samples a client, so the O(1/√T) at α2 = 1 is O(N^{-1/4}) in samples.",
        depends="theorem",
    ),
    horizon=remarks.T,
    derived=Derived("comfedl/theorem-1"),
    floors=remarks.FLOORS,
    false_siblings=remarks.false_siblings(MINIBATCHES),
    explain=remarks.explained("Theorem 1"),
)
def convergence_rate(view: States) -> Reduction:
    return squared_gradient(view)
