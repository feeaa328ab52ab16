r"""The descent inequality, (15) and (38).

**Kind.** Bound on every path, at every step.

**Finding.** The fifth line of (38) puts ‖∇F^(k)(x̄_t) − m^(k)‖² for ‖∇F(x̄_t) − m^(k)‖²: clients that
differ are lost. At a stationary point of F, without noise and at t = 0, m_1^(k) = ∇F^(k): the right
side falls by (βη/4)(1/K) Σ ‖∇F^(k)‖², the left side does not move if the gradients cancel.
"""

from dataclasses import replace

from sympy import Rational

from driftproof.synthetic.problems.bias_amplification import BiasAmplification
from driftproof.synthetic.problems.bounded_composition import BoundedComposition
from driftproof.toolkit.algorithms.local_scgdm import LocalSCGDM
from driftproof.toolkit.cases import grid
from driftproof.toolkit.constants import Expression, Letters
from driftproof.toolkit.measure import Reduction, Steps, each, sq
from driftproof.toolkit.parameters import sweep
from driftproof.toolkit.readings import Erratum, Stated, literal, narrower
from driftproof.verifiers.claim_types.bound import bound
from driftproof.verifiers.claim_types.terms import Terms
from driftproof.verifiers.papers.scgdm.claims import assumptions as given
from driftproof.verifiers.papers.scgdm.claims.potential import NOISY

SEVERAL = replace(NOISY, clients=sweep(1, 2))


def step(c: Letters) -> Expression:
    return c.beta * c.eta


def with_momentum(momentum: str) -> Terms:
    """Return (15) with the mean of the clients' squares, or the square of the mean."""
    return Terms(
        {
            "F before": lambda c: c.measured("before"),
            "the gradient": lambda c: -step(c) / 2 * c.measured("gradient"),
            "the momentum": lambda c: -step(c) / 4 * c.measured(momentum),
            "the momentum's error": lambda c: step(c) * c.measured("error"),
            "the models": lambda c: step(c) * given.smooth(c) ** 2 * c.measured("models"),
        }
    )


printed, mended = with_momentum("each_momentum"), with_momentum("mean_momentum")


@bound(
    name="scgdm/potential-descent",
    source="Local-SCGDM (2022), (15), (38)",
    display=True,
    assumes=[*given.ASSUMED, given.STEP_SIZE, given.SMALL_STEP],
    statement=r"F(\bar x_{t+1}) \le F(\bar x_t) - \frac{\beta\eta}2\|\nabla F(\bar x_t)\|^2 - "
    r"\frac{\beta\eta}4\frac1K\sum_{k=1}^K\|m_{t+1}^{(k)}\|^2 + \frac{\beta\eta}K\sum_{k=1}^K\|"
    r"\nabla F^{(k)}(x_t^{(k)})-m_{t+1}^{(k)}\|^2 + \frac{\beta\eta L_F^2}K\sum_{k=1}^K\|"
    r"\bar x_t-x_t^{(k)}\|^2",
    cases=[
        *grid(
            BiasAmplification(objective_of="client-wise", at=0.2),
            LocalSCGDM(step_size=sweep(0.05, 0.2), step_factor=0.5),
            rounds=4,
        ),
        *grid(
            BoundedComposition(heterogeneity=2.0, distance=0.0),
            LocalSCGDM(local_steps=5, step_factor=sweep(0.1, 5.0)),
            rounds=2,
        ),
        *grid(SEVERAL, LocalSCGDM(local_steps=2, step_factor=sweep(0.1, 3.0)), rounds=1),
        *grid(
            BoundedComposition(clients=4, dim=3, inner_dim=2, heterogeneity=1.0, distance=3.0),
            LocalSCGDM(local_steps=6, step_factor=sweep(0.3, 4.9), inner_momentum=sweep(0.3, 9.0)),
            rounds=4,
        ),
        # clients of opposite curvature, each momentum nearly its client's own gradient
        *grid(
            BoundedComposition(
                opposition_slope=1.0, opposition_curvature=3.0, opposition_centre=0.5, distance=0.3
            ),
            LocalSCGDM(local_steps=6, momentum=9.9, inner_momentum=9.9, step_factor=1.2),
            rounds=2,
        ),
    ],
    measured={
        "before": r"F(\bar x_t)",
        "gradient": r"\|\nabla F(\bar x_t)\|^2",
        "each_momentum": r"\frac1K\sum_k\|m_{t+1}^{(k)}\|^2",
        "mean_momentum": r"\|\bar m_{t+1}\|^2",
        "error": r"\frac1K\sum_k\|\nabla F^{(k)}(x_t^{(k)})-m_{t+1}^{(k)}\|^2",
        "models": r"\frac1K\sum_k\|\bar x_t-x_t^{(k)}\|^2",
    },
    readings={
        "as printed": literal(printed),
        "clients with one f and one g": narrower(
            Stated(printed, assumes=(given.ALIKE,)), why=given.OF_THEIR_OWN
        ),
    },
    erratum=Erratum(
        "false",
        changes="Only the mean momentum lowers F. If clients differ, (βη/4)‖m̄_{t+1}‖² may be "
        "subtracted, not the mean of the ‖m_{t+1}^(k)‖².",
        depends="step",
    ),
    corrected=mended,
    correction=(
        "F(x̄_{t+1}) ≤ F(x̄_t) − βη⟨∇F(x̄_t), m̄_{t+1}⟩ + (β²η²L_F/2)‖m̄_{t+1}‖², and −⟨a, b⟩ = "
        "−½‖a‖² − ½‖b‖² + ½‖a − b‖². By Jensen ‖∇F(x̄_t) − m̄_{t+1}‖² ≤ (1/K) Σ ‖∇F^(k)(x̄_t) − "
        "m^(k)‖² ≤ (2/K) Σ ‖∇F^(k)(x_t^(k)) − m^(k)‖² + (2L_F²/K) Σ ‖x̄_t − x_t^(k)‖²."
    ),
    false_siblings=mended.controls(
        {
            "F before": Rational(9, 10),
            "the gradient": Rational(3, 2),
            "the momentum": 2,
            "the momentum's error": Rational(1, 3),
            "the models": 0,
        }
    ),
    explain=(
        "The proof drops the heterogeneity of the clients' gradients: only the mean momentum "
        "moves x̄, but the square of every client's is subtracted."
    ),
)
def descent(view: Steps) -> Reduction:
    at, m = view.before.x, view.client("m")
    mean = at.mean(0)
    return each(
        "transition",
        view.objective(view.state.x.mean(0)),
        before=view.objective(mean),
        gradient=sq(view.gradient(mean)),
        each_momentum=sq(m).mean(0),
        mean_momentum=sq(m.mean(0)),
        error=sq(view.own_gradients(at) - m).mean(0),
        models=sq(at - mean).mean(0),
    )
