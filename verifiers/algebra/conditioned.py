"""Values of expressions that are certain to differ from 0, and how large what cancels in them is.

A value that is computed with d digits is wrong by about 10^−d of the *size* of an expression: the
sum of sizes in place of a sum, weighted by how strongly powers and functions pass errors on. One
that is larger is not 0. Terms of 10^7000 that cancel leave a number that means nothing.
"""

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

DIGITS = 60, 400
"""Digits that a value is computed with: the second if the first leave it open."""
SPARE = 15
"""Digits by which a value has to exceed its error."""


@cache
def _compiled(expression: Any) -> tuple[list[Any], Callable[..., Any], Callable[..., Any]]:
    import sympy

    letters = sorted(expression.free_symbols, key=str)
    value, size = (sympy.lambdify(letters, e, "mpmath") for e in (expression, _size(expression)))
    return letters, value, size


def _size(expression: Any) -> Any:
    import sympy
    from sympy.logic.boolalg import Boolean

    e = expression
    if e.is_Add:
        return sympy.Add(*map(_size, e.args))
    if e.is_Mul:
        return sympy.Mul(*map(_size, e.args))
    if e.is_Pow and e.exp.is_Integer and e.exp > 0:
        return _size(e.base) ** e.exp
    if not e.args:
        return sympy.Abs(e)
    if e.is_Pow and e.base.is_positive and e.base.is_number:
        return sympy.Abs(e) * (1 + _size(e.exp))
    if e.is_Pow:
        passed_on = sympy.Abs(e.exp) * _size(e.base) / sympy.Abs(e.base)
        if e.exp.is_number:
            return sympy.Abs(e) * (1 + passed_on)
        return sympy.Abs(e) * (1 + passed_on + _size(e.exp) * (1 + sympy.Abs(sympy.log(e.base))))
    if isinstance(e, sympy.exp):
        return sympy.Abs(e) * (1 + _size(e.args[0]))
    if isinstance(e, sympy.log):
        return sympy.Abs(e) + _size(e.args[0]) / sympy.Abs(e.args[0])
    inside = [part for part in sympy.preorder_traversal(e) if part in e.args or _branch(part, e)]
    inside = [part for part in inside if not isinstance(part, Boolean | sympy.Tuple)]
    return (1 + sympy.Abs(e)) * (1 + sympy.Add(*map(_size, inside)))


def _branch(part: Any, whole: Any) -> bool:
    """Say whether an expression is what a case distinction gives in one of its cases."""
    import sympy

    return isinstance(whole, sympy.Piecewise) and any(part == pair[0] for pair in whole.args)


def value(expression: Any, point: Mapping[Any, Any]) -> Any:
    """Return an expression's value at a point of rationals, 0 unless it is certain to be another.

    None where it has no value, or none that can be computed.
    """
    import mpmath

    letters, compiled, size = _compiled(expression)
    for digits in DIGITS:
        with mpmath.workdps(digits):
            try:
                at = [mpmath.mpf(point[s].p) / point[s].q for s in letters]
                number, scale = mpmath.mpmathify(compiled(*at)), abs(size(*at))
            except (TypeError, ValueError, ArithmeticError, NameError, AttributeError):
                return None
            if not (mpmath.isfinite(number) and mpmath.isfinite(scale)):
                return None
            if abs(number) > scale * mpmath.mpf(10) ** (SPARE - digits):
                return number
    return mpmath.mpf(0)
