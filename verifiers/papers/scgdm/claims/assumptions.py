"""Assumptions 3.1–3.3 of Local-SCGDM (2022) and the conditions of its Theorem 3.4, as code.

The norm of a Jacobian is the spectral norm, its variance is taken in the Frobenius norm (the larger
one). σ, δ > 0 is read as ≥ 0: a noiseless problem satisfies Assumption 3.3 with every positive
number, and the right sides are continuous at 0.
"""

import numpy as np
import sympy
import torch

from driftproof.toolkit.cases import Assumption, Case
from driftproof.toolkit.constants import Expression, Letters
from driftproof.toolkit.problem import Problem
from driftproof.toolkit.readings import Stated, intended, literal
from driftproof.verifiers.claim_types.bound import RightSide

A31 = Assumption(
    "Assumption 3.1",
    r"\|\nabla g^{(k)}(x_1)-\nabla g^{(k)}(x_2)\|\le L_g\|x_1-x_2\|,\;"
    r"\|\nabla f^{(k)}(y_1)-\nabla f^{(k)}(y_2)\|\le L_f\|y_1-y_2\|",
    ("inner_mean_smoothness", "outer_mean_smoothness"),
)
A32 = Assumption(
    "Assumption 3.2",
    r"\mathbb{E}\|\nabla g^{(k)}(x;\xi)\|^2\le C_g^2,\;"
    r"\mathbb{E}\|\nabla f^{(k)}(y;\zeta)\|^2\le C_f^2",
    ("inner_gradient_moment", "outer_gradient_moment"),
)
A33 = Assumption(
    "Assumption 3.3",
    r"\mathbb{E}\|\nabla f^{(k)}(y;\zeta)-\nabla f^{(k)}(y)\|^2\le\sigma_f^2,\;"
    r"\mathbb{E}\|\nabla g^{(k)}(x;\xi)-\nabla g^{(k)}(x)\|^2\le\sigma_g^2,\;"
    r"\mathbb{E}\|g^{(k)}(x;\xi)-g^{(k)}(x)\|^2\le\delta_g^2",
    ("outer_gradient_noise", "inner_gradient_noise", "inner_value_noise"),
    # a draw of some of a client's tasks is noise that these constants do not count
    applies=lambda case: not getattr(case.algorithm, "sampled_tasks", 0),
)
ASSUMED = [A31, A32, A33]


def smooth(c: Letters) -> Expression:
    """Return L_F = C_g²L_f + C_fL_g."""
    return c.C_g**2 * c.L_f + c.C_f * c.L_g


def _step_factor(c: Letters) -> Expression:
    terms = c.C_g**4 * c.L_f**2 / c.gamma**2 + c.C_g**4 * c.L_f**2 / c.gamma
    return sympy.Le(8 * c.beta**2 * (terms + smooth(c) ** 2 / c.alpha**2), 1)


STEP_SIZE = Assumption(
    "Theorem 3.4",
    r"\alpha<\tfrac1\eta,\;\gamma<\tfrac1\eta",
    relation=lambda c: sympy.Lt(sympy.Max(c.alpha, c.gamma) * c.eta, 1),
)
STEP_FACTOR = Assumption(
    "Theorem 3.4",
    r"\beta\le\sqrt{\tfrac18/\big(\tfrac{C_g^4L_f^2}{\gamma^2}+\tfrac{C_g^4L_f^2}{\gamma}+"
    r"\tfrac{L_F^2}{\alpha^2}\big)}",
    relation=_step_factor,
)
SMALL_STEP = Assumption(
    "Theorem 3.4",
    r"\eta\le\min\{1,\tfrac1{2\beta(C_g^2L_f+C_fL_g)}\}",
    relation=lambda c: sympy.Le(c.eta * sympy.Max(1, 2 * c.beta * smooth(c)), 1),
)
PERIOD = Assumption(
    "Theorem 3.4",
    r"p\le\tfrac1{4\beta\eta\sqrt{6C_f^2L_g^2+16C_g^4L_f^2}}",
    relation=lambda c: sympy.Le(
        16 * (c.p * c.beta * c.eta) ** 2 * (6 * c.C_f**2 * c.L_g**2 + 16 * c.C_g**4 * c.L_f**2), 1
    ),
)
PRINTED = Assumption(
    "Algorithm 1",
    "u, m and x are averaged, p > 1",
    applies=lambda case: case.algorithm.averaged == "umx" and case.algorithm.local_steps > 1,
)
NOISES = ("outer_gradient_noise", "inner_gradient_noise", "inner_value_noise")


def quiet(problem: Problem) -> bool:
    """Say whether the oracles have no noise: one sample and two are then the same algorithm."""
    return all(problem.constants[role] == 0 for role in NOISES)


TWO_SAMPLES = Assumption(
    "Proofs",
    "ξ for g and its gradient, and independently ζ for f",
    applies=lambda case: case.algorithm.samples == "two" or quiet(case.problem),
)
ONE_SAMPLE = Assumption(
    "Algorithm 1",
    "one sample ζ for g and f alike",
    applies=lambda case: case.algorithm.samples == "one" or quiet(case.problem),
)
OF_THEIR_OWN = "the paper's clients have f^(k), g^(k) and distributions of their own"
"""Why clients that are alike are a narrower reading."""
APART = (
    "(1) draws ξ from D_g and ζ from D_f, and the proofs draw ξ_t for g and ∇g and, apart from it,"
    " ζ_t for ∇f"
)


def by_samples(right: RightSide, *assumes: Assumption) -> dict[str, Stated[RightSide]]:
    """Return one right side read twice: as the proofs sample, and as Algorithm 1 does."""
    return {
        "two samples, as in the proofs": intended(
            Stated(right, assumes=(TWO_SAMPLES, *assumes)), quote=APART
        ),
        "one sample, as in Algorithm 1": literal(Stated(right, assumes=(ONE_SAMPLE, *assumes))),
    }


def alike_inside(problem: Problem) -> bool:
    """Say whether all clients have one inner function (checked on the oracles' own numbers)."""
    if problem.clients == 1:
        return True
    parts = getattr(problem.oracles(torch.float64), "parts", None)
    return parts is not None and bool(np.ptp(parts.scales) == 0 and np.ptp(parts.offsets) == 0)


def alike(case: Case) -> bool:
    """Say whether all clients have one f and one g (nothing that tells them apart is set)."""
    problem = case.problem
    plain = all(not getattr(problem, name, 0) for name in ("heterogeneity", "opposition_slope"))
    return problem.clients == 1 or (plain and alike_inside(problem))


ALIKE = Assumption("Clients alike", "all clients have one f and one g", applies=alike)
ONE_INNER = Assumption(
    "Clients alike inside",
    "all clients have one g",
    applies=lambda case: alike_inside(case.problem),
)
INNER_ESTIMATES = Assumption(
    "Corrected form",
    "g⁽ᵏ⁾ is one function for all k, or u stays on its client",
    applies=lambda case: "u" not in case.algorithm.averaged or alike_inside(case.problem),
)
MODELS_AVERAGED = Assumption(
    "Corrected form",
    "x is averaged every p steps (or there is one client); clients draw independently",
    applies=lambda case: "x" in case.algorithm.averaged or case.problem.clients == 1,
)


def largest_factor(problem: Problem, alpha: float, gamma: float) -> float:
    """Return the largest β that Theorem 3.4 admits, rounded down."""
    c = problem.constants
    curved = c["inner_gradient_moment"] ** 2 * c["outer_mean_smoothness"]
    whole = curved + c["outer_gradient_moment"] * c["inner_mean_smoothness"]
    total = curved**2 / gamma**2 + curved**2 / gamma + whole**2 / alpha**2
    return float(np.floor(1e12 * np.sqrt(0.125 / total)) / 1e12)
