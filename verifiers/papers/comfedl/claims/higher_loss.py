r"""After (6): clients are re-weighted by their loss, "higher loss leads to higher weights".

**Kind.** Symbolic. The gradient of (6) is (1/n) Σ g'(f^i/γ)∇f^i/γ. So the weights rise with the
loss exactly where g' does: for exp, and for no increasing g that is not convex (g = log(1 + y)).
"""

import sympy

from driftproof.toolkit.constants import Expression
from driftproof.toolkit.readings import literal
from driftproof.verifiers.algebra.symbolic import Step, nonnegative, vanishes
from driftproof.verifiers.claim_types.proof import proof

loss, gamma = sympy.symbols("f gamma", positive=True)


@proof(
    name="comfedl/higher-loss",
    source="ComFedL, arXiv v3, after (6)",
    statement=r"\nabla\,\exp(f^i(w)/\gamma) = \frac{\exp(f^i(w)/\gamma)}\gamma\nabla f^i(w): "
    r"\text{ higher loss leads to higher weights}",
    readings={"g = exp(·/γ)": literal(sympy.exp(loss / gamma))},
    false_siblings=[
        ("g = log(1 + ·/γ)", sympy.log(1 + loss / gamma)),
        ("g = 1 − exp(−·/γ)", 1 - sympy.exp(-loss / gamma)),
    ],
    explain="So it is with exp. With another increasing g of (6) it needs a convex g.",
)
def higher_loss(outer: Expression) -> list[Step]:
    weight = sympy.diff(outer, loss)
    w = sympy.Symbol("w", real=True)
    inner = sympy.Function("f_i")(w)
    chain = sympy.diff(outer.subs(loss, inner), w) - weight.subs(loss, inner) * inner.diff(w)
    return [
        vanishes(chain, r"\nabla g(f^i/\gamma) = g'(f^i/\gamma)\,\nabla f^i/\gamma"),
        nonnegative(sympy.diff(weight, loss), r"\text{the weight rises with the loss}"),
    ]
