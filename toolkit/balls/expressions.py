"""Right sides in ball arithmetic: an expression of sympy, its value enclosed, and its size."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Any

import flint
from flint import arb

from driftproof.toolkit.balls.operations import power
from driftproof.toolkit.balls.tensor import RefusedError, decided


@dataclass(frozen=True)
class Sized:
    """A value, and the size of what was added up to make it.

    The size says what a difference has to be small against: of 1 − ηL at ηL = 1 the value is 0, the
    size 2.
    """

    value: arb
    size: arb

    @classmethod
    def of(cls, value: arb) -> Sized:
        """Return a value that is no sum."""
        return cls(value, abs(value))


def expression_in_balls(expression: Any, letters: Mapping[str, Sized]) -> Sized:
    """Return the enclosure of an expression at letters that are balls.

    >>> import sympy
    >>> from driftproof.toolkit.balls import precision
    >>> x = sympy.Symbol("x")
    >>> with precision(200):
    ...     made = expression_in_balls((1 + x) ** 2 - 1, {"x": Sized.of(flint.arb(1e-30))})
    ...     bool(made.value > 1.9e-30), bool(made.size > 1.9)
    (True, True)
    """
    import sympy

    arguments = [] if expression.is_Relational or expression.is_Piecewise else expression.args
    parts = [expression_in_balls(part, letters) for part in arguments]
    if expression.is_Symbol:
        return letters[expression.name]
    if expression.is_Rational:
        return Sized.of(arb(flint.fmpq(int(expression.p), int(expression.q))))
    if expression.is_Float:
        return Sized.of(_double(expression))
    if expression.is_Add or expression.is_Mul:
        join = operator.add if expression.is_Add else operator.mul
        return Sized(reduce(join, [x.value for x in parts]), reduce(join, [x.size for x in parts]))
    if expression.is_Pow:
        base, exponent = parts
        raised = power(base.value, exponent.value)
        whole = expression.exp.is_Integer and expression.exp > 0
        return Sized(raised, base.size ** int(expression.exp)) if whole else Sized.of(raised)
    if expression.is_Piecewise:
        return _piece(expression, letters)
    if expression in _CONSTANTS(sympy):
        return Sized.of(_CONSTANTS(sympy)[expression])
    name = type(expression).__name__
    if name not in _FUNCTIONS:
        raise RefusedError(f"{name} in a right side has no version for balls")
    return Sized.of(_FUNCTIONS[name](*(part.value for part in parts)))


def _double(number: Any) -> arb:
    """Return a number of sympy's exactly: it is a binary fraction."""
    sign, mantissa, exponent, _ = number._mpf_
    magnitude: arb = arb(int(mantissa)) * arb(2) ** int(exponent)
    return -magnitude if sign else magnitude


def _piece(expression: Any, letters: Mapping[str, Sized]) -> Sized:
    """Return the first piece whose condition holds; refuse where balls leave it open."""
    for piece, condition in expression.args:
        if condition == True or _holds(condition, letters):  # noqa: E712 - sympy's true
            return expression_in_balls(piece, letters)
    raise RefusedError("a right side in pieces, none of which is known to apply")


_RELATIONS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}


def _holds(condition: Any, letters: Mapping[str, Sized]) -> bool:
    symbol = getattr(condition, "rel_op", "")
    if symbol in _RELATIONS:
        left, right = (expression_in_balls(side, letters).value for side in condition.args)
        answer = decided(_RELATIONS[symbol], left, right)
        if answer is not None:
            return answer
    raise RefusedError(f"whether {condition} was left open", open=True)


def _CONSTANTS(sympy: Any) -> dict[Any, arb]:  # noqa: N802 - numbers, by what sympy calls them
    return {sympy.pi: arb.pi(), sympy.E: arb.const_e()}


_FUNCTIONS: Mapping[str, Callable[..., arb]] = {
    "exp": arb.exp,
    "log": arb.log,
    "sin": arb.sin,
    "cos": arb.cos,
    "tan": arb.tan,
    "sinh": arb.sinh,
    "cosh": arb.cosh,
    "tanh": arb.tanh,
    "Abs": abs,
    "LambertW": arb.lambertw,
    "floor": arb.floor,
    "ceiling": arb.ceil,
    "Max": lambda *xs: reduce(arb.max, xs),
    "Min": lambda *xs: reduce(arb.min, xs),
}
