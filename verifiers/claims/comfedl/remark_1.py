r"""Remark 1: ComFedL's rate.

**Statement.** With η = 1/T^{α1}, 0 < α1 ≤ 1, b = 1/T^{α2}, b1 = 1/T^{α3}, α2, α3 > 0:
(1/S) Σ E‖∇F(w̄_s)‖² ≤ O(1/T^{1−α1} + τ/T^{α1} + 1/T^{0.5α2} + 1/T^{0.5α3}); for α1 = ½,
α2 = α3 = 1 and τ = O(1) this is O(1/√T).

**Kind.** Rate.

**Finding.** A misprint, in both editions: b = 1/T^{α2} is a minibatch of less than one sample, and
the hypothesis is empty for T > 1. b = T^{α2}, b1 = T^{α3} (rounded up) are meant: Theorem 1's noise
terms are constants times 1/√b and 1/√b1, and the printed order has 1/T^{0.5α2} and 1/T^{0.5α3} for
them. So read, every term of Theorem 1's corrected bound is a term of the order. The price is not in
the print: T steps then cost T^{1+α2} inner samples a client, so the rate in samples is O(N^{-1/4})
at α2 = 1. Theorem 1 asks for b = b1, hence α2 = α3; its proof does not.

Why it follows: the first term of Theorem 1's bound is (F(w̄_0) − F*)T^{α1−1}; drift and smoothness
are constants times τT^{-α1}; the bias of the plug-in estimator is a constant times T^{-α2/2}.

**Floors.** (i) One client, no noise, F' = G beyond the knee δ of a Huber function, start D > δ:
each step moves by ηG, so the gradient is G in the first (D − δ)/(τηG) rounds: left ≥ G(D − δ)/(Tη),
which at η = T^{-1/2} is of order T^{-1/2}: the rate is attained and no better one holds. (ii) The
stuck estimator with b = 1: left = G² for every T: the minibatch has to grow.
"""

from sympy import Rational, Symbol, log, symbols

from synthetic.problems.bounded_composition import BoundedComposition
from toolkit.algorithms.comfedl import ComFedL
from toolkit.cases import Case
from toolkit.constants import Expression, Letters
from toolkit.measure import Reduction, View, average, sq
from toolkit.readings import Erratum, intended, literal
from verifiers.claim_types.rate import Floor, Schedule, rate
from verifiers.claims.comfedl.assumptions import A1, A2, A3, A4
from verifiers.derived import Derived

T, a1, a2, a3 = symbols("T alpha_1 alpha_2 alpha_3", positive=True)
TAU = Symbol("tau", positive=True)
ORDER = T ** (a1 - 1) + TAU * T**-a1 + T ** (-a2 / 2) + T ** (-a3 / 2)
FLOORS = [
    Floor("Huber slope, G = 1 and D − δ = 1", lambda at: 1 / (T * at["eta"])),
    Floor("stuck estimator, G = 1", lambda at: 1 + 0 * T if at["b"] == 1 else None),
]


def instance(steps):
    """Return the noisy instance that attains the rate: η = T^{-1/2}, b = b1 = T, τ = 2."""
    return Case(
        BoundedComposition(
            heterogeneity=0.5, distance=3.0, inner_value_noise=0.2, outer_gradient_noise=0.2
        ),
        ComFedL(local_steps=2, step_size=steps**-0.5, batch=steps, outer_batch=steps),
        rounds=steps // 2,
    )


def most(c: Letters) -> Expression:
    return (c.G_f * c.G_g) ** 2


@rate(
    name="comfedl/remark-1",
    source="000 and 001, Remark 1",
    assumes=[A1, A2, A3, A4],
    statement=r"\eta=\frac1{T^{\alpha_1}},\; b=\frac1{T^{\alpha_2}},\; b_1=\frac1{T^{\alpha_3}}:"
    r"\quad\frac1S\sum_{s=0}^{S-1}\mathbb{E}\|\nabla F(\bar w_s)\|^2 \le "
    r"O(\order)",
    cases=[instance(steps) for steps in (64, 128, 256, 512, 1024, 2048, 4096)],
    full=[instance(steps) for steps in (8192, 16384, 32768, 65536)],
    range=most,
    readings={
        "minibatches of T^(-α) samples": literal(
            Schedule({"eta": T**-a1, "b": T**-a2, "b1": T**-a3}, ORDER, counts=("b", "b1"))
        ),
        "minibatches of T^α samples": intended(
            Schedule({"eta": T**-a1, "b": T**a2, "b1": T**a3}, ORDER, counts=("b", "b1")),
            quote="Theorem 1's terms √5G_gσ/√b and √5G_fσ/√b_1 become the printed 1/T^{0.5α_2} and "
            "1/T^{0.5α_3} with b = T^{α_2} and b_1 = T^{α_3}, and with nothing else",
        ),
    },
    erratum=Erratum(
        "misprint",
        changes="The minibatches have to grow: b = T^{α2}, b1 = T^{α3}. T steps then cost T^{1+α2} "
        "samples a client, so the O(1/√T) at α2 = 1 is O(N^{-1/4}) in samples.",
    ),
    horizon=T,
    derived=Derived("comfedl/theorem-1"),
    floors=FLOORS,
    false_siblings=[
        (
            "faster by T^{1/10}",
            Schedule({"eta": T**-a1, "b": T**a2, "b1": T**a3}, T ** Rational(-3, 5)),
        ),
        (
            "faster by a logarithm",
            Schedule({"eta": T**-a1, "b": T**a2, "b1": T**a3}, T ** Rational(-1, 2) / log(T)),
        ),
        ("one sample is enough", Schedule({"eta": T**-a1, "b": 1, "b1": 1}, T ** Rational(-1, 2))),
    ],
    explain=(
        "A minibatch of 1/T samples does not exist, so the remark as printed speaks of nothing. "
        "With b = T, which is plainly meant, it follows from Theorem 1, and T^(-1/2) is attained."
    ),
)
def convergence_rate(view: View) -> Reduction:
    return average("round", sq(view.gradient(view.round_start("w"))))
