r"""Section 1: the stochastic gradient of a composition, said to be biased for every nonlinear f.

"The standard stochastic gradient is a biased estimation of the full gradient when the outer-level
function is nonlinear."

**Kind.** Symbolic, with a coin ξ = ±1 and f(y) = y²/2: E ∇g(x; ξ)f'(g(x; ξ)) against F'(x).

**Finding.** Overstated: for g(x; ξ) = x + ξ it is unbiased, since noise of the value alone is
averaged by an f' that is a line. As a warning it is right: for g(x; ξ) = (1 + ξ)x it is biased.
"""

import sympy

from driftproof.toolkit.constants import Expression
from driftproof.toolkit.readings import Erratum, intended, literal
from driftproof.verifiers.algebra.symbolic import Step, differs
from driftproof.verifiers.claim_types.proof import proof

x, xi = sympy.symbols("x xi", real=True)


@proof(
    name="scgdm/biased-gradient",
    source="Local-SCGDM (2022), section 1, and the same in section 2.1",
    statement=r"f \text{ nonlinear}:\quad \mathbb{E}\,\nabla g(x;\xi)^\top\nabla f(g(x;\xi)) \ne "
    r"\nabla F(x)",
    readings={
        "for every nonlinear f": literal(x + xi),
        "for some": intended(
            (1 + xi) * x, quote="section 2.1: “As a result, directly using SGD … converges slowly”"
        ),
    },
    erratum=Erratum(
        "overstated",
        changes="The gradient can be biased, but need not be: for f(y) = y²/2 and g(x; ξ) = x + ξ "
        "it is unbiased.",
        depends="nothing",
    ),
    false_siblings=[("without noise", x), ("noise of a constant", 2 * x + 3 * xi)],
    explain="The bias is the covariance of ∇g with f'(g) and what f' makes of the noise of g.",
)
def bias(inner: Expression) -> list[Step]:
    estimate = sympy.diff(inner, x) * inner
    mean = sum(estimate.subs(xi, coin) for coin in (1, -1)) / 2
    whole = sum(inner.subs(xi, coin) for coin in (1, -1)) / 2
    says = rf"g = {sympy.latex(inner)}:\; \mathbb{{E}}\,g'f'(g) - F' \ne 0"
    return [differs(sympy.expand(mean - whole * sympy.diff(whole, x)), says)]
