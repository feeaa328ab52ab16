"""Theorem 4.2: FedAvg with embeddings shared at every step.

**Kind.** Existence, by an explicit bound that tends to 0: with η ≤ 1/L_Φ,
(1/T) Σ_{t<T} ‖∇Φ(x̄^t)‖² ≤ 2(Φ(x̄⁰) − Φ*)/(ηT) + L_Φ²η²B_g²B_f²(I − 1)(2I − 1)/6, which at
η = T^{−1/2}, I = O(T^{1/4}) is O(T^{−1/2}).

**Readings.** As printed, for every f and g_k that meet 3.2–3.4, it is false: f(y) = −√(1 + y²),
g_k(x) = x ± 1 meets them, and no positive step sizes lead to its one stationary point
(``_escape``, a proof over all choices). As meant, Φ is bounded below, and "converge" is the
convergence of the mean over t that Theorem 5.1 bounds: no single iterate need converge.

**What tests the drift term.** On KL-penalised robust learning with clients that differ, I = 64 and
η just below 1/L_Φ, the left side exceeds the first term alone: without the second term the bound is
refuted. (There the second term itself is large, and the bound vacuous.)
"""

import sympy
from sympy import Rational, oo, symbols

from driftproof.synthetic.problems.averaged_composition import AveragedComposition
from driftproof.synthetic.problems.bias_amplification import BiasAmplification
from driftproof.synthetic.problems.penalised_dro import PenalisedDRO
from driftproof.toolkit.algorithms.compositional_fedavg import CompositionalFedAvg
from driftproof.toolkit.cases import Assumption, Case, grid
from driftproof.toolkit.constants import Expression, Letters, substituted
from driftproof.toolkit.measure import Reduction, States, average, sq
from driftproof.toolkit.parameters import sweep
from driftproof.toolkit.problem import Problem
from driftproof.toolkit.readings import ByProof, Erratum, Stated, intended, literal
from driftproof.verifiers.algebra.symbolic import Step, finite_limit, nonnegative, vanishes
from driftproof.verifiers.claim_types.bound import RightSide, bound
from driftproof.verifiers.papers import _proof_steps as elementary
from driftproof.verifiers.papers.feddro.claims import _escape
from driftproof.verifiers.papers.feddro.claims import assumptions as given

T = symbols("T", positive=True)
DIFFERENT = AveragedComposition(
    clients=2, dim=2, inner_dim=2, inner_heterogeneity=0.8, inner_curvature=1.0, inner_offset=1.0
)
SHARED = Assumption(
    "Theorem 4.2",
    "embeddings are shared at each step",
    applies=lambda case: case.algorithm.sharing == "every-step",
)
SMALL = Assumption(
    "Step size", r"\eta\le 1/L_\Phi", relation=lambda c: sympy.Le(c.eta * smooth(c), 1)
)


def smooth(c: Letters) -> Expression:
    """Return L_Φ of Lemma 3.5, h = 0."""
    return c.B_f * c.L_g + c.B_g**2 * c.L_f


def explicit(c: Letters, drift: Expression = 1, gap: Expression = 1) -> Expression:
    moved = (c.I - 1) * (2 * c.I - 1) / 6 * (smooth(c) * c.eta * c.B_g * c.B_f) ** 2
    return gap * 2 * c.Phi_gap / (c.eta * c.T) + drift * moved


def run(problem: Problem, steps: int, local_steps: int) -> Case[Problem, CompositionalFedAvg]:
    """Return the case with η = T^{−1/2}."""
    method = CompositionalFedAvg(
        local_steps=local_steps, step_size=steps**-0.5, sharing="every-step"
    )
    return Case(problem, method, steps // local_steps)


def bounded(right: RightSide) -> Stated[RightSide]:
    """Return a right side that is claimed for Φ bounded below and η ≤ 1/L_Φ."""
    return Stated(right, assumes=(given.BOUNDED_BELOW, SMALL))


def drifting(rounds: int) -> Case[PenalisedDRO, CompositionalFedAvg]:
    """Return robust learning on which 64 local steps of different clients leave a bias."""
    problem = PenalisedDRO(penalty=2.0, ball=2.5, heterogeneity=3.0)
    method = CompositionalFedAvg(local_steps=64, step_size=0.13, sharing="every-step")
    return Case(problem, method, rounds)


def _no_choice() -> list[Step]:
    """Return why no positive step sizes lead to the stationary point of ``_escape``'s problem."""
    return [
        *_escape.steps(),
        nonnegative(
            sympy.Rational(1, 5) - _escape.GRADIENT,
            r"\text{yet convergence asks for } \|\nabla\Phi(\bar x^t)\|^2 \le \tfrac15 "
            r"\text{ at some } \bar x^t = 2+u",
        ),
    ]


def largest(c: Letters) -> Expression:
    """‖∇Φ‖ is at most B_gB_f, without h."""
    return c.B_g**2 * c.B_f**2


def steps(right: RightSide) -> list[Step]:
    values = {letter: sympy.Integer(1) for letter in ("Phi_gap", "B_f", "L_g", "B_g", "L_f")}
    values |= {"eta": T ** Rational(-1, 2), "T": T, "I": T ** Rational(1, 4)}
    stated = substituted(right(Letters(dict(zip(values, values, strict=True)))), values)
    says = r"\eta=T^{-1/2},\, I=T^{1/4}: \text{ the bound tends to } 0 \text{ like } T^{-1/2}"
    scaled = stated * T ** Rational(1, 2)
    return [
        *(derivation() if right is explicit else []),
        finite_limit(scaled, T, oo, says, "√T times the bound (all constants 1)"),
        vanishes(stated.limit(T, oo), r"\lim_{T\to\infty} = 0"),
    ]


def derivation() -> list[Step]:
    """Return the derivation of the explicit bound."""
    own, mean, shared, there = symbols("J_k J f_1 f_2", commutative=False)
    c = elementary.POSITIVE
    j = symbols("j", positive=True)
    apart = sympy.summation((c.eta * j * c.B_g * c.B_f) ** 2, (j, 0, c.I - 1)) / c.I
    return [
        vanishes(
            own * shared - mean * there - ((own - mean) * shared + mean * (shared - there)),
            r"\nabla g_k(x_k)\nabla f(\bar y)-\nabla g_k(\bar x)\nabla f(g(\bar x)) = "
            r"(\nabla g_k(x_k)-\nabla g_k(\bar x))\nabla f(\bar y)+"
            r"\nabla g_k(\bar x)(\nabla f(\bar y)-\nabla f(g(\bar x)))",
        ),
        elementary.descent_along(),
        vanishes(
            explicit(c) - 2 * c.Phi_gap / (c.eta * c.T) - smooth(c) ** 2 * apart,
            r"\tfrac{2(\Phi(\bar x^0)-\Phi^*)}{\eta T}+L_\Phi^2\tfrac1I\textstyle\sum_{j<I}"
            r"(\eta jB_gB_f)^2 \text{ is the bound}",
        ),
    ]


@bound(
    name="feddro/theorem-4.2",
    kind="existence",
    source="FedDRO (2023), Theorem 4.2",
    assumes=[*given.ASSUMED, given.AVERAGED, SHARED],
    statement=r"1\le I\le\mathcal O(T^{1/4}):\quad \exists\,\eta^t>0:\; "
    r"\bar x^t \to \{x : \nabla\Phi(x)=0\} \text{ with } y_k^t=\bar y^t \text{ at each } t",
    cases=[
        *(run(BiasAmplification(at=2.0), p**4, p) for p in (2, 4, 10)),
        *(run(BiasAmplification(heterogeneity="offsets", at=2.0), p**4, p) for p in (2, 4, 10)),
        *(run(DIFFERENT, p**4, p) for p in (3, 6, 10)),
        *grid(
            BiasAmplification(at=-1.0),
            CompositionalFedAvg(local_steps=sweep(1, 16), step_size=0.2, sharing="every-step"),
            rounds=50,
        ),
        drifting(6),
    ],
    full=[run(DIFFERENT, p**4, p) for p in (14, 18)] + [run(BiasAmplification(at=2.0), 18**4, 18)],
    range=largest,
    readings={
        "every f and g_k": literal(ByProof(_no_choice)),
        "Φ is bounded below": intended(
            bounded(explicit),
            quote="Theorem 5.1's bound has Φ(x̄⁰) − Φ(x*); section 3: 'We instead rely on finding "
            "approximate stationary points of Φ(·)'",
        ),
    },
    erratum=Erratum(
        "incomplete",
        changes="Assume that Φ is bounded below, as losses are; and it is the mean of ‖∇Φ(x̄^t)‖² "
        "over t that converges, not each iterate.",
        depends="theorem",
    ),
    false_siblings=[
        ("a quarter of the first term", bounded(lambda c: explicit(c, gap=Rational(1, 4)))),
        ("a tenth of the first term", bounded(lambda c: explicit(c, gap=Rational(1, 10)))),
        ("without the drift term", bounded(lambda c: explicit(c, drift=0))),
    ],
    prove=steps,
    explain=(
        "x̄ moves along ∇Φ up to L_Φ times the clients' distance from x̄, since ȳ is the mean of "
        "the g_k(x_k): at most L_ΦηjB_gB_f after j local steps. With η = T^(−1/2) the mean "
        "squared gradient is O(T^(−1/2))."
    ),
)
def convergence(view: States) -> Reduction:
    return average("step", sq(view.gradient(view.mean("x"))))
