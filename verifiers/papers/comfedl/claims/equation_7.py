"""MAML as a composition.

**Kind.** Identity of values and gradients.

**Note.** Algorithm 1 applied to it is second-order MAML: ∇f^i(w) = I − η∇²f_i(w) multiplies the
gradient. Leaving that factor out is another algorithm (first-order MAML) and another fixed point.
"""

from collections.abc import Callable, Sequence

import numpy as np
import sympy
import torch

from driftproof.synthetic.problems.maml import MAML
from driftproof.toolkit.cases import Case, grid
from driftproof.toolkit.constants import Expression
from driftproof.toolkit.parameters import sweep
from driftproof.verifiers.algebra.symbolic import Step, vanishes
from driftproof.verifiers.claim_types.compared import Comparison, components
from driftproof.verifiers.claim_types.comparison import comparison

RATE = sympy.Symbol("eta", positive=True)
POINT = sympy.symbols("w_1 w_2", positive=True)
CURVED = sympy.Matrix([[2, 1], [1, 3]])


Task = Callable[..., Expression]
"""A loss, as a function of w_1 and w_2."""
Gradient = Callable[[Task, Sequence[Expression]], Expression]
"""From a task f and the point w to the gradient of f(w − η∇f(w))."""


def chain(factor: Callable[[Expression], Expression]) -> Gradient:
    """Return the chain rule with a factor of the Hessian in front of ∇f(w − η∇f(w))."""

    def gradient(task: Task, w: Sequence[Expression]) -> Expression:
        first = sympy.Matrix([sympy.diff(task(*w), v) for v in w])
        hessian = first.jacobian(sympy.Matrix(w))
        moved = [v - RATE * g for v, g in zip(w, first, strict=True)]
        outer = first.subs(dict(zip(w, moved, strict=True)), simultaneous=True)
        return factor(hessian) * outer

    return gradient


def quadratic(*w: Expression) -> Expression:
    return (sympy.Matrix(w).T * CURVED * sympy.Matrix(w))[0] / 2 - w[0]


def quartic(*w: Expression) -> Expression:
    return w[0] ** 4 / 4 + w[0] * w[1] ** 2 - w[1]


def steps(gradient: Gradient) -> list[Step]:
    steps = []
    for name, task in (("quadratic", quadratic), ("quartic", quartic)):
        first = [sympy.diff(task(*POINT), v) for v in POINT]
        value = task(*(v - RATE * g for v, g in zip(POINT, first, strict=True)))
        for k, v in enumerate(POINT):
            gap = sympy.expand(sympy.diff(value, v) - gradient(task, POINT)[k])
            says = rf"\partial_{k + 1}F = [(I-\eta\nabla^2 f)\nabla f(w-\eta\nabla f)]_{k + 1}"
            steps.append(vanishes(gap, rf"{says} \text{{ ({name} task)}}"))
    return steps


@comparison(
    name="comfedl/equation-7",
    source="ComFedL, arXiv v1 and v3, (7)",
    statement=r"\frac1n\sum_{i=1}^n f_i\big(w-\eta\nabla f_i(w)\big) = "
    r"\frac1n\sum_{i=1}^n g^i(f^i(w)),\quad g^i(y^i)=f_i(y^i),\; y^i=f^i(w)=w-\eta\nabla f_i(w)",
    cases=grid(MAML(clients=sweep(2, 3), adaptation=sweep(0.3, 1.5))),
    right=chain(lambda hessian: sympy.eye(2) - RATE * hessian),
    false_siblings=[
        ("first-order MAML", chain(lambda hessian: sympy.eye(2))),
        ("the sign of the Hessian", chain(lambda hessian: sympy.eye(2) + RATE * hessian)),
    ],
    prove=steps,
)
def composition(case: Case[MAML, None], gradient: Gradient) -> list[Comparison]:
    """Each component of ∇F: the composition's oracles against the right side's formula."""
    problem = case.problem
    point = np.array([-2.0, 1.0])
    measured = problem.gradient(torch.from_numpy(point)[:, None])[:, 0].numpy()
    total = sympy.zeros(2, 1)
    for a, centre in zip(problem.curvatures, problem.centres, strict=True):
        away = sympy.Matrix(POINT) - sympy.Matrix(centre)
        task = sympy.Lambda(POINT, (away.T * sympy.Matrix(a) * away)[0] / 2)
        total += gradient(task, POINT) / problem.clients
    values = dict(zip((*POINT, RATE), (*point, problem.adaptation), strict=True))
    stated = [float(entry.subs(values)) for entry in total]
    return components("component {} of ∇F", measured, stated)
