r"""The hypergradient of one client (slide "Federated (Single-Level) Optimization", its end).

**Statement.** ∇f_i(x, y*(x)) = ∇_x f_i − ∇²_xy g [Σ_i ∇²_y g_i]^{-1} ∇_y f_i, all at (x, y*(x)).

**Kind.** Identity. Truth by another route: the derivative of x ↦ f_i(x, y*(x)), by differences of
the exact y*, extrapolated once; and by implicit differentiation, in algebra.

**Finding.** The display uses a g that is defined only nine slides later, as g = Σ g_i; with that g
it holds. The problem itself minimises (1/m) Σ g_i over y. For somebody who takes g to be that mean
the bracket lacks 1/m, and the indirect part is m times too small. So it is a misprint at most.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy
import torch

from synthetic.problems.logistic_bilevel import LogisticBilevel
from synthetic.problems.quadratic_bilevel import QuadraticBilevel
from synthetic.problems.quadratic_minimax import QuadraticMinimax
from toolkit.cases import Case, grid
from toolkit.parameters import sweep
from toolkit.readings import Erratum, intended, literal
from verifiers.claim_types.comparison import comparison
from verifiers.claims.fednest import assumptions as given
from verifiers.claims.fednest._derivatives import derivatives
from verifiers.compared import Comparison
from verifiers.symbolic import Step, vanishes

STEP = 1e-2
"""Of the differences, of step h and 2h; their error is of order h⁴."""


@dataclass(frozen=True)
class Formula:
    """∇_x f_i − scale·(mean of ∇²_xy g_j)·(mean of ∇²_y g_j)^{-1} ∇_y f_i.

    Attributes:
        scale: from m to what the printed sums leave beside the two means.
        local: whether a client takes its own ∇²_xy g_i, or all its own derivatives of g_i.
    """

    scale: object
    local: str = ""


def steps(right: Any) -> list[Step]:
    """Scalars x and y, two clients; c_i, h_i are the second derivatives of g_i."""
    f_x, f_y, c_1, c_2, h_1, h_2 = sympy.symbols("f_x f_y c_1 c_2 h_1 h_2", positive=True)
    slope = -(c_1 + c_2) / (h_1 + h_2)  # of y*, from c_1 + c_2 + (h_1 + h_2) y*' = 0
    cross = c_1 if right.local else (c_1 + c_2) / 2
    hessian = h_1 if right.local == "both" else (h_1 + h_2) / 2
    stated = f_x - right.scale(sympy.Integer(2)) * cross / hessian * f_y
    return [
        vanishes(
            f_x + slope * f_y - stated,
            r"\tfrac{d}{dx}f_1(x,y^*(x)) = f_x + f_y\,\tfrac{dy^*}{dx},\; m = 2",
        )
    ]


@comparison(
    name="fednest/hypergradient",
    source="002, hypergradient; g by the slides Goal and Hyperparameter Tuning",
    assumes=[given.SMOOTH, given.CONVEX],
    statement=r"\nabla f_i(x,y^*(x)) = \nabla_x f_i - \nabla^2_{xy}g\,\Big[\sum_{i=1}^m "
    r"\nabla^2_y g_i\Big]^{-1}\nabla_y f_i",
    cases=[
        *grid(
            QuadraticBilevel(
                clients=sweep(1, 2, 3),
                dim=3,
                hessian_heterogeneity=0.3,
                cross_heterogeneity=0.4,
                target_heterogeneity=0.5,
                regulariser=0.2,
                regulariser_heterogeneity=0.1,
                tilt=0.3,
            )
        ),
        *grid(QuadraticMinimax(clients=3, dim=2, heterogeneity=0.4)),
        *grid(LogisticBilevel(clients=3, lower_dim=3, cross_heterogeneity=0.4, noise="none")),
    ],
    readings={
        "g = (1/m) Σ g_i (Goal)": literal(Formula(lambda m: 1 / m)),
        "g = Σ g_i (Hyperparameter Tuning)": intended(
            Formula(lambda m: m / m),
            quote='slide Hyperparameter Tuning: "to minimize g = \\sum_{i=1}^m g_i", the only '
            "place where g without an index is defined",
        ),
    },
    erratum=Erratum(
        "misprint",
        changes="With g the mean of the g_i, as in the problem itself, write (1/m) Σ for the sum "
        "in the bracket; else the indirect part of the hypergradient is m times too small.",
    ),
    corrected=Formula(lambda m: m / m),
    correction=(
        "With g = (1/m) Σ g_i: Σ ∇_y g_i(x, y*(x)) = 0 for all x, so ∇²_xy g + (dy*/dx)ᵀ ∇²_yy g = "
        "0, and d f_i(x, y*(x))/dx = ∇_x f_i − ∇²_xy g [(1/m) Σ ∇²_y g_j]^{-1} ∇_y f_i."
    ),
    false_siblings=[
        ("the other sign", Formula(lambda m: -m / m)),
        ("half the indirect part", Formula(lambda m: m / m / 2)),
        ("a client's own ∇²_xy g_i", Formula(lambda m: m / m, "cross")),
        ("a client's own ∇²_xy g_i and ∇²_y g_i, as in LFedNest", Formula(lambda m: m / m, "both")),
    ],
    prove=steps,
    explain=(
        "True where g is the sum of the g_i, as a later slide defines it. Where g is their mean, "
        "as in the problem itself, the bracket needs the mean too."
    ),
)
def hypergradient(case: Case, right: Any) -> list[Comparison]:
    problem, made = case.problem, []
    x = torch.linspace(0.3, 0.8, problem.upper_dim, dtype=torch.float64)[:, None]
    stated = by_formula(problem, x, right)
    for j in range(problem.upper_dim):
        unit = torch.zeros_like(x)
        unit[j] = 1.0
        fine, coarse = (difference(problem, x, size * unit) for size in (STEP, 2 * STEP))
        truth = (4 * fine - coarse) / 3
        # the extrapolation's own error is below its change by far
        slack = (fine - coarse).abs() * STEP**2 + 1e-11
        for i in range(problem.clients):
            low, high = float(truth[i] - slack[i]), float(truth[i] + slack[i])
            what = f"client {i + 1}, component {j + 1}"
            size = float(np.linalg.norm(stated[i]))
            at = float(len(made))
            made.append(Comparison(what, low, high, float(stated[i, j]), at, scale=size))
    return made


def difference(problem, x, step):
    """Return the central differences of f_i(x, y*(x)) along a step, over its length, [clients]."""

    def values(at):
        every = at.expand(problem.clients, *at.shape)
        y = problem.lower_solution(at).expand(problem.clients, -1, -1)
        return problem.oracles(torch.float64).upper_value(every, y)[:, 0]

    return (values(x + step) - values(x - step)) / (2 * step.norm())


def by_formula(problem, x, right):
    """Return the stated right side, [clients, upper_dim]."""
    clients, y = problem.clients, problem.lower_solution(x)
    of_y, hessians, crosses = derivatives(problem, x, y)
    hessians = hessians if right.local == "both" else np.tile(hessians.mean(0), (clients, 1, 1))
    crosses = crosses if right.local else np.tile(crosses.mean(0), (clients, 1, 1))
    indirect = (crosses @ np.linalg.solve(hessians, of_y[..., None]))[..., 0]
    every, others = (v.expand(clients, *v.shape) for v in (x, y))
    direct = problem.oracles(torch.float64).upper_grad_x(every, others, None)[..., 0].numpy()
    return direct - float(right.scale(sympy.Integer(clients))) * indirect
