"""Theorem 5.1 and Corollary 5.2 of FedDRO (2023): schedule, cases and right sides without noise."""

from dataclasses import replace
from math import sqrt

import sympy
from sympy.logic.boolalg import Boolean

from driftproof.synthetic.problems.averaged_composition import AveragedComposition
from driftproof.toolkit.algorithms.feddro import FedDRO
from driftproof.toolkit.cases import Assumption, Case
from driftproof.toolkit.constants import Expression, Letters
from driftproof.toolkit.measure import Reduction, States, average, sq
from driftproof.toolkit.problem import Problem


def follows(c: Letters) -> Boolean:
    """Return the relations η = √(|b|K/T) and β = 4B_g⁴L_f²η."""
    eta = sympy.Eq(c.eta, sympy.sqrt(c.b * c.K / c.T))
    return sympy.And(eta, sympy.Eq(c.beta, 4 * c.B_g**4 * c.L_f**2 * c.eta))


SCHEDULE = Assumption(
    "Theorem 5.1", r"\eta=\sqrt{|b|K/T},\; \beta=4B_g^4L_f^2\eta", relation=follows
)
STEP_SIZE = Assumption(
    "T ≥ T_th, which bounds the step size",
    r"\eta \le 1/L_\Phi",
    relation=lambda c: sympy.Le(c.eta * c.L_Phi, 1),
)


def steepness(problem: Problem) -> float:
    """Return 4B_g⁴L_f²."""
    c = problem.constants
    return 4 * c["inner_gradient_moment"] ** 4 * c["outer_smoothness"] ** 2


def run(
    problem: AveragedComposition,
    steps: int,
    *,
    local_steps: int = 1,
    batch: int = 1,
    embedding_error: float | None = None,
) -> Case[AveragedComposition, FedDRO]:
    """Return the case of Theorem 5.1 with T = steps.

    Args:
        embedding_error: by how much the first embedding, which is then given, is off.
    """
    eta = sqrt(batch * problem.clients / steps)
    method = FedDRO(
        local_steps=local_steps, step_size=eta, momentum=steepness(problem) * eta, batch=batch
    )
    if embedding_error is not None:
        method = replace(method, embedding="given", embedding_error=embedding_error)
    return Case(problem, method, steps // local_steps)


def flat(slope: float, curvature: float = 1.0, plain_slope: float = 0.0) -> AveragedComposition:
    """Return a problem with B_g = slope, L_f = curvature and a start at the minimiser."""
    return AveragedComposition(
        clients=1,
        inner_slope=slope,
        outer_slope=4.0 * curvature,
        outer_curvature=curvature,
        plain_slope=plain_slope,
        distance=0.0,
    )


def largest(c: Letters) -> Expression:
    """Return the most that ‖∇Φ‖² can be."""
    return (c.B_g * c.B_f + c.B_h) ** 2


def squared_gradient(view: States) -> Reduction:
    """Measure ‖∇Φ(x̄^{a(T)})‖², a(T) uniform on 1 … T."""
    return average("transition", sq(view.gradient(view.mean("x"))))


def initial(c: Letters, embedding: Expression, gap: Expression = 2) -> Expression:
    """Return the initial terms; the factors multiply the squared error of ȳ⁰ and the gap."""
    return (gap * c.Phi_gap + embedding * c.e_0**2) / sympy.sqrt(c.b * c.K * c.T)


def printed(c: Letters) -> Expression:
    return initial(c, 2)


def corrected(c: Letters, factor: Expression = 1, gap: Expression = 2) -> Expression:
    return initial(c, factor / (4 * c.B_g**2 * (2 - c.beta)), gap)
