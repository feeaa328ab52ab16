"""Doubles as the fractions that they stand for."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

DENOMINATOR = 2**20
"""A double that is the nearest to a fraction of at most this denominator stands for it."""


@lru_cache(maxsize=4096)
def meant(value: float) -> Fraction:
    """Return the fraction that a value stands for.

    >>> meant(1 / 3), meant(0.5), meant(2.0**-60) == Fraction(1, 2**60)
    (Fraction(1, 3), Fraction(1, 2), True)
    """
    near = Fraction(value).limit_denominator(DENOMINATOR)
    return near if float(near) == value else Fraction(value)
