r"""Other increasing functions in the place of exp.

**Statement.** "We can apply the other monotonically increasing functions instead of the function
g(·) = exp(·) in the problem (6)."

**Kind.** Identity of the minimisers of (5) and of (1/n) Σ g(f^i/γ).

**Source.** 000 and 001, after (6).

**Finding.** The logarithm may be left out because it is applied to the whole sum; g is applied to
each loss, and there increasing is not enough. With g(y) = y the sum is the average that the robust
problem was to replace.

**Which functions do.** The partial derivatives g'(f^i/γ) have to be proportional to exp(f^i/γ) for
all losses, so g'(y) = a e^y: g = a exp + c with a > 0, and no other (for n ≥ 2). Read as a remark
that other objectives may be posed, the sentence asserts nothing that could be checked.
"""

import sympy

from synthetic.problems import KLDRO
from toolkit import claim, grid, literal
from verifiers.claims.comfedl import _equation_6
from verifiers.symbolic import vanishes


@claim(
    name="comfedl/equation-6-monotone",
    kind="identity",
    source="000 and 001, the sentence after (6)",
    statement=r"\mathrm{argmin}_w \frac1n\sum_{i=1}^n g\big(f^i(w)/\gamma\big) = "
    r"\mathrm{argmin}_w \gamma\log\Big(\frac1n\sum_{i=1}^n\exp\big(f^i(w)/\gamma\big)\Big)"
    r"\;\text{ for other increasing } g",
)
class OtherFunctions:
    cases = grid(KLDRO(clients=[2, 4], form="log", temperature=0.2, ball=3.0))
    readings = {
        "any g keeps the minimisers of (5): g(y) = y": literal(lambda f, gamma: f / gamma),
        "any g keeps the minimisers of (5): g(y) = log(1 + exp(y))": literal(
            lambda f, gamma: sympy.log(1 + sympy.exp(f / gamma))
        ),
    }
    correction = (
        "For losses that may take any values, g'(x) e^y = g'(y) e^x for all x and y; divided by "
        "e^(x+y), g'(x) e^(-x) does not depend on x, so g(x) = a e^x + c, and a > 0 makes it "
        "increasing. Here a = 3, c = -5."
    )
    false_siblings = [
        ("g(y) = y + y²", lambda f, gamma: f / gamma + (f / gamma) ** 2),
        ("g(y) = exp(2y)", lambda f, gamma: sympy.exp(2 * f / gamma)),
    ]
    compare = _equation_6.compare

    def corrected(f, gamma):
        return 3 * sympy.exp(f / gamma) - 5

    def prove(right):
        g, x = sympy.Function("g"), sympy.Symbol("x", positive=True)
        general = sympy.dsolve(sympy.diff(g(x) * sympy.exp(-x), x), g(x)).rhs
        alone = sympy.diff(general, x) * sympy.exp(-x)
        says = r"g'(x)e^{-x} \text{ constant} \iff g'(x) = a e^x"
        return [*_equation_6.steps(right), vanishes(sympy.diff(alone, x), says)]

    explain = (
        "Any increasing function may be applied to the sum, but only a·exp + c to each loss: with "
        "another, the minimiser is that of another problem."
    )
