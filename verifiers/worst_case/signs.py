"""Decides signs of rational functions of letters on a region, exactly.

A region gives each letter a lower and perhaps an upper end, in letters before it. x = low + (high −
low)t, or low + t/(1 − t) without an upper end, maps the unit cube onto it. There a polynomial is
Σ c_i B_i in Bernstein's basis, B_i > 0 inside the cube: it has one sign if its c_i have. Where they
have two, the cube is halved. At a vertex c_i is the value, so that two signs there are two signs.
docs/certificates.md has the theorem and its proof.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise, product
from math import comb, prod
from typing import Any

from flint import fmpq, fmpq_mpoly

from driftproof.toolkit.ratios import Ratio, vanishes
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
        ends: of each letter, the lower one, and the upper one if there is one.
        said: the region, for a reader.

    Raises:
        ValueError: the region is empty, or an end of it has a pole.
    """

    def __init__(self, written: Sequence[Sequence[str]]) -> None:
        self.free: dict[str, Ratio] = {}
        self.ends: dict[str, list[Any]] = {}
        self.maps, self.closed = dict[str, Any](), list[tuple[bool, bool]]()
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
                self.maps[name] = least + self._mapped(length) * t
            else:
                self.maps[name] = least + t / (1 - t)
            self.ends[name] = [self.number(end) for end in (low, high) if end]
            self.closed.append((above == "<=", below == "<="))
            self.free[name] = t

    def number(self, written: str) -> Any:
        """Return the rational function that a text is.

        Raises:
            ValueError: it has a root or the like of a letter, or a pole in the region.
        """
        value, high = ends(evaluate(written, {}, self.free))
        if not vanishes(value - high):
            raise ValueError(f"{written} is irrational")
        if not self.defined(value):
            raise ValueError(f"{written} has a pole in the region {self.said}")
        return value

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
        return of.put(self.maps) if isinstance(of, Ratio) else of

    def _sign(self, of: Any, *, strictly: bool, poles: bool) -> int:
        """Return 1 or −1 if that is the sign in the region, 0 of what is 0; −1 if it has several.

        A polynomial that is not ``strictly`` of one sign may be 0 at some points.
        """
        value: Any = of.number if isinstance(of, Ratio) else of
        if value is not None:
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
        boxes = [(*self._bernstein(of), tuple(self.closed), 0)]
        signs, seen = set[int](), 0
        while boxes and len(signs) < 2 and seen < BOXES:
            sizes, coefficients, closed, depth = boxes.pop()
            seen += 1
            low, high = min(coefficients), max(coefficients)
            if low >= 0 or high <= 0:
                if strictly and not all(
                    any(coefficients[k] != 0 for k in face) for face in _faces(sizes, closed)
                ):
                    return 0
                signs.add(1 if low >= 0 else -1)
                continue
            corners = [coefficients[k] for k in _places(sizes, [(0, n - 1) for n in sizes])]
            if min(corners) < 0 < max(corners):
                return 0
            axes = [axis for axis, size in enumerate(sizes) if size > 1]
            axis = axes[depth % len(axes)]
            for half, ends_of in zip(
                _halves(sizes, coefficients, axis),
                ((closed[axis][0], True), (True, closed[axis][1])),
                strict=True,
            ):
                its = (*closed[:axis], ends_of, *closed[axis + 1 :])
                boxes.append((sizes, half, its, depth + 1))
        return signs.pop() if len(signs) == 1 and not boxes else 0

    def _bernstein(self, of: fmpq_mpoly) -> tuple[list[int], list[fmpq]]:
        """Return how many c_i there are by letter, and the c_i, the last letter fastest."""
        order = [sorted(self.free).index(name) for name in self.free]
        sizes = [int(of.degrees()[k]) + 1 for k in order]
        made = [fmpq(0)] * prod(sizes)
        for powers, factor in of.terms():
            place = 0
            for size, k in zip(sizes, order, strict=True):
                place = place * size + int(powers[k])
            made[place] = fmpq(factor)
        for axis, size in enumerate(sizes):
            for line in _lines(sizes, axis):
                old = [made[k] for k in line]
                for i, k in enumerate(line):
                    made[k] = sum(
                        (fmpq(comb(i, j), comb(size - 1, j)) * old[j] for j in range(i + 1)),
                        fmpq(0),
                    )
        return sizes, made


def _places(sizes: Sequence[int], chosen: Sequence[Iterable[int]]) -> Iterator[int]:
    """Yield the places of the coefficients whose indices are among those chosen for each letter."""
    for index in product(*chosen):
        place = 0
        for size, k in zip(sizes, index, strict=True):
            place = place * size + k
        yield place


def _lines(sizes: Sequence[int], axis: int) -> Iterator[list[int]]:
    """Yield the places along an axis, for each choice of the other indices."""
    stride, size = prod(sizes[axis + 1 :]), sizes[axis]
    for start in range(prod(sizes)):
        if start // stride % size == 0:
            yield list(range(start, start + stride * size, stride))


def _faces(sizes: Sequence[int], closed: Sequence[tuple[bool, bool]]) -> Iterator[Iterator[int]]:
    """Yield the places of a box, and of each of its faces that belongs to the region."""
    choices = [
        [range(n), *[range(1)] * low, *[range(n - 1, n)] * high]
        for n, (low, high) in zip(sizes, closed, strict=True)
    ]
    for chosen in product(*choices):
        yield _places(sizes, chosen)


def _halves(
    sizes: Sequence[int], coefficients: Sequence[fmpq], axis: int
) -> tuple[list[fmpq], list[fmpq]]:
    """Return the coefficients on the two halves of a box, by de Casteljau's algorithm."""
    lower, upper = list(coefficients), list(coefficients)
    for line in _lines(sizes, axis):
        rest = [coefficients[k] for k in line]
        for low, high in zip(line, reversed(line), strict=True):
            lower[low], upper[high] = rest[0], rest[-1]
            rest = [(a + b) / 2 for a, b in pairwise(rest)]
    return lower, upper
