"""Decides signs of rational functions of letters on a region, exactly.

A region gives each letter a lower and perhaps an upper end, in letters before it. x = low + (high −
low)t, or low + t/(1 − t) without an upper end, maps the unit cube onto it. There a polynomial is
Σ c_i B_i in Bernstein's basis, B_i > 0 inside the cube: it has one sign if its c_i have. Where they
have two, the cube is halved. At a vertex c_i is the value, so that two signs there are two signs.
docs/certificates.md has the theorem and its proof.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cache
from itertools import product
from math import comb
from typing import Any

import numpy as np
from flint import fmpq, fmpq_mpoly

from driftproof.toolkit.ratios import Ratio
from driftproof.verifiers.worst_case.expression import ends, evaluate
from driftproof.verifiers.worst_case.statement import LETTER, Numbers

BOXES = 4000
"""How many parts of a region are looked at for one polynomial."""


class Region(Numbers):
    """All values of some letters; numbers are rational functions of them, without poles there.

    >>> region = Region([["0", "<", "mu", "<", "1"], ["0", "<", "eta", "<=", "2/(1 + mu)"]])
    >>> region.nonnegative(region.number("2 - eta - eta*mu")), region.nonnegative(
    ...     region.number("199/100 - eta - eta*mu"))
    (True, False)

    Attributes:
        free: the letters.
        said: the region, for a reader.

    Raises:
        ValueError: the region is empty, or an end of it has a pole.
    """

    def __init__(self, written: Sequence[Sequence[str]]) -> None:
        self.free: dict[str, Ratio] = {}
        self._maps, self._closed = dict[str, Any](), list[tuple[bool, bool]]()
        self.said = ", ".join(" ".join(parts) for parts in written)
        for low, above, name, *upper in written:
            below, high = upper or ["<", ""]
            if not LETTER.fullmatch(name) or name in self.free or {above, below} - {"<", "<="}:
                raise ValueError(f"the range {low} {above} {name} {below} {high}")
            least = self._mapped(self.number(low))
            t = Ratio.letter(name)
            if high:
                length = self.number(high) - self.number(low)
                if not self.positive(length):
                    raise ValueError(f"{low} is not below {high} everywhere in {self.said}")
                self._maps[name] = least + self._mapped(length) * t
            else:
                self._maps[name] = least + t / (1 - t)
            self._closed.append((above == "<=", below == "<="))
            self.free[name] = t

    def number(self, written: str) -> Any:
        """Return the rational function that a text is.

        Raises:
            ValueError: it has a root or the like of a letter, or a pole in the region.
        """
        value, _ = ends(evaluate(written, {}, self.free))
        if not self.defined(value):
            raise ValueError(f"{written} has a pole in the region {self.said}")
        return value

    def point(self, shares: Sequence[Fraction]) -> dict[str, Fraction]:
        """Return the point of the region that a point of the cube is mapped to."""
        cube = dict(zip(self.free, shares, strict=True))
        return {name: self._maps[name].at(cube) for name in self.free}

    def ends_and_middle(self) -> Iterator[dict[str, Fraction]]:
        """Yield points at the ends of the region, near those that do not belong to it, and inside."""
        near = Fraction(1, 64)
        choices = [(0 if low else near, Fraction(1, 2), 1 if high else 1 - near)
                   for low, high in self._closed]  # fmt: skip
        for shares in product(*choices):
            yield self.point([Fraction(share) for share in shares])

    def defined(self, of: Any) -> bool:
        """Tell whether it has no pole in the region."""
        return not isinstance(of, Ratio) or self.positive(Ratio(of.bottom) ** 2)

    def nonnegative(self, of: Any) -> bool:
        """Tell whether it is at least 0 in the region, and has no pole there."""
        return self._sign(of, strictly=False, poles=False) >= 0

    def positive(self, of: Any) -> bool:
        """Tell whether it is above 0 in the region, and has no pole there."""
        return self._sign(of, strictly=True, poles=False) == 1

    def pivot(self, of: Any) -> bool:
        """Tell whether it is at least 0 in the region wherever it has no pole."""
        return self._sign(of, strictly=False, poles=True) >= 0

    def _mapped(self, of: Any) -> Any:
        return of.put(self._maps) if isinstance(of, Ratio) else of

    def _sign(self, of: Any, *, strictly: bool, poles: bool) -> int:
        """Return 1 or −1 if that is the sign in the region, 0 of what is 0; −1 if it has several.

        A polynomial that is not ``strictly`` of one sign may be 0 at some points.
        """
        if not isinstance(of, Ratio) or of.number is not None:
            value = of.number if isinstance(of, Ratio) else of
            return int(value > 0) - int(value < 0)
        mapped = self._mapped(of).over(self.free)
        signs = (
            self._of_polynomial(mapped.top, strictly),
            self._of_polynomial(mapped.bottom, not poles),
        )
        return signs[0] * signs[1] if all(signs) else -1

    def _of_polynomial(self, of: fmpq_mpoly, strictly: bool) -> int:
        """Return the sign that a polynomial has on the cube, or 0 if it is none or undecided."""
        constant, factors = of.factor()
        sign = 1 if constant > 0 else -1
        for factor, power in factors:
            if power % 2 or strictly:
                sign *= self._of_factor(factor, strictly) ** int(power)
        return sign

    def _of_factor(self, of: fmpq_mpoly, strictly: bool) -> int:
        boxes = [(self._bernstein(of), tuple(self._closed), 0)]
        signs, seen = set[int](), 0
        while boxes and len(signs) < 2 and seen < BOXES:
            coefficients, closed, depth = boxes.pop()
            seen += 1
            low, high = coefficients.min(), coefficients.max()
            if low >= 0 or high <= 0:
                if strictly and not all(part.any() for part in _faces(coefficients, closed)):
                    return 0
                signs.add(1 if low >= 0 else -1)
                continue
            vertices = [coefficients[at] for at in product((0, -1), repeat=coefficients.ndim)]
            if min(vertices) < 0 < max(vertices):
                return 0
            axis = [k for k, size in enumerate(coefficients.shape) if size > 1]
            boxes += _halves(coefficients, closed, axis[depth % len(axis)], depth + 1)
        return signs.pop() if len(signs) == 1 and not boxes else 0

    def _bernstein(self, of: fmpq_mpoly) -> np.ndarray:
        """Return c_i of a polynomial, [degree + 1 of each letter]."""
        order = [sorted(self.free).index(name) for name in self.free]
        degrees = [of.degrees()[k] for k in order]
        made = np.full([n + 1 for n in degrees], fmpq(0), dtype=object)
        for powers, factor in of.terms():
            made[tuple(int(powers[k]) for k in order)] = fmpq(factor)
        for axis, n in enumerate(degrees):
            made = np.moveaxis(np.tensordot(_to_bernstein(n), made, (1, axis)), 0, axis)
        return made


@cache
def _to_bernstein(n: int) -> np.ndarray:
    """Return the matrix from coefficients of powers to those of Bernstein's basis."""
    rows = [[fmpq(comb(i, j), comb(n, j)) for j in range(n + 1)] for i in range(n + 1)]
    return np.array(rows, dtype=object).reshape(n + 1, n + 1)


def _faces(of: np.ndarray, closed: Sequence[tuple[bool, bool]]) -> Iterator[np.ndarray]:
    """Yield the coefficients of a box, and of each of its faces that belongs to the region."""
    choices = [
        [slice(None), *[slice(0, 1)] * low, *[slice(-1, None)] * high] for low, high in closed
    ]
    for chosen in product(*choices):
        yield of[chosen]


def _halves(
    of: np.ndarray, closed: tuple[tuple[bool, bool], ...], axis: int, depth: int
) -> list[tuple[np.ndarray, tuple[tuple[bool, bool], ...], int]]:
    """Return the two halves of a box along an axis, by de Casteljau's algorithm."""
    rest = np.moveaxis(of, axis, 0)
    lower, upper = [rest[0]], [rest[-1]]
    while len(rest) > 1:
        rest = (rest[1:] + rest[:-1]) / 2
        lower.append(rest[0])
        upper.append(rest[-1])
    made = []
    for half, ends_of in ((lower, (closed[axis][0], True)), (upper[::-1], (True, closed[axis][1]))):
        its = (*closed[:axis], ends_of, *closed[axis + 1 :])
        made.append((np.moveaxis(np.array(half, dtype=object), 0, axis), its, depth))
    return made
