r"""What the claims on client drift share.

A local step of FedInn is y ↦ y − β(∇g_i(y; ζ) − ∇g_i(y^t; ζ) + q). Where every sample's Hessian in
y lies between 0 and 1/β, y − β∇g_i(y; ζ) is nonexpansive in y, so ‖y_{i,ν+1} − y^t‖ ≤ ‖y_{i,ν} −
y^t‖ + β‖q‖ and

    ‖y_{i,ν} − y^t‖² ≤ ν²β²‖q‖², almost surely.

On x nothing need be convex: with an ℓ_{f,1}-Lipschitz ∇_x f_i(·; ξ) of every sample a step expands
by at most 1 + αℓ_{f,1}, so ‖x_{i,ν} − x^k‖² ≤ ν²α²(1 + αℓ_{f,1})^{2(τ−1)}‖h‖², almost surely.
"""

from toolkit.cases import Assumption
from toolkit.measure import average, each, sq

SAMPLES = Assumption(
    "samples", r"0 \preceq \nabla^2_y g_i(\cdot;\zeta) \preceq \tfrac1\beta I",
    roles=("lower_sample_smoothness", "lower_sample_convexity"),
    applies=lambda case: case.problem.constants["lower_sample_convexity"] >= 0
    and case.algorithm.inner_step_size * case.problem.constants["lower_sample_smoothness"] <= 1,
)  # fmt: skip


SAMPLES_OF_F = Assumption(
    "samples", r"\nabla_x f_i(\cdot,y;\xi) \text{ is } \ell_{f,1}\text{-Lipschitz}",
    roles=("upper_sample_smoothness",),
    relation=lambda c: c.ell_fx <= c.ell_f1,
)  # fmt: skip


def inner(view):
    """Compare every client's ‖y_{i,ν} − y^t‖² with ν²‖q‖² after each local step of FedInn."""
    drift = sq(view.client("y") - view.state.y_start)
    nu = view.local_step
    return each("round", "local_step", "client", drift, steps=nu**2 * sq(view.state.y_direction))


def outer(view):
    """Compare every client's ‖x_{i,ν} − x^k‖² with ν²‖h‖² after each local step of FedOut."""
    drift = sq(view.client("x") - view.state.x_start)
    size = sq(view.state.x_direction)
    return each("round", "local_step", "client", drift, steps=view.local_step**2 * size)


def mean_inner(view):
    """Return the mean over clients and local steps of ‖y_{i,ν} − y^t‖²."""
    return average("round", "local_step", sq(view.client("y") - view.state.y_start).mean(0))


def mean_outer(view):
    """Return the mean over clients and local steps of ‖x_{i,ν} − x^k‖²."""
    return average("round", "local_step", sq(view.client("x") - view.state.x_start).mean(0))


def inner_steps(case):
    return case.algorithm.inner_steps


def outer_steps(case):
    return case.algorithm.outer_steps


def inverse_step(case):
    return 1 / case.algorithm.inner_step_size


def inverse_outer_step(case):
    return 1 / case.algorithm.outer_step_size
