"""Signs of polynomials in a region, with the forms by which Coq proves them (``regions.v``).

A polynomial is at least 0 by a form Σ e_k u^k v^(n − k) of it, Bernstein's: u and v are the
distances of a letter from its ends, e_k of earlier letters, shown in the same way. Nothing here has
to be believed: Coq decides about the file.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from functools import partial
from math import comb
from typing import Any

from flint import fmpq, fmpq_mpoly

from driftproof.toolkit.ratios import Ratio, vanishes
from driftproof.verifiers.worst_case.coq_text import UntranslatedError, bracketed
from driftproof.verifiers.worst_case.signs import Region

OWN = re.compile(
    "[RESOQZ]|[A-Za-z]_[0-9]+|xs|pi|forall|exists|fun|let|in|at|as|if|then|else|for|fix|match|with|"
    "end|return|where|using|Type|Set|Prop|zero|add|scale|ip|sum|mean"
)
"""What a letter cannot be called in Coq, or in these files."""
RAISED = 6
"""By how much a degree is raised until all e_k are at least 0."""


def called(letters: Iterable[str]) -> dict[str, str]:
    """Return what letters are called in Coq."""
    return {name: f"{name}_" if OWN.fullmatch(name) else name for name in letters}


class Signs:
    """Facts about polynomials in a region.

    Attributes:
        hypotheses: names and statements of the ends of letters.
        lines: what Coq proves of them, in order.
    """

    def __init__(self, written: Sequence[Sequence[str]], said: Callable[[str], str]) -> None:
        self.region, self.lines = Region(written), list[str]()
        first, *others = self.region.free.values()
        self.names, self.zero = called(self.region.free), 0 * sum(others, first)
        half = dict.fromkeys(self.region.free, Fraction(1, 2))
        self.middle = {name: of.at(half) for name, of in self.region.maps.items()}
        self.known: dict[str, bool] = {}  # polynomial → whether it is above 0
        self.ends: dict[str, list[tuple[Ratio, Ratio]]] = {}
        self.hypotheses: list[tuple[str, str]] = []
        for low, above, name, *upper in written:
            x = self.names[name]
            self.hypotheses.append((f"low_{x}", f"{said(low)} {above} {x}"))
            self.ends[name] = [self._end(name, low, above, f"{x} - {bracketed(said(low))}", 1)]
            if upper:
                below, high = upper
                self.hypotheses.append((f"high_{x}", f"{x} {below} {said(high)}"))
                apart = f"{bracketed(said(high))} - {x}"
                self.ends[name].append(self._end(name, high, below, apart, -1))

    def _end(self, name: str, end: str, sign: str, apart: str, way: int) -> tuple[Ratio, Ratio]:
        """Return a letter's distance from an end as a polynomial, and what it is multiplied by."""
        value = self.full(self.region.number(end))
        times = self.positive(value.bottom)
        own: Ratio = times * way * (self.region.free[name] - value)
        factor = self.product(times.top, strictly=True)
        self._fact(self.text(own.top), sign == "<", f"by_form (({factor}) * ({apart}))")
        return own, times

    def positive(self, of: fmpq_mpoly) -> Ratio:
        """Return a polynomial, or minus it, so that it is above 0 in the middle of the region."""
        point = (self.middle[name] for name in of.context().names())
        value = of(*(fmpq(v.numerator, v.denominator) for v in point))
        return self.full(Ratio(of if value > 0 else -of))

    def full(self, of: Any) -> Ratio:
        """Return a number as a function of all letters."""
        made: Ratio = self.zero + of
        return made

    def text(self, of: fmpq_mpoly) -> str:
        """Return a polynomial as Coq reads it."""
        return re.sub(r"[A-Za-z_]\w*", lambda m: self.names[m[0]], str(of)).replace("*", " * ")

    def ratio(self, of: Any) -> str:
        """Return a rational function as Coq reads it, in brackets where it is a sum."""
        value = self.full(of)
        top, bottom = self.text(value.top), self.text(value.bottom)
        if bottom == "1":
            return f"({top})" if " " in top.replace(" * ", "") or top[0] == "-" else top
        return f"(({top}) / ({bottom}))"

    def sum(self, terms: Iterable[tuple[Any, str]]) -> str:
        """Return a sum of numbers times what has a text."""
        return " + ".join(
            text if vanishes(c - 1) else f"{self.ratio(c)} * {text}"
            for c, text in terms
            if not vanishes(c)
        )

    def _fact(self, text: str, strict: bool, how: str) -> None:
        self.known[text] = strict
        self.lines.append(f"assert (0 {'<' if strict else '<='} {text}) by {how}.")

    def product(self, of: fmpq_mpoly, *, strictly: bool = False) -> str:
        """Return a polynomial, at least 0 or above 0, as a product of factors whose sign is known.

        Raises:
            UntranslatedError: the sign of a factor is not shown.
        """
        constant, factors = of.factor()
        parts: list[str] = []
        for factor, power in factors:
            turned = self.positive(factor).top
            constant *= 1 if turned == self.full(Ratio(factor)).top else (-1) ** int(power)
            text = self.text(turned)
            try:
                if not self._sign(turned, text) and strictly:
                    raise _refused(text)
            except UntranslatedError:
                if strictly or power != 2:  # a square has a sign of its own
                    raise
            parts.append(f"({text})" + f"^{power}" * (power > 1))
        if constant <= 0:
            raise _refused(self.text(of))
        if constant != 1 or not parts:
            parts.insert(0, str(fmpq(constant)))
        return " * ".join(parts)

    def _sign(self, of: fmpq_mpoly, text: str) -> bool:
        """Tell whether what is above 0 in the middle is so everywhere, not only at least 0."""
        if text in self.known:
            return self.known[text]
        degrees = dict(zip(of.context().names(), of.degrees(), strict=True))
        letter = [name for name in self.ends if degrees[name]][-1]
        tries: list[Callable[[], bool]] = [
            partial(self._form, Ratio(of), text, letter, size)
            for size in range(degrees[letter], degrees[letter] + RAISED + 1)
        ]
        if degrees[letter] == 2:
            tries.append(partial(self._completed, of, text, letter))
        for shown in tries:
            before, count = dict(self.known), len(self.lines)
            try:
                return shown()
            except UntranslatedError:
                self.known = before
                del self.lines[count:]
        raise _refused(text)

    def _form(self, of: Ratio, text: str, letter: str, size: int) -> bool:
        """Prove a sign by a form Σ e_k u^k v^(size − k), e_k of earlier letters."""
        e, ends = self._coefficients(of, letter, size), self.ends[letter]
        if not all(map(self.region.nonnegative, e)):
            raise _refused(text)
        times = self.positive(common(e).top)
        factor = self.product(times.top, strictly=True)
        u, v = (self.text(end.top) for end, _ in (ends * 2)[:2])
        terms: list[tuple[bool, str]] = []
        for k, c in enumerate(e):
            powers = [(u, k), (v, size - k)][: len(ends)]
            firm = all(self.known[w] for w, n in powers if n)
            if not vanishes(c):
                strict, made = self._either((times * c).top, firm)
                made += "".join(f" * ({w})" + f"^{n}" * (n > 1) for w, n in powers if n)
                terms.append((strict, made))
        terms.sort(key=lambda term: not term[0])
        total = " + ".join(made for _, made in terms)
        self._fact(text, terms[0][0], f"by_multiple ({factor}) ({total})")
        return terms[0][0]

    def _completed(self, of: fmpq_mpoly, text: str, letter: str) -> bool:
        """Prove the sign of ax² + bx + c by 4a(ax² + bx + c) = 4ac − b² + (2ax + b)²."""
        slope = of.derivative(letter)
        twice = slope.derivative(letter)  # 2a
        factor = self.product(2 * twice, strictly=True)
        strict, rest = self._either(2 * twice * of - slope**2, strictly=True)
        self._fact(text, strict, f"by_multiple ({factor}) ({rest} + ({self.text(slope)})^2)")
        return strict

    def _either(self, of: fmpq_mpoly, strictly: bool) -> tuple[bool, str]:
        """Return a product that is above 0 if that is wanted and shown, else at least 0."""
        try:
            return strictly, self.product(of, strictly=strictly)
        except UntranslatedError:
            if not strictly:
                raise
            return False, self.product(of)

    def _coefficients(self, of: Ratio, letter: str, size: int) -> list[Ratio]:
        """Return the e_k of a form in a letter."""
        x, ends = self.full(self.region.free[letter]), self.ends[letter]
        low = x - ends[0][0] / ends[0][1]
        length = ends[1][0] / ends[1][1] + x - low if ends[1:] else self.full(1)
        moved = self.full(of.put({letter: low + length * x}))
        place = moved.top.context().names().index(letter)
        q = [self.full(0)] * (size + 1)
        for powers, c in moved.top.terms():
            rest = [0 if k == place else int(n) for k, n in enumerate(powers)]
            term = moved.top.context().from_dict({tuple(rest): c})
            q[int(powers[place])] += Ratio(term, moved.bottom)
        if ends[1:]:
            q = [
                sum(
                    (fmpq(comb(k, j) * comb(size, k), comb(size, j)) * q[j] for j in range(k + 1)),
                    self.full(0),
                )
                / (ends[1][1] ** (size - k) * length**size)
                for k in range(size + 1)
            ]
        return [of / ends[0][1] ** k for k, of in enumerate(q)]


def common(of: Iterable[Ratio]) -> Ratio:
    """Return the least common denominator of rational functions of the same letters."""
    made: Ratio | None = None
    for value in of:
        own = Ratio(value.bottom)
        made = own if made is None else made * own / Ratio(made.top.gcd(own.top))
    assert made is not None
    return made


def _refused(text: str) -> UntranslatedError:
    return UntranslatedError(
        f"a sign that is not shown: that of {text}", "coefficients of one sign in Bernstein's form"
    )
