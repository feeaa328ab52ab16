"""Evaluates the right side that a certificate holds: an expression in letters, exactly.

The grammar is Python's arithmetic: ``+ - * /``, ``**``, brackets, whole numbers, letters, and
``sqrt exp log Abs Min Max pi``. A value is a fraction as long as all that it is made of is one,
else an enclosure by balls (Arb): then a bound is compared with the lower end, or with the upper end
where it has to be exceeded. With letters that are
free it is a rational function of them. ``verifiers.worst_case.check`` rests on this file.
"""

import ast
import re
from collections.abc import Callable, Mapping
from functools import reduce
from string import ascii_letters, digits
from typing import Any, TypeAlias

from flint import arb, ctx, fmpq

from driftproof.toolkit.ratios import Ratio

BITS = 500
"""The precision of balls."""
LARGEST = 10_000
"""The largest exponent, and the longest text: beyond it a number would not fit on a page."""
POWER = 100
"""The largest exponent of a function of letters."""
PRINTED = frozenset(ascii_letters + digits + "_+-*/(), ")
"""All that a right side is written with: nothing that a reader does not see."""
Value: TypeAlias = Any
"""A fraction, a ball, or a rational function: fmpq, arb or Ratio."""


def evaluate(
    text: str, letters: Mapping[str, fmpq], free: Mapping[str, Ratio] | None = None
) -> Value:
    """Return the value of an expression; a rational function if ``free`` letters are in it.

    >>> L, S = fmpq(2), fmpq(3)
    >>> evaluate("L/(4*S + 2)", {"L": L, "S": S}), evaluate("sqrt(9/4)**-S", {"S": S})
    (1/7, 8/27)

    Raises:
        ValueError, ArithmeticError: it is no such expression, or has no real value; a letter has
            no value, or a value has no letter in the expression.
    """
    if strange := set(text) - PRINTED:
        raise ValueError(f"{sorted(strange)} in the right side {text!r}")
    if odd := re.search(r"\b[0-9]+[A-Za-z_]\w*", text):
        raise ValueError(f"the number {odd[0]!r} in the right side {text!r}")
    if len(text) > LARGEST:
        raise ValueError(f"a right side of {len(text)} characters")
    used = set[str]()
    try:
        with ctx.workprec(BITS):
            named = {**letters, **(free or {})}
            value = _value(ast.parse(text.strip(), mode="eval").body, named, used)
    except (RecursionError, MemoryError) as error:  # Python's parser has too deep a text so
        raise ValueError("a right side with too many brackets or signs") from error
    except TypeError as error:  # a root of a letter, or an irrational number beside one
        raise ValueError(f"{text!r} is no rational function of its free letters") from error
    if used - set(free or ()) != set(letters):
        raise ValueError(f"{text!r} does not speak of {', '.join(sorted(set(letters) - used))}")
    return value


def ends(value: Value) -> tuple[Any, Any]:
    """Return fractions that enclose a value; they are equal if it is a fraction."""
    if isinstance(value, fmpq | Ratio):
        return value, value
    with ctx.workprec(BITS):
        low, high = value.lower(), value.upper()
    return _fraction(low), _fraction(high)


def _fraction(of: arb) -> fmpq:
    if not of.is_finite():
        raise ArithmeticError("a right side that is no real number")
    mantissa, exponent = of.man_exp()
    if abs(exponent) > LARGEST:
        raise ArithmeticError(f"a right side of the size of 2^{exponent}")
    return fmpq(mantissa) * fmpq(2) ** int(exponent)


def _value(node: ast.expr, letters: Mapping[str, Value], used: set[str]) -> Value:
    def part(of: ast.expr) -> Value:
        return _value(of, letters, used)

    made: Value
    match node:
        case ast.Constant(int() as number) if not isinstance(number, bool):
            return fmpq(number)
        case ast.Name("pi"):
            return arb.pi()
        case ast.Name(name) if name in letters:
            used.add(name)
            return letters[name]
        case ast.UnaryOp(ast.USub(), of):
            made = -part(of)
        case ast.BinOp(one, ast.Pow(), two):
            made = _power(part(one), part(two))
        case ast.BinOp(one, operator, two) if type(operator) in BINARY:
            made = BINARY[type(operator)](part(one), part(two))
        case ast.Call(ast.Name(name), of, []) if name in FUNCTIONS and of:
            made = FUNCTIONS[name](*map(part, of))
        case _:
            raise ValueError(f"{ast.unparse(node)!r} in a right side")
    return made


def _power(base: Value, exponent: Value) -> Value:
    if isinstance(exponent, fmpq) and abs(exponent) > LARGEST:
        raise ArithmeticError(f"the exponent {exponent}")
    if isinstance(base, Ratio):
        if not isinstance(exponent, fmpq) or exponent.q != 1 or abs(exponent) > POWER:
            raise ArithmeticError(f"the exponent {exponent} of a function of letters")
        return base ** int(exponent.p)
    if isinstance(base, fmpq) and isinstance(exponent, fmpq):
        if exponent.q == 1:
            digits = max(base.p.bit_length(), base.q.bit_length())
            if digits * abs(exponent) > 10 * LARGEST:
                raise ArithmeticError(f"the exponent {exponent} of a number of {digits} bits")
            return base ** int(exponent.p)
        if exponent.q == 2:
            return _power(sqrt(base), 2 * exponent)
    return arb(base) ** arb(exponent)


def sqrt(of: Value) -> Value:
    """Return the root, a fraction if it is one."""
    if isinstance(of, fmpq) and of >= 0:
        root = fmpq(of.p.isqrt(), of.q.isqrt())
        if root * root == of:
            return root
    return arb(of).sqrt()


def _larger(one: Value, two: Value) -> Value:
    if isinstance(one, fmpq) and isinstance(two, fmpq):
        return max(one, two)
    return arb(one).max(arb(two))


def _smaller(one: Value, two: Value) -> Value:
    return -_larger(-one, -two)


BINARY: Mapping[type[ast.operator], Callable[[Value, Value], Value]] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.Div: lambda a, b: a / b,
}
FUNCTIONS: Mapping[str, Callable[..., Value]] = {
    "sqrt": sqrt,
    "exp": lambda of: arb(of).exp(),
    "log": lambda of: arb(of).log(),
    "Abs": abs,
    "Max": lambda *of: reduce(_larger, of),
    "Min": lambda *of: reduce(_smaller, of),
}
