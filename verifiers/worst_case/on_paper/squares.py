r"""Writes a positive semidefinite matrix as a sum of squares that is short on paper.

S = (s_ij) stands for Σ s_ij⟨v_i, v_j⟩. It falls into parts that share no vector. Of each part
LDLᵀ is tried with its pivots in many orders, and *pairs*: one square perhaps, then
Σ c_ij‖v_i − v_j‖² + Σ c_i‖v_i‖². The shortest text wins whose numbers are at least 0 in the region,
and have no pole there.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import combinations, islice, permutations
from math import gcd, lcm
from typing import Any, NamedTuple

from flint import fmpq

from driftproof.toolkit.ratios import Ratio, vanishes
from driftproof.verifiers.worst_case.on_paper.latex import Printer, UnprintableError
from driftproof.verifiers.worst_case.region import points
from driftproof.verifiers.worst_case.signs import Region
from driftproof.verifiers.worst_case.statement import ONE, ZERO

Matrix = Sequence[Sequence[Any]]
Squares = list[tuple[Any, list[Any]]]
"""(D, l): D‖Σ l_k v_k‖²."""


class Square(NamedTuple):
    """times‖Σ l_k v_k‖², l by the names of the v_k, and the text of the norm."""

    times: Any
    line: dict[str, Any]
    text: str


ORDERS = 720
"""Orders of pivots that are tried at one point of the region."""
KEPT = 6
"""Orders of which all is worked out: those with the fewest terms."""

POLE = UnprintableError(
    "squares of which one has a pole at an end of the region, or no known sign",
    "a sum of squares that is one in the whole region",
    "leave the ends out of the region: < for <=; or take a smaller one",
)


def squares(
    matrix: Matrix, names: Mapping[str, str], printer: Printer, *, signed: bool = False
) -> list[Square]:
    """Return squares whose sum is the matrix, of vectors with these texts.

    Args:
        signed: numbers before squares may be below 0.

    Raises:
        UnprintableError: no sum of squares was found that is one in all of the region.
    """
    made, every = [], list(names)
    for part in _parts(matrix):
        own = [[matrix[i][j] for j in part] for i in part]
        called = {every[k]: names[every[k]] for k in part}
        found, reason = list[list[Square]](), POLE
        for way in _ways(own, printer.numbers):
            if signed or all(printer.numbers.nonnegative(D) for D, _ in way):
                try:
                    found += [shown] if (shown := _shown(way, called, printer)) else []
                except UnprintableError as error:
                    reason = error
        if not found:
            raise reason
        made += min(found, key=length)
    return made


def length(of: Iterable[Square]) -> int:
    """Return about how long squares are on paper."""
    return sum(len(str(one.times)) + len(one.text) + 12 for one in of)


def _parts(matrix: Matrix) -> Iterator[list[int]]:
    """Yield the vectors that products connect."""
    left = [k for k, row in enumerate(matrix) if not all(map(vanishes, row))]
    while left:
        part = [left.pop(0)]
        for i in part:
            near = [j for j in left if not vanishes(matrix[i][j])]
            part += near
            left = [j for j in left if j not in near]
        yield sorted(part)


def _ways(matrix: Matrix, numbers: Any) -> Iterator[Squares]:
    """Yield sums of squares, perhaps with numbers below 0."""
    at = at_a_point(numbers)
    there = [[at(entry) for entry in row] for row in matrix]
    scored = []
    size = range(len(matrix))
    orders = permutations(size) if len(size) <= 6 else _by_degree(there)
    for order in islice(orders, ORDERS):
        if (found := ldl(there, order)) is not None:
            terms = sum(c != 0 for _, line in found for c in line)
            digits = sum(len(str(c)) for _, line in found for c in line)
            scored.append((terms, digits, order))
    scored.sort()
    ways = [ldl(matrix, order) for _, _, order in scored[:KEPT]]
    ways += [_in_pairs(matrix, first) for first in (None, *size)]
    yield from (way for way in ways if way is not None)


def at_a_point(numbers: Any) -> Callable[[Any], fmpq]:
    """Return what puts numbers for the letters, those of one point inside the region."""
    point: Mapping[str, Fraction] = next(points(numbers)) if isinstance(numbers, Region) else {}

    def at(of: Any) -> fmpq:
        if not isinstance(of, Ratio):
            return fmpq(of)
        value = of.at(point)
        return fmpq(value.numerator, value.denominator)

    return at


def _by_degree(matrix: Matrix) -> Iterator[Sequence[int]]:
    """Yield orders that begin with each vector, and go on with those that have few products."""
    size = range(len(matrix))
    degree = [sum(entry != 0 for entry in row) for row in matrix]
    for first in size:
        yield [first, *sorted((k for k in size if k != first), key=lambda k: degree[k])]


def ldl(matrix: Matrix, order: Sequence[int]) -> Squares | None:
    """Return Σ D‖Σ l_k v_k‖² by LDLᵀ in an order; None if a pivot is 0 too early."""
    rows, made, left = [list(row) for row in matrix], [], list(order)
    while left:
        k = left.pop(0)
        after = [j for j in left if not vanishes(rows[k][j])]
        if vanishes(rows[k][k]):
            if after:
                return None
            continue
        lead, line = rows[k][k], [ZERO] * len(rows)
        line[k] = ONE
        for j in after:
            line[j] = rows[k][j] / lead
        made.append((lead, line))
        for i in after:
            for j in after:
                rows[i][j] = rows[i][j] - line[i] * rows[k][j]
    return made


def _in_pairs(matrix: Matrix, first: int | None) -> Squares | None:
    """Return Σ c_ij‖v_i − v_j‖² + Σ c_i‖v_i‖², after a square that takes ``first`` away."""
    made: Squares = []
    if first is not None:
        lead = matrix[first][first]
        if vanishes(lead):
            return None
        line = [entry / lead for entry in matrix[first]]
        made.append((lead, line))
        matrix = [
            [entry - lead * a * b for entry, b in zip(row, line, strict=True)]
            for row, a in zip(matrix, line, strict=True)
        ]
    size = range(len(matrix))
    unit = [[ONE if i == k else ZERO for i in size] for k in size]
    for i, j in combinations(size, 2):
        made.append((-matrix[i][j], [a - b for a, b in zip(unit[i], unit[j], strict=True)]))
    made += [(sum(matrix[k], ZERO), unit[k]) for k in size]
    return [(c, line) for c, line in made if not vanishes(c)]


def _shown(way: Squares, names: Mapping[str, str], printer: Printer) -> list[Square] | None:
    """Return squares with their shortest texts; None if one has a pole in the region."""
    made = []
    for D, line in way:
        choices = []
        for lead, scaled in _scaled(D, line):
            if not all(map(printer.numbers.defined, [lead, *scaled])):
                continue
            if printer.signed(next(c for c in scaled if not vanishes(c)))[0] == "-":
                scaled = [-c for c in scaled]
            inside = printer.sum(zip(scaled, names.values(), strict=True))
            own = {name: c for name, c in zip(names, scaled, strict=True) if not vanishes(c)}
            choices.append(Square(lead, own, f"\\|{inside}\\|^2"))
        if not choices:
            return None
        made.append(min(choices, key=lambda one: len(printer.number(one.times)) + len(one.text)))
    return made


def _scaled(D: Any, line: Sequence[Any]) -> Iterator[tuple[Any, list[Any]]]:
    """Yield equal squares: as it is, each coefficient taken out, and without denominators."""
    used = {str(c): c for c in line if not vanishes(c)}
    letters = {name for c in used.values() if isinstance(c, Ratio) for name in c.letters}
    if letters:
        over = [(Ratio.letter(min(letters)) * 0 + c).over(letters) for c in used.values()]
        top, bottom = over[0].top, over[0].bottom
        for c in over:
            top, bottom = top.gcd(c.top), bottom * c.bottom / bottom.gcd(c.bottom)
        whole: Any = Ratio(top, bottom)
    else:
        whole = fmpq(
            gcd(*(int(c.p) for c in used.values())), lcm(*(int(c.q) for c in used.values()))
        )
    for size in (ONE, whole, *used.values()):
        yield D * size * size, [entry / size for entry in line]
