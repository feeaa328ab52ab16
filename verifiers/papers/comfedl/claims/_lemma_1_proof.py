"""The displays of the proof of Lemma 1, for either edition's stationarity term."""

import sympy
from sympy import exp, log, symbols

from driftproof.toolkit.constants import Expression
from driftproof.verifiers.algebra.symbolic import Step, nonnegative, vanishes

f, r, gamma, mean = symbols("f r gamma E", positive=True)
multiplier = symbols("lambda", real=True)
n = symbols("n", positive=True, integer=True)


def displays(term: Expression, first: int) -> list[Step]:
    r"""Return the proof's displays as steps, for the term that ∂L/∂r_i is printed with.

    Args:
        term: the term of γ and n; L's derivative is printed as f^i − γ log(n r_i) − term + λ.
        first: the number of that display; the others follow it.
    """
    lagrangian = r * f - gamma * r * log(r * n) + multiplier * r
    printed = f - gamma * log(r * n) - term + multiplier
    share = exp(multiplier / gamma - term / gamma) * exp(f / gamma) / n
    solved = term - gamma * log(mean)  # λ, from the last display but one
    at = share.subs(multiplier, solved)
    return [
        vanishes(
            sympy.diff(lagrangian, r) - printed,
            rf"({first})\; \partial L/\partial r_i = f^i - \gamma\log(r_in) - "
            rf"{sympy.latex(term)} + \lambda",
        ),
        vanishes(
            (f - gamma * log(n * r) - (term - multiplier)).subs(r, share),
            rf"({first + 2})\; r_i \text{{ solves }} ({first + 1})",
        ),
        vanishes(
            exp(multiplier / gamma - term / gamma).subs(multiplier, solved) * mean - 1,
            rf"({first + 3})\text{{–}}({first + 5})\; \lambda \text{{ makes }} \sum_i r_i = 1,"
            r"\; E = \tfrac1n\sum_i e^{f^i/\gamma}",
        ),
        vanishes(
            f - gamma * log(n * at) - gamma * log(mean),
            rf"({first + 6})\; f^i - \gamma\log(nr_i) = \gamma\log E \text{{ for every }} i",
        ),
        vanishes(at - exp(f / gamma) / (n * mean), r"r_i = e^{f^i/\gamma}/\sum_j e^{f^j/\gamma}"),
        nonnegative(-sympy.diff(lagrangian, r, 2), r"L \text{ is concave in } r: \text{a maximum}"),
    ]
