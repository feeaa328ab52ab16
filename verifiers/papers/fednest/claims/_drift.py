r"""What the claims on client drift share, of FedInn on y and of FedOut on x.

A local step of FedInn is y ↦ y − β(∇g_i(y; ζ) − ∇g_i(y^t; ζ) + q). Where every sample's Hessian in
y lies between 0 and 1/β, y − β∇g_i(y; ζ) is nonexpansive in y, so ‖y_{i,ν+1} − y^t‖ ≤ ‖y_{i,ν} −
y^t‖ + β‖q‖ and

    ‖y_{i,ν} − y^t‖² ≤ ν²β²‖q‖², almost surely.

On x nothing need be convex: with an ℓ_{f,1}-Lipschitz ∇_x f_i(·; ξ) of every sample a step expands
by at most 1 + αℓ_{f,1}, so ‖x_{i,ν} − x^k‖² ≤ ν²α²(1 + αℓ_{f,1})^{2(τ−1)}‖h‖², almost surely.

**The order in τ.** Steps of one sign add up. On the line τβ = 1 a scalar with derivative 1 that
starts at 1 is (1 − 1/T)^ν after ν of T steps, and the mean over ν of (1 − (1 − 1/T)^ν)² tends to
∫₀¹(1 − e^{−u})² du = 2/e − ½ − e^{−2}/2 ≈ 0.168, where the printed order falls like 1/T.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from sympy import Rational, exp, log, symbols
from torch import Tensor

from driftproof.toolkit.cases import Assumption
from driftproof.toolkit.constants import Expression
from driftproof.toolkit.measure import Reduction, Steps, average, each, sq
from driftproof.verifiers.claim_types.rate import Floor, Schedule

SAMPLES = Assumption(
    "samples",
    r"0 \preceq \nabla^2_y g_i(\cdot;\zeta) \preceq \tfrac1\beta I",
    roles=("lower_sample_smoothness", "lower_sample_convexity"),
    applies=lambda case: (
        case.problem.constants["lower_sample_convexity"] >= 0
        and case.algorithm.inner_step_size * case.problem.constants["lower_sample_smoothness"] <= 1
    ),
)
SAMPLES_OF_F = Assumption(
    "samples",
    r"\nabla_x f_i(\cdot,y;\xi) \text{ is } \ell_{f,1}\text{-Lipschitz}",
    roles=("upper_sample_smoothness",),
    relation=lambda c: c.ell_fx <= c.ell_f1,
)

TAU, BETA, TAU_X, ALPHA = symbols("tau beta tau_x alpha", positive=True)
T = symbols("T", positive=True)
"""The horizon of the rates: τ on the line τβ = 1."""
LIMIT = 2 * exp(-1) - Rational(1, 2) - exp(-2) / 2

Variable: TypeAlias = Literal["x", "y"]


def drift(view: Steps, of: Variable) -> Tensor:
    """Return every client's ‖y_{i,ν} − y^t‖² or ‖x_{i,ν} − x^k‖², [clients, replicates]."""
    start: Tensor = getattr(view.state, f"{of}_start")
    return sq(view.client(of) - start)


def every_drift(view: Steps, of: Variable) -> Reduction:
    """Compare every client's drift after each local step."""
    return each("round", "local_step", "client", drift(view, of))


def drift_and_direction(view: Steps, of: Variable) -> Reduction:
    """Compare every client's drift with ν²‖q‖² (of y) or ν²‖h‖² (of x) after each local step."""
    direction: Tensor = getattr(view.state, f"{of}_direction")
    steps = view.local_step**2 * sq(direction)
    return each("round", "local_step", "client", drift(view, of), steps=steps)


def mean_drift(view: Steps, of: Variable) -> Reduction:
    """Return the mean over clients and local steps of the drift."""
    return average("round", "local_step", drift(view, of).mean(0))


@dataclass(frozen=True)
class LocalSteps:
    """The letters of one level's local steps.

    Attributes:
        number, size: τ and β, or τ_x and α.
        written: how the size is written.
    """

    number: Expression
    size: Expression
    written: str

    def floor(self, instance: str) -> Floor:
        """Return the floor LIMIT on the line τβ = 1; it says nothing off it."""

        def along(at: Mapping[str, Expression]) -> Expression | None:
            return LIMIT * T**0 if at[str(self.number)] * at[str(self.size)] == 1 else None

        return Floor(instance, along)

    def orders_below(self, letters: Mapping[str, Expression]) -> list[tuple[str, Schedule]]:
        """Return orders below τ²β², by name, on the line τβ = 1."""
        tau, square, written = self.number, self.size**2, self.written
        return [
            (f"τ^{{7/4}}{written}²", Schedule(letters, tau ** Rational(7, 4) * square)),
            (f"τ^{{3/2}}{written}²", Schedule(letters, tau ** Rational(3, 2) * square)),
            (f"τ²{written}²/log τ", Schedule(letters, tau**2 * square / log(tau))),
        ]


INNER = LocalSteps(TAU, BETA, "β")
OUTER = LocalSteps(TAU_X, ALPHA, "α")
