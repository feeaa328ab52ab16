r"""Numbers and sums of a certificate as LaTeX, short enough to be checked by hand."""

import re
from collections.abc import Iterable, Iterator
from functools import cache
from math import gcd, lcm
from typing import Any, NamedTuple

from flint import fmpq, fmpq_mpoly

from driftproof.toolkit.constants import latex
from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.ratios import Ratio, vanishes
from driftproof.verifiers.worst_case.statement import Numbers

DIGITS = 8
"""The longest whole number that is printed: what a pocket calculator shows."""


class UnprintableError(DriftproofError):
    """A certificate that is right, and would be no proof that a person can check."""


class Factor(NamedTuple):
    """A polynomial without a factor, to a power."""

    text: str
    power: int
    is_sum: bool
    signed: bool


class Printer:
    r"""Writes numbers: fractions, or factored functions of letters.

    >>> from driftproof.verifiers.worst_case.signs import Region
    >>> region = Region([["0", "<", "L"], ["0", "<", "mu", "<", "L"]])
    >>> Printer(region).sum([(region.number("(mu - L)/(2*L)"), "x"), (fmpq(1, 2), "y")])
    '-\\frac{L-\\mu}{2 L} x+\\frac{1}{2} y'
    """

    def __init__(self, numbers: Numbers) -> None:
        self.numbers = numbers
        self._factors: dict[str, tuple[fmpq, Factor]] = {}

    def signed(self, of: Any) -> tuple[str, str]:
        """Return the sign of a number, and its size: "" for 1."""
        if not isinstance(of, Ratio):
            return "-" * (of < 0) or "+", _fraction(abs(fmpq(of)))
        (above, top), (below, bottom) = self.factors(of.top), self.factors(of.bottom)
        c = above / below
        high, low = _product(abs(c.p), top), _product(c.q, bottom)
        text = f"\\frac{{{_bare(high)}}}{{{_bare(low)}}}" if low != "1" else high
        return "-" * (c < 0) or "+", "" if text == "1" else text

    def number(self, of: Any) -> str:
        """Return a number that stands alone."""
        if vanishes(of):
            return "0"
        sign, size = self.signed(of)
        return sign.removeprefix("+") + (_bare(size) if sign == "+" else size or "1")

    def sum(self, terms: Iterable[tuple[Any, str]]) -> str:
        """Return Σ c·text; terms with one number up to sign share a bracket. "" stands for 1."""
        groups: dict[str, list[tuple[str, str]]] = {}
        for c, text in terms:
            if not vanishes(c):
                sign, size = self.signed(c)
                alone = "" if text else size or "1"
                groups.setdefault("" if alone else size, []).append((sign, text or alone))
        made = ""
        for size, members in groups.items():
            if size and len(members) > 1:
                lead = members[0][0]
                inner = "".join(("-", "+")[sign == lead] + text for sign, text in members)
                made += f"{lead}{size}({inner[1:]})"
            else:
                made += "".join(
                    f"{sign}{size} {text}" if size else sign + text for sign, text in members
                )
        return made.removeprefix("+") or "0"

    def factors(self, of: fmpq_mpoly) -> tuple[fmpq, list[Factor]]:
        """Return a constant, and factors that are positive in the region if they have a sign."""
        constant, parts = of.factor()
        made = []
        for polynomial, power in parts:
            if (key := str(polynomial)) not in self._factors:
                self._factors[key] = self._factor(polynomial)
            scale, factor = self._factors[key]
            constant *= scale ** int(power)
            made.append(factor._replace(power=int(power)))
        return constant, sorted(made, key=lambda one: (one.is_sum, len(one.text)))

    def signs(self, of: Any) -> set[str]:
        """Return the factors of odd power whose sign is not plain, as they stand in the text."""
        parts = (of.top, of.bottom) if isinstance(of, Ratio) else ()
        return {
            _bare(one.text)
            for part in parts
            for one in self.factors(part)[1]
            if one.signed and one.power % 2
        }

    def _factor(self, of: fmpq_mpoly) -> tuple[fmpq, Factor]:
        """Return what is taken out of a polynomial, and what is left."""
        names, coefficients = of.context().names(), [c for _, c in of.terms()]
        whole = lcm(*(int(c.q) for c in coefficients))
        scale = fmpq(gcd(*(int((c * whole).p) for c in coefficients)), whole)
        sign = 1 if self.numbers.nonnegative(Ratio(of)) else -1
        if sign < 0 and not self.numbers.nonnegative(-Ratio(of)):
            sign = 1
        terms = sorted(
            (
                (
                    int((c / scale).p) * sign,
                    [(n, int(p)) for n, p in zip(names, powers, strict=True) if p],
                )
                for powers, c in of.terms()
            ),
            key=lambda term: (sum(p for _, p in term[1]), term[1]),
        )
        if terms[0][0] < 0:  # 1 − x and not −x + 1
            terms.sort(key=lambda term: term[0] < 0)
        text = "".join(
            f"{'-' if c < 0 else '+'}{_digits(abs(c)) if abs(c) != 1 or not powers else ''}"
            f"{_monomial(powers)}"
            for c, powers in terms
        ).removeprefix("+")
        is_sum = len(terms) > 1
        plain = all(c > 0 for c, _ in terms)
        return scale * sign, Factor(f"({text})" if is_sum else text, 1, is_sum, not plain)


@cache
def name_of(word: str) -> str:
    r"""Return a name as LaTeX: \eta of eta, G_f of G_f, x^* of x*.

    >>> name_of("eta"), name_of("x_1"), name_of("x*")
    ('\\eta', 'x_{1}', 'x^*')
    """
    import sympy

    if word.endswith("_gap"):  # a letter of its own, and no difference in brackets
        return f"\\Delta_{{{name_of(word[:-4])}}}"
    return latex(sympy.Symbol(word.removesuffix("*"))) + "^*" * word.endswith("*")


def _monomial(powers: Iterable[tuple[str, int]]) -> str:
    ordered = sorted((name_of(name), p) for name, p in powers)
    ordered.sort(key=lambda one: not one[0].startswith("\\"))  # ηL and not Lη
    return " ".join(text + (f"^{{{p}}}" if p > 1 else "") for text, p in ordered)


def _product(constant: Any, parts: Iterable[Factor]) -> str:
    """Return a product; the numbers of letters that are alone stand first."""
    listed = [one.text + (f"^{{{one.power}}}" if one.power > 1 else "") for one in parts]
    return " ".join([_digits(constant)] * (constant != 1 or not listed) + listed)


def _fraction(of: fmpq) -> str:
    if of == 1:
        return ""
    return _digits(of.p) if of.q == 1 else f"\\frac{{{_digits(of.p)}}}{{{_digits(of.q)}}}"


def _digits(of: Any) -> str:
    if len(str(of)) > DIGITS:
        raise UnprintableError(
            f"a number of {len(str(of))} digits in the proof",
            f"numbers of at most {DIGITS} digits, which a person can check",
            "take hyper-parameters and constants of few digits, or letters: for_all(…)",
        )
    return str(of)


def _bare(text: str) -> str:
    """Return a number without a bracket around all of it; 1 for none."""
    return text[1:-1] if re.fullmatch(r"\([^()]*\)", text) else text or "1"


def pieces(text: str) -> Iterator[str]:
    """Yield the terms of a sum, each with its sign."""
    depth, start, bars = 0, 0, 0
    for k, letter in enumerate(text):
        depth += (letter in "({") - (letter in ")}")
        bars ^= text.startswith("\\|", k)
        inside = depth or bars or text.count("\\langle", 0, k) > text.count("\\rangle", 0, k)
        if k and not inside and letter in "+-" and text[k - 1] not in "^":
            yield text[start:k]
            start = k
    yield text[start:]
