"""The gradient of a composition, F^i(w) = g^i(f^i(w)).

**Kind.** Identity, by algebra, on two examples: f: R² → R³ and f: R² → R².

**Note.** Both papers call ∇f^i a Jacobian matrix, p × d, and ∇g^i a gradient, a column. Then (11)
is a row of d entries, the transpose of the gradient that w ← w − ηu wants. Entry by entry it is
right, and so it is read here. For f: R^d → R^d a wrong transpose shows.
"""

from collections.abc import Callable

import sympy

from driftproof.toolkit.constants import Expression
from driftproof.verifiers.algebra.symbolic import Step, vanishes
from driftproof.verifiers.claim_types.proof import proof

W = sympy.symbols("w_1 w_2", positive=True)
Y = sympy.symbols("y_1:4", positive=True)
EXAMPLES = (
    ("p = 3, d = 2", (W[0] ** 2, W[0] * W[1], W[1] ** 3), Y[0] * Y[1] + Y[2] ** 2 * Y[0]),
    ("p = d = 2", (W[0] ** 2 * W[1], W[0] + W[1] ** 3), Y[0] ** 2 * Y[1]),
)


ChainRule = Callable[[Expression, Expression], Expression]
"""From the Jacobian of f and the gradient of g at f(w) to ∇F(w), a row."""


def printed(jacobian: Expression, slope: Expression) -> Expression:
    """Return (∇g(f(w)))ᵀ∇f(w), a row."""
    return slope.T * jacobian


@proof(
    name="comfedl/equation-11",
    source="ComFedL, arXiv v1 and v3, (11)",
    statement=r"\nabla F^i(w) = \big(\nabla g^i(f^i(w))\big)^{\top}\nabla f^i(w)",
    right=printed,
    edition="ComFedL, arXiv v1 and v3",
    false_siblings=[
        ("the Jacobian transposed", lambda j, s: s.T * (j.T if j.is_square else j)),
        ("∇g² in place of ∇g", lambda j, s: s.applyfunc(lambda e: e**2).T * j),
    ],
    explain="Right entry by entry. As printed it is a row, where the update needs a column.",
)
def chain_rule(right: ChainRule) -> list[Step]:
    steps = []
    for name, inner, outer in EXAMPLES:
        at = dict(zip(Y, inner, strict=False))
        slope = sympy.Matrix([sympy.diff(outer, y) for y in Y[: len(inner)]])
        slope = slope.subs(at, simultaneous=True)
        stated = right(sympy.Matrix(inner).jacobian(sympy.Matrix(W)), slope)
        whole = outer.subs(at, simultaneous=True)
        steps += [
            vanishes(
                sympy.expand(sympy.diff(whole, w) - stated[k]),
                rf"\partial_{k + 1} g(f(w)) \text{{ is entry {k + 1} of the row, {name}}}",
            )
            for k, w in enumerate(W)
        ]
    return steps
