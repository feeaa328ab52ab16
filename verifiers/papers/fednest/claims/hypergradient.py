r"""The hypergradient of one client (slide "Federated (Single-Level) Optimization", its end).

**Kind.** Identity, all derivatives at (x, y*(x)). Truth by another route: the derivative of x ↦
f_i(x, y*(x)), by differences of the exact y*, extrapolated once; and by implicit differentiation,
in algebra.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
import sympy
import torch
from torch import Tensor

from driftproof.synthetic.problems.logistic_bilevel import LogisticBilevel
from driftproof.synthetic.problems.quadratic_bilevel import QuadraticBilevel
from driftproof.synthetic.problems.quadratic_minimax import QuadraticMinimax
from driftproof.toolkit.bilevel import BilevelProblem
from driftproof.toolkit.cases import Case, grid
from driftproof.toolkit.constants import Expression
from driftproof.toolkit.oracles import Bilevel
from driftproof.toolkit.parameters import sweep
from driftproof.toolkit.readings import Erratum, intended, literal
from driftproof.verifiers.algebra.symbolic import Step, vanishes
from driftproof.verifiers.claim_types.compared import Comparison
from driftproof.verifiers.claim_types.comparison import comparison
from driftproof.verifiers.papers.fednest.claims import assumptions as given
from driftproof.verifiers.papers.fednest.claims._derivatives import derivatives

STEP = 1e-2
"""Of the differences, of step h and 2h; their error is of order h⁴."""


DIFFERENT = QuadraticBilevel(
    clients=sweep(1, 2, 3),
    dim=3,
    hessian_heterogeneity=0.3,
    cross_heterogeneity=0.4,
    target_heterogeneity=0.5,
    regulariser=0.2,
    regulariser_heterogeneity=0.1,
    tilt=0.3,
)


@dataclass(frozen=True)
class Formula:
    """∇_x f_i − scale·(mean of ∇²_xy g_j)·(mean of ∇²_y g_j)^{-1} ∇_y f_i.

    Attributes:
        scale: from m to what the printed sums leave beside the two means.
        local: whether a client takes its own ∇²_xy g_i, or all its own derivatives of g_i.
    """

    scale: Callable[[Expression], Expression]
    local: Literal["", "cross", "both"] = ""


def steps(formula: Formula) -> list[Step]:
    """Scalars x and y, two clients; c_i, h_i are the second derivatives of g_i."""
    f_x, f_y, c_1, c_2, h_1, h_2 = sympy.symbols("f_x f_y c_1 c_2 h_1 h_2", positive=True)
    slope = -(c_1 + c_2) / (h_1 + h_2)  # of y*, from c_1 + c_2 + (h_1 + h_2) y*' = 0
    cross = c_1 if formula.local else (c_1 + c_2) / 2
    hessian = h_1 if formula.local == "both" else (h_1 + h_2) / 2
    stated = f_x - formula.scale(sympy.Integer(2)) * cross / hessian * f_y
    return [
        vanishes(
            f_x + slope * f_y - stated,
            r"\tfrac{d}{dx}f_1(x,y^*(x)) = f_x + f_y\,\tfrac{dy^*}{dx},\; m = 2",
        )
    ]


def difference(problem: BilevelProblem, x: Tensor, step: Tensor) -> Tensor:
    """Return the central differences of f_i(x, y*(x)) along a step, over its length, [clients]."""
    oracles: Bilevel = problem.oracles(torch.float64)

    def values(at: Tensor) -> Tensor:
        every = at.expand(problem.clients, *at.shape)
        y = problem.lower_solution(at).expand(problem.clients, -1, -1)
        return oracles.upper_value(every, y)[:, 0]

    slope: Tensor = (values(x + step) - values(x - step)) / (2 * step.norm())
    return slope


def by_formula(problem: BilevelProblem, x: Tensor, formula: Formula) -> np.ndarray:
    """Return the stated right side, [clients, upper_dim]."""
    clients, y = problem.clients, problem.lower_solution(x)
    of_y, hessians, crosses = derivatives(problem, x, y)
    hessians = hessians if formula.local == "both" else np.tile(hessians.mean(0), (clients, 1, 1))
    crosses = crosses if formula.local else np.tile(crosses.mean(0), (clients, 1, 1))
    indirect = (crosses @ np.linalg.solve(hessians, of_y[..., None]))[..., 0]
    every, others = (v.expand(clients, *v.shape) for v in (x, y))
    oracles: Bilevel = problem.oracles(torch.float64)
    direct: np.ndarray = oracles.upper_grad_x(every, others, None)[..., 0].numpy()
    return direct - float(formula.scale(sympy.Integer(clients))) * indirect


@comparison(
    name="fednest/hypergradient",
    source="FedNest (2022), slides, hypergradient; g by the slides Goal and Hyperparameter Tuning",
    assumes=[given.SMOOTH, given.CONVEX],
    statement=r"\nabla f_i(x,y^*(x)) = \nabla_x f_i - \nabla^2_{xy}g\,\Big[\sum_{i=1}^m "
    r"\nabla^2_y g_i\Big]^{-1}\nabla_y f_i",
    cases=[
        *grid(DIFFERENT),
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
        changes="If g is the mean of the g_i, as in the problem itself, write (1/m) Σ for the sum "
        "in the bracket; otherwise the indirect part of the hypergradient is m times too small.",
        depends="constant",
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
def by_differences(case: Case[BilevelProblem, None], formula: Formula) -> list[Comparison]:
    problem, comparisons = case.problem, list[Comparison]()
    x = torch.linspace(0.3, 0.8, problem.upper_dim, dtype=torch.float64)[:, None]
    stated = by_formula(problem, x, formula)
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
            scale = float(np.linalg.norm(stated[i]))
            at = float(len(comparisons))
            comparisons.append(Comparison(what, low, high, float(stated[i, j]), at, scale=scale))
    return comparisons
