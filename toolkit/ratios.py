"""Rational functions of letters over the fractions: exact, and equal where they are the same."""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from flint import Ordering, fmpq, fmpq_mpoly, fmpq_mpoly_ctx

from driftproof.toolkit.errors import DriftproofError

ALIKE = "a text that is the same for all values of the letter"
SINGLE = re.compile(r"\w+(\*\*\d+)?")


def context(names: Any) -> fmpq_mpoly_ctx:
    """Return the ring of polynomials in some letters."""
    return fmpq_mpoly_ctx.get(tuple(sorted(names)), Ordering.lex)


def vanishes(of: Any) -> bool:
    """Tell whether a number is 0, or a function 0 for all values of its letters."""
    return of.top.is_zero() if isinstance(of, Ratio) else not of


class Subtracts:
    """The difference of what can be added, and multiplied by −1."""

    __slots__ = ()

    def __neg__(self) -> Any:
        return self * -1  # type: ignore[operator]

    def __sub__(self, other: Any) -> Any:
        return self + -1 * other

    def __rsub__(self, other: Any) -> Any:
        return -self + other


class Ratio(Subtracts):
    """p/q, polynomials in letters over the fractions, without a common factor; q is monic.

    ``==`` is refused while a letter is in the difference; ``vanishes`` compares functions.

    >>> eta = Ratio.letter("eta")
    >>> (1 - eta**2) / (1 + eta), eta - eta == 0, (1 / (2 + eta)).at({"eta": Fraction(1)})
    (-eta + 1, True, Fraction(1, 3))
    """

    __slots__ = ("bottom", "top")

    def __init__(self, top: fmpq_mpoly, bottom: fmpq_mpoly | None = None) -> None:
        if bottom is None:
            bottom = top.context().constant(1)
        common = top.gcd(bottom)
        lead = (bottom / common).leading_coefficient()
        self.top, self.bottom = top / common / lead, bottom / common / lead

    @classmethod
    def letter(cls, name: str) -> Ratio:
        """Return the letter itself."""
        return cls(context([name]).gens()[0])

    @property
    def letters(self) -> tuple[str, ...]:
        """The letters of its ring."""
        return tuple(self.top.context().names())

    def over(self, names: Any) -> Ratio:
        """Return it as an element of a ring with more letters."""
        ring, made = context(names), object.__new__(Ratio)
        made.top = self.top.project_to_context(ring)
        made.bottom = self.bottom.project_to_context(ring)
        return made

    def _pair(self, other: Any) -> tuple[Ratio, Ratio] | None:
        """Return both over one ring."""
        if isinstance(other, int | Fraction | fmpq):
            number = fmpq(other.numerator, other.denominator)
            return self, Ratio(self.top.context().constant(number))
        if not isinstance(other, Ratio):
            return None
        if self.letters == other.letters:
            return self, other
        names = {*self.letters, *other.letters}
        return self.over(names), other.over(names)

    def __add__(self, other: Any) -> Any:
        if (both := self._pair(other)) is None:
            return NotImplemented
        a, b = both
        if a.bottom == b.bottom:
            return Ratio(a.top + b.top, a.bottom)
        return Ratio(a.top * b.bottom + b.top * a.bottom, a.bottom * b.bottom)

    __radd__ = __add__

    def __mul__(self, other: Any) -> Any:
        if (both := self._pair(other)) is None:
            return NotImplemented
        a, b = both
        return Ratio(a.top * b.top, a.bottom * b.bottom)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        if (both := self._pair(other)) is None:
            return NotImplemented
        a, b = both
        if b.top.is_zero():
            raise ZeroDivisionError("a division by 0")
        return Ratio(a.top * b.bottom, a.bottom * b.top)

    def __rtruediv__(self, other: Any) -> Any:
        return (self * 0 + other) / self

    def __pow__(self, exponent: int) -> Any:
        if exponent < 0:
            return 1 / self**-exponent
        return Ratio(self.top**exponent, self.bottom**exponent)

    def __bool__(self) -> bool:
        return self != 0

    @property
    def number(self) -> Fraction | None:
        """The fraction that it is, if no letter is in it."""
        if not (self.top.is_constant() and self.bottom.is_constant()):
            return None
        value = self.top.leading_coefficient() if not self.top.is_zero() else fmpq(0)
        return Fraction(int(value.p), int(value.q))

    def __eq__(self, other: object) -> bool:
        apart = self - other if isinstance(other, Ratio | int | Fraction | fmpq) else None
        if apart is None or apart.number is None:
            what = f"a choice by whether {self!r} is {other!r}"
            raise DriftproofError(what, ALIKE, "give the parameter a number, or a case for each")
        return vanishes(apart)

    def __float__(self, digits: int | None = None) -> float:
        raise DriftproofError(f"{self!r}, which has no value", "a number", "free another letter")

    __round__ = __float__

    def __hash__(self) -> int:
        return hash(self.number) if self.number is not None else hash(str(self))

    def at(self, values: Mapping[str, Fraction]) -> Fraction:
        """Return its value where the letters are numbers.

        Raises:
            ZeroDivisionError: it has a pole there.
        """
        point = [fmpq(values[n].numerator, values[n].denominator) for n in self.letters]
        value = self.top(*point) / self.bottom(*point)
        return Fraction(int(value.p), int(value.q))

    def put(self, values: Mapping[str, Any]) -> Any:
        """Return it with numbers or rational functions in place of some letters."""
        each = [values.get(name, Ratio.letter(name)) for name in self.letters]
        parts = []
        for polynomial in (self.top, self.bottom):
            total: Any = 0
            for powers, factor in polynomial.terms():
                term: Any = fmpq(factor)
                for of, power in zip(each, powers, strict=True):
                    term = term * of ** int(power) if power else term
                total = total + term
            parts.append(total)
        return parts[0] / parts[1]

    def __str__(self) -> str:
        top, bottom = (str(of).replace("^", "**") for of in (self.top, self.bottom))
        if self.bottom.is_one():
            return top
        above = f"({top})" if " " in top else top
        return f"{above}/{bottom}" if SINGLE.fullmatch(bottom) else f"{above}/({bottom})"

    __repr__ = __str__
