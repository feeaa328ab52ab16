r"""Remark 3.6: α = γ = 1.

**Kind.** Rate. The β is the largest that Theorem 3.4 admits at α = γ = 1, by algebra.

**Floors.** (i) ``bias-amplification``, F client-wise, without noise. As T grows, pη → 0, all u_k
come together and (x̄, ū, m̄) follows x' = −βm, u' = γ((x + 1)/2 − u), m' = α(u/2 − m) in the time
ηt ≤ √T. Its characteristic polynomial s³ + (α + γ)s² + αγs + αγβ/4 is stable for β < 4(α + γ), so
x → −1, the minimiser of FedDRO's Φ, where ‖∇F‖² = 9. (ii) One client far out on a line of slope 1:
x moves by at most βη a step, so the gradient stays 1 in the first D/(βη) of T steps.
"""

from sympy import Rational, Symbol, log, sqrt, symbols

from driftproof.synthetic.problems.bounded_composition import BoundedComposition
from driftproof.toolkit.measure import Reduction, States
from driftproof.toolkit.readings import Erratum, literal, narrower
from driftproof.verifiers.algebra.symbolic import Step, vanishes
from driftproof.verifiers.claim_types.derived import Derived
from driftproof.verifiers.claim_types.rate import Floor, Schedule, rate
from driftproof.verifiers.papers.scgdm.claims import _theorem as theorem
from driftproof.verifiers.papers.scgdm.claims import assumptions as given

T = symbols("T", positive=True)
ORDER = T ** Rational(-1, 2)
NOISY = BoundedComposition(
    clients=4, heterogeneity=1.0, inner_value_noise=0.1, outer_gradient_noise=0.1, distance=3.0
)
LETTERS = {"eta": T ** Rational(-1, 2), "p": T ** Rational(1, 4)}

FLOORS = [
    Floor(
        "clients with different g tend to x = −1, where the squared gradient is 9",
        lambda at: 8 + 0 * T if "different_g" in at else None,
    ),
    Floor("a line of slope 1, D/β = 1", lambda at: 1 / (T * at["eta"])),
]


def largest_step_factor(right: Schedule) -> list[Step]:
    """Return the step that the remark's β is the largest, whatever the order."""
    curved, whole = (Symbol(name, positive=True) for name in ("X", "L_F"))
    largest = sqrt(Rational(1, 8) / (curved + curved + whole**2))
    says = r"\beta \text{ is the largest of Theorem 3.4 at } \alpha=\gamma=1,\; X=C_g^4L_f^2"
    return [vanishes(1 / sqrt(16 * curved + 8 * whole**2) - largest, says)]


@rate(
    name="scgdm/remark-3.6",
    source="Local-SCGDM (2022), Remark 3.6",
    assumes=[*given.ASSUMED],
    statement=r"\alpha=\gamma=1,\;\beta=\frac1{\sqrt{16C_g^4L_f^2+8L_F^2}}:\quad "
    r"\frac1T\sum_{t=0}^{T-1}\mathbb{E}\|\nabla F(\bar x_t)\|^2 \le O(\order)",
    cases=[theorem.scheduled_case(NOISY, p) for p in (4, 6, 8, 10, 12, 14, 16, 18, 20)],
    full=[theorem.scheduled_case(NOISY, p) for p in (24, 28, 32)],
    range=theorem.largest_squared_gradient,
    readings={
        "clients with one g": narrower(
            Schedule(LETTERS, ORDER), why="the paper's clients have different g"
        ),
        "any clients": literal(Schedule(LETTERS | {"different_g": 1}, ORDER)),
    },
    erratum=Erratum(
        "false",
        changes="The rate holds with two independent samples a step, if the clients share one g or "
        "u stays on its client. For clients with different g, and with the one sample that "
        "Algorithm 1 prints, the squared gradient need not go to 0 at all.",
        same_as="scgdm/theorem-3.4",
    ),
    horizon=T,
    derived=Derived("scgdm/theorem-3.4"),
    floors=FLOORS,
    false_siblings=[
        ("faster by T^{1/10}", Schedule(LETTERS, T ** Rational(-3, 5))),
        ("faster by a logarithm", Schedule(LETTERS, ORDER / log(T))),
    ],
    prove=largest_step_factor,
    corrected=Schedule(LETTERS, ORDER),
    correction=(
        "Put η = T^{−1/2}, p = T^{1/4} into the corrected Theorem 3.4, for two samples and "
        "clients with one g (or u kept on its client): its drift term is (4/3)(p − 1)(2p − "
        "1)β²η²L_F²C_g²C_f² = O(p²η²) = O(T^{−1/2}); the others are O(1/(ηT)) and O(η)."
    ),
    explain=(
        "β is what Theorem 3.4 gives, and the order follows from its corrected form; the printed "
        "theorem, from which the paper takes it, is false."
    ),
)
def convergence_at_constant_factors(view: States) -> Reduction:
    return theorem.mean_squared_gradient(view)
