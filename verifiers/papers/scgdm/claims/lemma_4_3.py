r"""Lemma 4.3: the consensus error of the models.

**Kind.** Bound; both sides are divided by T.
"""

from dataclasses import replace

from sympy import Rational, summation, symbols

from driftproof.synthetic.problems.bias_amplification import BiasAmplification
from driftproof.synthetic.problems.bounded_composition import BoundedComposition
from driftproof.toolkit.algorithms.local_scgdm import LocalSCGDM
from driftproof.toolkit.cases import grid
from driftproof.toolkit.constants import Expression, Letters
from driftproof.toolkit.measure import Reduction, Steps, average, sq
from driftproof.toolkit.parameters import sweep
from driftproof.toolkit.readings import Erratum, Stated, literal, narrower
from driftproof.verifiers.algebra.symbolic import Step, vanishes
from driftproof.verifiers.claim_types.bound import RightSide, bound
from driftproof.verifiers.papers import _proof_steps as elementary
from driftproof.verifiers.papers.scgdm.claims import assumptions as given

PULLED = BoundedComposition(
    outer_slope=1e-6, opposition_slope=1.0, opposition_curvature=1e-3, opposition_centre=5e3
)
QUIET = BoundedComposition(distance=0.7)
NOISY = replace(
    QUIET,
    dim=2,
    inner_dim=2,
    inner_value_noise=0.2,
    inner_gradient_noise=0.2,
    outer_gradient_noise=0.2,
)


def printed(c: Letters) -> Expression:
    """Return (13) over T."""
    spread = (c.p * c.beta * c.eta) ** 2 * c.K
    values = 256 * c.C_g**2 * c.L_f**2 * c.delta_g**2
    return spread * (values + 16 * c.C_g**2 * c.sigma_f**2 + 48 * c.C_f**2 * c.sigma_g**2)


def mended(c: Letters) -> Expression:
    squares = (c.p - 1) * (2 * c.p - 1) / 6
    return c.K * squares * (c.beta * c.eta * c.C_g * c.C_f) ** 2


def steps(right: RightSide) -> list[Step]:
    """Return the derivation of the corrected form."""
    if right is not mended:
        return []
    a, x, y = symbols("a x y", real=True)
    c, j = elementary.POSITIVE, symbols("j", positive=True)
    most = (j * c.beta * c.eta * c.C_g * c.C_f) ** 2
    return [
        vanishes(
            (1 - a) * x**2 + a * y**2 - ((1 - a) * x + a * y) ** 2 - a * (1 - a) * (x - y) ** 2,
            r"(1-a)\|m\|^2+a\|z\|^2-\|(1-a)m+az\|^2 = a(1-a)\|m-z\|^2 \ge 0, \text{ so }"
            r"\mathbb{E}\|m\|^2 \le C_g^2C_f^2",
        ),
        elementary.squares_of_a_sum(3, 3),
        vanishes(
            right(c) - c.K * summation(most, (j, 0, c.p - 1)) / c.p,
            r"K\cdot\tfrac1p\sum_{j<p}(j\beta\eta C_gC_f)^2 \text{ is the right side}",
        ),
    ]


def largest_consensus_error(c: Letters) -> Expression:
    return c.K * (2 * (c.p - 1) * c.beta * c.eta * c.G_g * c.G_f) ** 2


@bound(
    name="scgdm/lemma-4.3",
    source="Local-SCGDM (2022), Lemma 4.3 (13), (37)",
    assumes=[*given.ASSUMED, given.TWO_SAMPLES, given.STEP_SIZE, given.MODELS_AVERAGED],
    statement=r"\sum_{t=0}^{T-1}\sum_{k=1}^K\mathbb{E}\|\bar x_t-x_t^{(k)}\|^2 \le "
    r"256TKp^2\beta^2\eta^2C_g^2L_f^2\delta_g^2 + 16TKp^2\beta^2\eta^2C_g^2\sigma_f^2 + "
    r"48TKp^2\beta^2\eta^2C_f^2\sigma_g^2",
    cases=[
        *grid(
            PULLED, LocalSCGDM(local_steps=sweep(2, 8), step_size=0.1, step_factor=0.1), rounds=1
        ),
        *grid(
            BiasAmplification(objective_of="client-wise"),
            LocalSCGDM(local_steps=sweep(2, 6), step_size=0.01, step_factor=0.1),
            rounds=20,
        ),
        *grid(
            replace(NOISY, clients=sweep(2, 4)),
            LocalSCGDM(local_steps=4, step_size=sweep(0.02, 0.1), step_factor=0.05),
            rounds=10,
        ),
        *grid(
            replace(QUIET, outer_gradient_noise=0.3),
            LocalSCGDM(local_steps=4, step_size=0.1, momentum=9.0, step_factor=0.05),
            rounds=10,
        ),
        *grid(
            BoundedComposition(
                heterogeneity=1.0, inner_curvature=0.5, inner_offset=sweep(0.0, 0.5)
            ),
            LocalSCGDM(local_steps=5, step_size=0.05, step_factor=0.2),
            rounds=20,
        ),
    ],
    letters={"G_g": "inner_gradient_bound", "G_f": "outer_gradient_bound"},
    range=largest_consensus_error,
    readings={
        "as printed": literal(Stated(printed, assumes=(given.PERIOD, given.PRINTED))),
        "clients with one f and one g": narrower(
            Stated(printed, assumes=(given.PERIOD, given.PRINTED, given.ALIKE)),
            why=given.OF_THEIR_OWN,
        ),
    },
    erratum=Erratum(
        "false",
        changes="The consensus error does not vanish with the noise. It is of the order "
        "p²β²η²C_g²C_f², for any p, as soon as clients differ.",
        same_as="scgdm/lemma-a.2",
    ),
    corrected=mended,
    correction=(
        "With j = t mod p, x_t^(k) − x̄_t = −βη times a sum of j differences m^(k) − m̄ (before "
        "any average). (1/K) Σ ‖m^(k) − m̄‖² ≤ (1/K) Σ ‖m^(k)‖², and E‖m‖² ≤ C_g²C_f², since m "
        "averages directions with E‖z‖² ≤ E‖∇g‖²·E‖∇f‖² (independent samples). So (1/K) Σ E‖x_t −"
        " x̄_t‖² ≤ j²β²η²C_g²C_f²; over whole rounds the mean of j² is (p − 1)(2p − 1)/6. No "
        "condition on p is needed, and only x has to be averaged."
    ),
    false_siblings=[
        ("10 % smaller", lambda c: mended(c) * Rational(9, 10)),
        ("linear in p", lambda c: mended(c) * 3 / (2 * c.p - 1)),
    ],
    prove=steps,
    explain=(
        "The right side pays for noise alone, but clients drift apart because their functions "
        "differ. What holds needs no condition on p, and is attained."
    ),
)
def consensus(view: Steps) -> Reduction:
    return average("step", sq(view.client("x") - view.mean("x")).sum(0))
