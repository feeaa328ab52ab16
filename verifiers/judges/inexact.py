"""How far a right side moves because its letters are rounded to double precision.

At η = 1/10 and L = 10 the number 1 − ηL is 0, but η is stored as a number a little above 1/10. A
row that would be refuted by less than that is not refuted.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from toolkit.constants import Notation, evaluate

UNIT = 2.0**-52
"""Relative change of a letter: twice the error of rounding it."""


def uncertainty(expression: Any, notation: Notation, roles: Mapping[str, float]) -> float:
    """Return how far an expression moves at most if each letter moves by a rounding error.

    To first order, letter by letter; whole numbers are exact.
    """
    base = evaluate(expression, notation, roles)
    total = 0.0
    for symbol in expression.free_symbols:
        role = notation[symbol.name]
        if notation.sign(symbol.name).endswith("integer") or not roles[role]:
            continue
        moved = {**roles, role: roles[role] * (1 + UNIT)}
        total += abs(evaluate(expression, notation, moved) - base)
    return total


def magnitude(expression: Any, notation: Notation, roles: Mapping[str, float]) -> float:
    """Return an expression's size before anything in it cancels: sums of sizes in place of sums."""
    return evaluate(_sizes(expression), notation, roles)


@cache
def _sizes(expression: Any) -> Any:
    import sympy

    if expression.is_Add:
        return sympy.Add(*(_sizes(term) for term in expression.args))
    if expression.is_Mul:
        return sympy.Mul(*(_sizes(factor) for factor in expression.args))
    if expression.is_Pow and expression.exp.is_positive and expression.exp.is_number:
        return _sizes(expression.base) ** expression.exp
    return sympy.Abs(expression)
