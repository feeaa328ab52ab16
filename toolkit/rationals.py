"""Doubles as the fractions that they stand for."""

from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal, localcontext
from fractions import Fraction
from functools import lru_cache
from math import isqrt, ulp
from typing import Any

import numpy as np

from driftproof.toolkit.ratios import Ratio

DENOMINATOR = 2**20
"""A double that is the nearest to a fraction of at most this denominator stands for it."""
SIMPLE, DECIMALS = 10**4, 12
"""A double may stand for a fraction of at most this denominator, or a decimal of so many digits."""
ROUNDINGS = 4
"""How many roundings may part the two: 1 − 1/3 is the double above the one nearest to 2/3."""
ROOT_DIGITS = 10**12
"""Denominators of the roots that are rounded down."""
INEXACT: list[float] = []
"""The doubles of a run that are no short fraction, as √2: the decimals that Python prints stand
for them."""


@lru_cache(maxsize=4096)
def nearest_fraction(value: float) -> Fraction:
    """Return the fraction that a value stands for.

    >>> nearest_fraction(1 / 3), nearest_fraction(2.0**-60) == Fraction(1, 2**60)
    (Fraction(1, 3), True)
    """
    near = Fraction(value).limit_denominator(DENOMINATOR)
    return near if float(near) == value else Fraction(value)


def decimal(value: Any) -> Any:
    """Return the fraction that a number of an algorithm or a claim stands for.

    That is the simple one, or the decimal of few digits, that at most a few roundings part from it;
    else the decimal that Python prints. A letter stays one.

    >>> decimal(0.1), decimal(2 / 1.1), decimal(1 - 1 / 3), decimal(0.95**4) == Fraction(19, 20)**4
    (Fraction(1, 10), Fraction(20, 11), Fraction(2, 3), True)
    """
    if isinstance(value, np.generic):  # repr writes its type, too
        value = value.item()
    if isinstance(value, Ratio):
        return value
    if isinstance(value, Fraction | int):
        return Fraction(value)
    if (near := _short(value)) is not None:
        return near
    INEXACT.append(value)
    return Fraction(repr(value))


def other_than(value: float) -> Fraction | None:
    """Return what a number stands for where that is not the number itself (None: it is).

    >>> other_than(0.1), other_than(1 - 1 / 3), other_than(2.0000000000000004)
    (None, Fraction(2, 3), Fraction(2, 1))
    """
    near = _short(value)
    return near if near is not None and float(near) != value else None


def _short(value: float) -> Fraction | None:
    both = Fraction(value).limit_denominator(SIMPLE), Fraction(f"{value:.{DECIMALS}g}")
    return next((of for of in both if abs(float(of) - value) <= ROUNDINGS * ulp(value)), None)


def in_fractions(expression: Any) -> Any:
    """Return an expression of sympy with the short fractions that its floats stand for.

    >>> import sympy
    >>> in_fractions(sympy.Symbol("x") + 1 / 9)
    x + 1/9
    """
    import sympy

    near = {x: _short(float(x)) for x in expression.atoms(sympy.Float)}
    return expression.xreplace({x: sympy.Rational(of) for x, of in near.items() if of is not None})


def rounded(of: Fraction, digits: int, *, up: bool) -> str:
    """Return a number in so many digits, not below it, or not above.

    >>> rounded(Fraction(1, 3), 3, up=True), rounded(Fraction(1, 3), 3, up=False)
    ('0.334', '0.333')
    """
    with localcontext(prec=digits, rounding=ROUND_CEILING if up else ROUND_FLOOR):
        return f"{(Decimal(of.numerator) / of.denominator).normalize():f}"


def root(of: Fraction) -> Fraction:
    """Return the square root, rounded down to a fraction where it is none.

    >>> root(Fraction(9, 4)), float(root(Fraction(2)))
    (Fraction(3, 2), 1.414213562373)
    """
    exact = Fraction(isqrt(of.numerator), isqrt(of.denominator))
    return exact if exact**2 == of else Fraction(isqrt(int(of * ROOT_DIGITS**2)), ROOT_DIGITS)
