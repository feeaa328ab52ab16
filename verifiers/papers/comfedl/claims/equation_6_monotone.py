"""Other increasing functions in place of exp.

**Statement.** "In fact, we can apply the other monotonically increasing functions instead of the
function g(·) = exp(·) in the problem (6). Clearly, the problem (6) is a special case of the above
problem (1)."

**Kind.** Identity. Read as "… and still solve (5)", of the minimisers of (5) and of
(1/n) Σ g(f^i/γ). Read as "… and still have a problem of the form (1)", of the gradients.

**Finding.** Overstated. The sentence before it says that (6) is solved "instead of" (5), because a
logarithm is increasing. But the logarithm may be left out because it is applied to the whole sum; g
is applied to each loss, and there increasing is not enough. With g(y) = y the sum is the average
that the robust problem was to replace. The sentence after it only needs (6) to be of the form (1).
That holds for any g: the gradient is (1/n) Σ g'(f^i/γ)∇f^i/γ, and an increasing g gives weights
that are not negative.
"""

from enum import Enum
from typing import NamedTuple

import numpy as np
import sympy
import torch

from driftproof.synthetic.problems.kl_dro import KLDRO
from driftproof.toolkit.cases import Case, grid
from driftproof.toolkit.constants import Expression
from driftproof.toolkit.parameters import sweep
from driftproof.toolkit.readings import Erratum, intended, literal
from driftproof.verifiers.algebra.symbolic import Step, nonnegative, vanishes
from driftproof.verifiers.claim_types.compared import Comparison
from driftproof.verifiers.claim_types.comparison import comparison
from driftproof.verifiers.papers.comfedl.claims import _equation_6
from driftproof.verifiers.papers.comfedl.claims._equation_6 import OuterFunction

QUOTE = (
    "the next sentence, “Clearly, the problem (6) is a special case of the above problem (1)”: "
    "what is claimed of other g is that (6) stays a composition, which ComFedL can run on"
)


class Property(Enum):
    """What may be claimed of (6) with another g."""

    SOLVES_5 = "has the minimisers of (5)"
    OF_FORM_1 = "is of the form (1)"


class Substitute(NamedTuple):
    """A function in place of exp, and what is claimed of (6) with it."""

    claimed: Property
    outer: OuterFunction


def identity(loss: Expression, temperature: Expression) -> Expression:
    return loss / temperature


def softplus(loss: Expression, temperature: Expression) -> Expression:
    return sympy.log(1 + sympy.exp(loss / temperature))


def steps(right: Substitute) -> list[Step]:
    if right.claimed is Property.OF_FORM_1:
        return _weights(right.outer)
    g, x = sympy.Function("g"), sympy.Symbol("x", positive=True)
    general = sympy.dsolve(sympy.diff(g(x) * sympy.exp(-x), x), g(x)).rhs
    alone = sympy.diff(general, x) * sympy.exp(-x)
    says = r"g'(x)e^{-x} \text{ constant} \iff g'(x) = a e^x"
    return [*_equation_6.steps(right.outer), vanishes(sympy.diff(alone, x), says)]


@comparison(
    name="comfedl/equation-6-monotone",
    source="ComFedL, arXiv v1 and v3, the sentence after (6)",
    statement=r"\mathrm{argmin}_w \frac1n\sum_{i=1}^n g\big(f^i(w)/\gamma\big) = "
    r"\mathrm{argmin}_w \gamma\log\Big(\frac1n\sum_{i=1}^n\exp\big(f^i(w)/\gamma\big)\Big)"
    r"\;\text{ for other increasing } g",
    cases=grid(KLDRO(clients=sweep(2, 4), form="log", temperature=0.2, ball=3.0)),
    readings={
        "any g keeps the minimisers of (5): g(y) = y": literal(
            Substitute(Property.SOLVES_5, identity),
            quote="“other monotonically increasing functions g”: the identity is one",
        ),
        "any g keeps the minimisers of (5): g(y) = log(1 + exp(y))": literal(
            Substitute(Property.SOLVES_5, softplus),
            quote="the same words: the softplus is increasing and convex",
        ),
        "(6) is of the form (1): g(y) = log(1 + exp(y))": intended(
            Substitute(Property.OF_FORM_1, softplus), quote=QUOTE
        ),
    },
    erratum=Erratum(
        "overstated",
        changes="With another increasing g, ComFedL still runs, but it no longer solves the robust "
        "problem (5). Only g = a·exp + c with a > 0 does.",
        depends="nothing",
    ),
    corrected=Substitute(Property.SOLVES_5, lambda f, gamma: 3 * sympy.exp(f / gamma) - 5),
    correction=(
        "For losses that may take any values, g'(x) e^y = g'(y) e^x for all x and y; divided by "
        "e^(x+y), g'(x) e^(-x) does not depend on x, so g(x) = a e^x + c, and a > 0 makes it "
        "increasing. Here a = 3, c = -5."
    ),
    false_siblings=[
        (
            "g(y) = y + y²",
            Substitute(Property.SOLVES_5, lambda f, gamma: f / gamma + (f / gamma) ** 2),
        ),
        (
            "g(y) = exp(2y)",
            Substitute(Property.SOLVES_5, lambda f, gamma: sympy.exp(2 * f / gamma)),
        ),
        (
            "a decreasing g is of the form (1) too",
            Substitute(Property.OF_FORM_1, lambda f, gamma: -f / gamma),
        ),
    ],
    prove=steps,
    explain=(
        "Any increasing function may be applied to the sum, but only a·exp + c to each loss: with "
        "another, (6) is still a composition, but not the robust problem."
    ),
)
def other_functions(case: Case[KLDRO, None], right: Substitute) -> list[Comparison]:
    if right.claimed is Property.OF_FORM_1:
        return _gradients(case.problem, right.outer)
    return _equation_6.compare(case.problem, right.outer)


def _weights(outer: OuterFunction) -> list[Step]:
    """Return the steps: the chain rule for one logistic loss, and weights that are not negative."""
    w, y, gamma = sympy.symbols("w y gamma", positive=True)
    loss = sympy.log(1 + sympy.exp(-w))
    slope = sympy.diff(outer(y, gamma), y)
    chain = slope.subs(y, loss) * sympy.diff(loss, w)
    return [
        vanishes(
            sympy.diff(outer(loss, gamma), w) - chain,
            r"\nabla g(f/\gamma) = \tfrac1\gamma g'(f/\gamma)\nabla f",
        ),
        nonnegative(slope, r"\text{the weight } g'(f^i/\gamma)/\gamma \ge 0"),
    ]


def _gradients(problem: KLDRO, outer: OuterFunction) -> list[Comparison]:
    """Compare ∇ of (1/n) Σ g(f^i/γ) with the average of ∇g^i ∇f^i, client by client."""
    y = sympy.Symbol("y", positive=True)
    expression = outer(y, sympy.Rational(problem.temperature))
    slope = sympy.lambdify(y, sympy.diff(expression, y), "numpy")
    value = sympy.lambdify(y, expression, "torch")
    at = torch.full((problem.dim, 1), 0.5, dtype=torch.float64).requires_grad_()
    losses = problem.losses(at)[:, 0]
    (whole,) = torch.autograd.grad(value(losses).mean(), at, retain_graph=True)
    weights = np.broadcast_to(slope(losses.detach().numpy()), losses.shape)
    parts = [
        float(weight) * torch.autograd.grad(loss, at, retain_graph=True)[0][:, 0].numpy()
        for weight, loss in zip(weights, losses, strict=True)
    ]
    return [
        Comparison(f"component {k + 1} of the gradient", float(a), float(a), float(b), float(k))
        for k, (a, b) in enumerate(zip(whole[:, 0].numpy(), np.mean(parts, 0), strict=True))
    ]
