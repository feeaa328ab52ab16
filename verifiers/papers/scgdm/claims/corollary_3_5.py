r"""Corollary 3.5: Theorem 3.4 with the schedule η = T^{−1/2}, p = T^{1/4}.

**Kind.** Bound, on horizons T = p⁴ up to 104,976.

**Finding.** As Theorem 3.4: false with different clients, on Federated MAML too, in every reading.
The substitution itself is right: the last two terms of (7) are those of (6) at p²η² = T^{−1/2}.
"""

from sympy import And, Eq, Rational, sqrt
from sympy.logic.boolalg import Boolean

from driftproof.synthetic.problems.analytic_maml import AnalyticMAML
from driftproof.synthetic.problems.bias_amplification import BiasAmplification
from driftproof.synthetic.problems.bounded_composition import BoundedComposition
from driftproof.toolkit.cases import Assumption
from driftproof.toolkit.constants import Expression, Letters
from driftproof.toolkit.measure import Reduction, States
from driftproof.toolkit.readings import Erratum, Stated
from driftproof.verifiers.claim_types.bound import RightSide, bound
from driftproof.verifiers.papers.scgdm.claims import _theorem as theorem
from driftproof.verifiers.papers.scgdm.claims import assumptions as given

NOISY = BoundedComposition(
    clients=4,
    heterogeneity=1.0,
    inner_value_noise=0.2,
    inner_gradient_noise=0.2,
    outer_gradient_noise=0.2,
    inner_curvature=0.5,
)
DIFFERENT = BiasAmplification(objective_of="client-wise", at=1.0)
META = AnalyticMAML(clients=3, adaptation=0.5, heterogeneity=3.0, distance=2.0)
"""Federated MAML: three clients with one cosine task each, at 3, −3 and 0."""
FIRST = BoundedComposition(clients=1, inner_value_noise=1.0, outer_slope=3.0, distance=0.0)
QUIET = BoundedComposition(heterogeneity=1.0)


def on_schedule(c: Letters) -> Boolean:
    """Return the relations η = T^{−1/2} and p = T^{1/4}."""
    return And(Eq(c.eta, 1 / sqrt(c.T)), Eq(c.p**4, c.T))


SCHEDULE = Assumption("Corollary 3.5", r"\eta=T^{-1/2},\;p=T^{1/4}", relation=on_schedule)


def scheduled(right: RightSide) -> RightSide:
    """Put the schedule into a right side of Theorem 3.4."""

    def at_horizon(c: Letters) -> Expression:
        return right(c).subs({c.eta: 1 / sqrt(c.T), c.p: c.T ** Rational(1, 4)})

    return at_horizon


def faster(c: Letters) -> Expression:
    """Return a right side that falls like 1/T, and is the corrected one at T = 16."""
    return scheduled(theorem.corrected)(c) / sqrt(c.T) * 4


@bound(
    name="scgdm/corollary-3.5",
    source="Local-SCGDM (2022), Corollary 3.5 (7)",
    assumes=[*given.ASSUMED, given.STEP_SIZE, given.STEP_FACTOR, given.SMALL_STEP, SCHEDULE],
    statement=r"\eta=T^{-1/2},\,p=T^{1/4}:\quad \frac1T\sum_{t=0}^{T-1}\mathbb{E}\|\nabla F("
    r"\bar x_t)\|^2 \le \frac{2(F(x_0)-F(x_*))}{\beta\sqrt T} + \frac{6(C_g^2\sigma_f^2+"
    r"C_g^2L_f^2\delta_g^2+C_f^2\sigma_g^2)}{\alpha\sqrt T} + \frac{4C_g^2L_g^2\delta_g^2}"
    r"{\gamma\sqrt T} + \frac{2\gamma C_g^2L_f^2\delta_g^2}{\sqrt T} + \frac{2\alpha(C_g^2"
    r"\sigma_f^2+C_f^2\sigma_g^2)}{\sqrt T} + \frac{2\gamma^2C_g^2L_f^2\delta_g^2}{T} + "
    r"\frac{32\beta^2L_F^2(16C_g^2L_f^2\delta_g^2+C_g^2\sigma_f^2+3C_f^2\sigma_g^2)}{\sqrt T}",
    cases=[
        theorem.scheduled_case(DIFFERENT, 10),
        theorem.scheduled_case(FIRST, 10, alpha=99.0, gamma=0.1),
        *(theorem.scheduled_case(NOISY, p) for p in (2, 4, 6)),
        *(theorem.scheduled_case(QUIET, p) for p in (2, 4, 10)),
        theorem.scheduled_case(DIFFERENT, 10, averaged="mx"),
        theorem.scheduled_case(META, 8),
        theorem.scheduled_case(META, 8, averaged="mx"),
    ],
    full=(
        [theorem.scheduled_case(NOISY, p) for p in (8, 10, 14)]
        + [theorem.scheduled_case(QUIET, p) for p in (18, 24, 32)]
        + [
            theorem.scheduled_case(DIFFERENT, 18),
            theorem.scheduled_case(DIFFERENT, 18, averaged="mx"),
        ]
        + [theorem.scheduled_case(META, 16), theorem.scheduled_case(META, 16, averaged="mx")]
    ),
    range=theorem.largest_squared_gradient,
    readings=theorem.readings(scheduled(theorem.printed), scheduled(theorem.mended)),
    erratum=Erratum(
        "false",
        changes="It has the mistakes of Theorem 3.4; the schedule is inserted correctly.",
        same_as="scgdm/theorem-3.4",
    ),
    corrected=Stated(scheduled(theorem.corrected), assumes=theorem.VALID),
    correction=(
        "The corrected form of Theorem 3.4 (scgdm/theorem-3.4), whose proof has no condition on p."
    ),
    false_siblings=[
        ("a faster rate, 1/T", Stated(faster, assumes=theorem.VALID)),
        *theorem.corrected.controls(
            {"the gap": Rational(2, 5), ("the first estimate in m", "the first estimate in u"): 0},
            assumes=theorem.VALID,
            form=scheduled,
        ),
    ],
    explain=(
        "The schedule is put in correctly, but into a bound that is false as printed; with the "
        "corrected Theorem 3.4 it holds, at every T = p⁴ that was run up to 104,976."
    ),
)
def convergence_on_the_schedule(view: States) -> Reduction:
    return theorem.mean_squared_gradient(view)
