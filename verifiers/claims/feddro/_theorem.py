"""Theorem 5.1 and Corollary 5.2 of 004: schedule, cases and right sides without noise."""

from math import sqrt

import sympy

from synthetic.problems.averaged_composition import AveragedComposition
from toolkit.algorithms.feddro import FedDRO
from toolkit.cases import Assumption, Case
from toolkit.measure import average, sq

SCHEDULE = Assumption(
    "Theorem 5.1", r"\eta=\sqrt{|b|K/T},\; \beta=4B_g^4L_f^2\eta",
    applies=lambda case: follows(case),
)  # fmt: skip
STEP_SIZE = Assumption(
    "T ≥ T_th, which bounds the step size", r"\eta \le 1/L_\Phi",
    relation=lambda c: sympy.Le(c.eta * c.L_Phi, 1),
)  # fmt: skip


def steepness(problem):
    """Return 4B_g⁴L_f²."""
    c = problem.constants
    return 4 * c["inner_gradient_moment"] ** 4 * c["outer_smoothness"] ** 2


def follows(case):
    """Say whether a case has the step size and the momentum of Theorem 5.1."""
    method = case.algorithm
    steps = case.rounds * method.local_steps
    eta = sqrt(method.batch * case.problem.clients / steps)
    beta = steepness(case.problem) * eta
    return abs(method.step_size - eta) < 1e-12 and abs(method.momentum - beta) < 1e-12


def run(problem, steps, *, local_steps=1, batch=1, **more):
    """Return the case of Theorem 5.1 with T = steps."""
    eta = sqrt(batch * problem.clients / steps)
    method = FedDRO(
        local_steps=local_steps, step_size=eta, momentum=steepness(problem) * eta, batch=batch,
        **more,
    )  # fmt: skip
    return Case(problem, method, steps // local_steps)


def off(error):
    """Return how an embedding that is off by ``error`` is given."""
    return {"embedding": "given", "embedding_error": error}


def flat(slope, curvature=1.0, **more):
    """Return a problem with B_g = slope, L_f = curvature and a start at the minimiser."""
    return AveragedComposition(
        clients=1, inner_slope=slope, outer_slope=4.0 * curvature, outer_curvature=curvature,
        distance=0.0, **more,
    )  # fmt: skip


def largest(c):
    """Return the most that ‖∇Φ‖² can be."""
    return (c.B_g * c.B_f + c.B_h) ** 2


def squared_gradient(view):
    """Measure ‖∇Φ(x̄^{a(T)})‖², a(T) uniform on 1 … T."""
    return average("transition", sq(view.gradient(view.mean("x"))))


def initial(c, embedding, gap=2):
    """Return the initial terms; the factors multiply the squared error of ȳ⁰ and the gap."""
    return (gap * c.Phi_gap + embedding * c.e_0**2) / sympy.sqrt(c.b * c.K * c.T)


def printed(c):
    return initial(c, 2)


def corrected(c, factor=1, gap=2):
    return initial(c, factor / (4 * c.B_g**2 * (2 - c.beta)), gap)
