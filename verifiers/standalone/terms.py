r"""Numbers that know how they were computed: each is a fraction or a ball, with its LaTeX.

A run in balls (``toolkit.engines.balls``) takes them for balls, so that an algorithm, a problem and
a measure say by their own text what is computed of what. A double is the short fraction that it
stands for; a fraction of many digits goes on as an interval of twelve.

>>> x, eta = Term(Fraction(3)), Term(Fraction(1, 10), r"\eta")
>>> moved = x - eta * (2 * x - 1)
>>> moved.text, moved.value
('3 - \\eta \\cdot (2 \\cdot 3 - 1)', Fraction(5, 2))
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from decimal import Decimal, localcontext
from fractions import Fraction
from math import ceil, floor, log10
from types import SimpleNamespace
from typing import Any

from flint import arb

from driftproof.toolkit.balls.operations import power as power_of_balls
from driftproof.toolkit.balls.tensor import RefusedError, ball, fraction
from driftproof.toolkit.rationals import decimal
from driftproof.toolkit.rationals import root as rational_root
from driftproof.toolkit.tolerances import STORED

SUM, SIGNED, PRODUCT, ATOM = range(4)
"""How a text binds: as a sum, as a product with a sign, as a product, or as one letter."""
LONG, DIGITS = 24, 12
"""Digits of a fraction that is still written as one, and of an interval otherwise."""
NAMED = 20
"""Letters of a number that stands in a formula itself, at most."""
SHORT = 1000
"""The largest denominator of a fraction that could be a decimal."""


_interval_of = SimpleNamespace(digits=DIGITS)


@contextmanager
def digits_of_intervals(digits: int) -> Iterator[None]:
    """Write intervals with so many digits: they widen with each step."""
    before, _interval_of.digits = _interval_of.digits, digits
    try:
        yield
    finally:
        _interval_of.digits = before


class Term(arb):
    """A number with the text of how it was computed.

    Attributes:
        value: a fraction, or a ball.
        text: LaTeX.
        binds: how its parts bind.
        bare: whether it is a constant of some text, of which a 0 or a 1 need not be shown.
        copies: of a sum of equal numbers, one of them and how many they are.
        of_square: of a square, what it is of.
        moved: of x + c, x and the number c, which a later number is added to.
    """

    moved: tuple[Term, Fraction] | None = None

    of_square: Term | None = None
    copies: tuple[Term, int] | None = None

    def __init__(self, value: Any, text: str = "", binds: int = ATOM, bare: bool = False) -> None:
        super().__init__(ball(value))
        self.value, self.bare = value, bare
        self.text = text or number_text(value)
        self.binds = SIGNED if self.text[0] == "-" and binds == ATOM else binds

    def within(self, least: int) -> str:
        """Return the text, in brackets unless it binds as a part of something has to."""
        return self.text if self.binds >= least else bracketed(self.text)

    def __add__(self, other: Any) -> Term:
        a, b = self, term(other)
        if a.moved and b.bare and isinstance(b.value, Fraction):
            left = a.moved[1] + b.value  # 0 but for the roundings of a constant
            return a.moved[0].moved_by(left * (abs(left) > Fraction(STORED) * abs(b.value)))
        if b.text == "0" or (a.bare and a.value == 0):
            return a if b.text == "0" else b
        signed = f"- {b.text[1:]}" if b.text[0] == "-" else b.text.removeprefix("0 ")
        text = f"{a.text} {signed}" if signed[0] == "-" else f"{a.text} + {b.text}"
        made, (one, count) = _made(operator.add, text, SUM, a, b), a.copies or (a, 1)
        made.copies = (one, count + 1) if one.text == b.text else None
        return made

    def __neg__(self) -> Term:
        if self.text == "0":
            return self
        text = self.text[1:] if self.binds == SIGNED else f"-{self.within(SIGNED)}"
        return _made(operator.neg, text, PRODUCT if self.binds == SIGNED else SIGNED, self)

    def __sub__(self, other: Any) -> Term:
        a, b = self, term(other)
        if a.moved and b.bare:
            return a + -b
        if b.text == "0" or (a.bare and a.value == 0):
            return a if b.text == "0" else -b
        if a.text == b.text and isinstance(a.value, Fraction):
            return Term(Fraction(0))
        text = f"{a.text} + {b.text[1:]}" if b.binds == SIGNED else f"{a.text} - {b.within(SIGNED)}"
        return _made(operator.sub, text, SUM, a, b)

    def __mul__(self, other: Any) -> Term:
        a, b = self, term(other)
        if "0" in (a.text, b.text):
            return Term(Fraction(0), bare=(a if a.text == "0" else b).bare)
        for one, two in ((a, b), (b, a)):
            if one.bare and one.value in (-1, 1):
                return two if one.value == 1 else -two
        if a.text == b.text:
            return a**2
        if b.binds == SIGNED:
            return -(a * -b)
        text = rf"{a.within(SIGNED)} \cdot {b.within(PRODUCT)}"
        return _made(operator.mul, text, min(a.binds or PRODUCT, PRODUCT), a, b)

    def __truediv__(self, other: Any) -> Term:
        a, b = self, term(other)
        if b.value == 0:
            raise RefusedError("a division by 0")
        if (b.bare and b.value == 1) or (a.text == "0" and b.value != 0):
            return a
        if a.copies and b.value == a.copies[1]:
            return a.copies[0]
        return _made(operator.truediv, rf"\frac{{{a.text}}}{{{b.text}}}", ATOM, a, b)

    def __pow__(self, times: Any, *_: Any) -> Term:
        if not isinstance(times, int):
            raise RefusedError("a power that is no integer")
        alone = self.binds == ATOM and self.text[0] != "\\" and not re.search(r"\^.*}$", self.text)
        base = self.text if alone else bracketed(self.text)  # LaTeX takes no second exponent
        made = _made(lambda x: power(x, Fraction(times)), f"{base}^{{{times}}}", PRODUCT, self)
        made.of_square = self if times == 2 else None
        return made

    def moved_by(self, by: Fraction) -> Term:
        """Return x + c, of which c may cancel."""
        if not by:
            return self
        made = self + Term(by, bare=True)
        made.moved = self, by
        return made

    def __abs__(self) -> Term:
        return _made(abs, rf"\left|{self.text}\right|", ATOM, self)

    def sqrt(self) -> Term:
        """Return √x: a fraction if x is the square of one."""
        of = self.of_square
        return _made(root, rf"\sqrt{{{self.text}}}", ATOM, self) if of is None else abs(of)

    def nonnegative_part(self) -> Term:
        """Return x, where it is not below 0."""
        return self if self >= 0 else Term(super().nonnegative_part())

    def max(self, other: Any) -> Term:
        """Return the larger; open where balls overlap."""
        return self._one_of(term(other), operator.ge)

    def min(self, other: Any) -> Term:
        """Return the smaller."""
        return self._one_of(term(other), operator.le)

    def _one_of(self, other: Term, of: Any) -> Term:
        if of(self, other) or of(other, self):
            return self if of(self, other) else other
        raise RefusedError("which of two numbers is larger was left open", open=True)

    __hash__ = None  # type: ignore[assignment]


for _word in ("add", "sub", "mul", "truediv"):
    _of = getattr(Term, f"__{_word}__")
    setattr(Term, f"__r{_word}__", lambda a, b, of=_of: of(term(b), a))
for _word in ("lt", "le", "gt", "ge", "eq"):
    _of = getattr(operator, _word)
    setattr(Term, f"__{_word}__", lambda a, b, of=_of: on_values(of, a.value, term(b).value))


def bracketed(text: str) -> str:
    """Return a text in brackets as high as it is."""
    return rf"\left({text}\right)" if r"\frac" in text else f"({text})"


def term(x: Any) -> Term:
    """Return a number as a term: a double is the short fraction that it stands for."""
    if isinstance(x, Term):
        return x
    if isinstance(x, arb) and not x.is_exact():
        return Term(*_interval(x), bare=True)  # as wide as it is written
    middle = fraction(x.mid()) if isinstance(x, arb) else Fraction(x)
    return Term(decimal(float(middle)) if Fraction(float(middle)) == middle else middle, bare=True)


def on_values(of: Callable[..., Any], *xs: Any) -> Any:
    """Call a function on fractions, or on balls if one of them is no fraction."""
    return of(*(xs if all(isinstance(x, Fraction) for x in xs) else map(ball, xs)))


def root(x: Any) -> Any:
    """Return the square root of a fraction, as one if it is one."""
    if isinstance(x, Fraction) and x >= 0 and (exact := rational_root(x)) ** 2 == x:
        return exact
    return ball(x).sqrt()


def power(x: Any, times: Any) -> Any:
    """Return x^n: of whole and half n a fraction if it is one."""
    half = isinstance(times, Fraction) and times.denominator == 2
    of, n = (root(x), times * 2) if half else (x, times)
    if isinstance(of, Fraction) and isinstance(n, Fraction) and n.denominator == 1:
        return of**n.numerator
    return power_of_balls(ball(of), ball(n))


def _made(of: Callable[..., Any], text: str, binds: int, *xs: Term) -> Term:
    return Term(on_values(of, *(x.value for x in xs)), text, binds, all(x.bare for x in xs))


def settled(x: Any, name: str = "") -> Term:
    """Return a number as what is written of it: a short fraction, or an interval of few digits.

    Args:
        name: what it is called from now on if it takes more letters than ``NAMED``.
    """
    value = term(x).value
    short = isinstance(value, Fraction) and len(f"{value.numerator}{value.denominator}") <= LONG
    made = Term(value) if short else Term(*_interval(value))
    return Term(made.value, name) if name and len(made.text) > NAMED else made


def _interval(value: Any) -> tuple[arb, str]:
    """Return middle ± k·10^power around a number, and its text."""
    if isinstance(value, Fraction):
        middle, away = value, Fraction(0)
    elif not value.is_finite():
        raise RefusedError("a number's interval has no bound, as in long runs: try fewer rounds")
    else:
        middle, away = fraction(value.mid()), fraction(value.rad())
    sizes = ((abs(middle), _interval_of.digits), (away, 2))
    power = max(floor(log10(x)) + 1 - digits for x, digits in sizes if x)
    unit = Fraction(10) ** power
    digits = round(middle / unit)
    times = ceil((away + abs(middle - digits * unit)) / unit)
    with localcontext(prec=len(f"{digits}")):
        text = rf"[{Decimal(digits).scaleb(power):f} \pm {times} \cdot 10^{{{power}}}]"
    return around(digits * unit, times * unit), text


def around(middle: Fraction, away: Fraction) -> arb:
    """Return middle ± away."""
    return ball(middle) + arb(0, 1) * ball(away)


def number_text(value: Any) -> str:
    """Return a number as LaTeX: a fraction, or an interval."""
    if not isinstance(value, Fraction):
        return _interval(value)[1]
    sign, size = "-" * (value < 0), abs(value)
    if size.denominator == 1:
        return f"{sign}{size.numerator}"
    if size.denominator > SHORT and 10**LONG % size.denominator == 0:
        with localcontext(prec=2 * LONG):
            return f"{sign}{Decimal(size.numerator) / size.denominator:f}"
    return rf"{sign}\frac{{{size.numerator}}}{{{size.denominator}}}"


NOTHING = Term(Fraction(0), bare=True)
"""What a sum begins with."""
