r"""Slide "Two Special Cases": "FBO subsumes two popular problem classes", minimax and single-level.

**Kind.** Identity, by algebra on quadratics that stand for any functions with one maximiser in y.
"""

import sympy

from driftproof.toolkit.readings import literal
from driftproof.verifiers.algebra.symbolic import Step, argued, vanishes
from driftproof.verifiers.claim_types.proof import proof


@proof(
    name="fednest/two-special-cases",
    source="FedNest (2022), slides, Two Special Cases",
    statement=r"\min_x\tfrac1m\textstyle\sum_if_i(x,y^*(x)):\; g_i=-f_i \text{ gives } "
    r"\min_x\max_y\tfrac1m\sum_if_i(x,y), \text{ and } f_i(x) \text{ alone gives } "
    r"\min_x\tfrac1m\sum_if_i(x)",
    readings={"g_i = −f_i": literal(-1)},
    false_siblings=[("g_i = f_i", 1), ("g_i = 0", 0)],
    explain="By definition: argmin of −f is argmax of f. It asks that the maximiser is one.",
)
def two_special_cases(sign: int) -> list[Step]:
    x, y, a, b = sympy.symbols("x y a b", real=True)
    outer = a * x * y + b * y - y**2 / 2  # the mean of the f_i, with one maximiser in y
    best = next(iter(sympy.solve(sympy.diff(sign * outer, y), y)), y)
    return [
        vanishes(
            sympy.diff(sign * outer, y, 2) - 1,
            r"\tfrac1m\textstyle\sum_ig_i \text{ has one minimiser in } y",
        ),
        vanishes(
            sympy.diff(outer, y).subs(y, best),
            r"\text{it is where } \tfrac1m\textstyle\sum_if_i \text{ is largest}",
        ),
        argued(
            r"f_i(x,y) = f_i(x):\; f(x) = \tfrac1m\textstyle\sum_if_i(x)", "y* is not in f then"
        ),
    ]
