"""Letters that only set units: with them at 1 a program is the same, so that less is sought.

In another unit ℓ of points and γ of gradients L is Lγ/ℓ, η is ηℓ/γ, and a bound on a distance
times ℓ². Such powers are found from the program itself: one power for each letter, vector, value
and condition, so that all terms of a condition have the same. Where two letters, L and ζ say, tell
ℓ and γ, both are 1 for some units. Multipliers that are known there are then known everywhere.
Nothing of this has to be believed: ``check`` decides about what is written in all letters.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import prod
from typing import Any

from flint import fmpq_mat

from driftproof.toolkit.gram.exact import GramForm
from driftproof.toolkit.ratios import Ratio, vanishes
from driftproof.verifiers.worst_case.sdp import WorstCase
from driftproof.verifiers.worst_case.signs import Region

Power = dict[Any, int]


@dataclass(frozen=True)
class Units:
    """Powers of the letters that set units: for each letter, each multiplier and the measure."""

    letters: tuple[str, ...]
    of_letter: Mapping[str, tuple[int, ...]]
    of_multiplier: tuple[tuple[int, ...], ...]
    of_measure: tuple[int, ...]

    def shared(self, point: Mapping[str, Fraction]) -> dict[str, Fraction]:
        """Return the point at which the program is the same but for units, which are 1 there."""
        return {name: x / self._unit(self.of_letter[name], point) for name, x in point.items()}

    def size(self, point: Mapping[str, Fraction]) -> Fraction:
        """Return what the worst case where units are 1 is multiplied by at a point."""
        return Fraction(self._unit(self.of_measure, point))

    def in_all_letters(self, k: int, of: Any) -> Any:
        """Return a multiplier for all units, from what it is where they are 1."""
        free = {name: Ratio.letter(name) for name in self.of_letter}
        here = {name: x / self._unit(self.of_letter[name], free) for name, x in free.items()}
        moved = of.put(here) if isinstance(of, Ratio) else of
        return moved * self._unit(self.of_multiplier[k], free)

    def _unit(self, powers: tuple[int, ...], values: Mapping[str, Any]) -> Any:
        return prod(
            (values[name] ** power for name, power in zip(self.letters, powers, strict=True)),
            start=1,
        )


def units(case: WorstCase, region: Region) -> Units:
    """Return the letters that only set units, as many as there are; earlier ones first."""
    names = list(region.free)
    equations = list(_equations(case, region))
    places = {name: k for k, name in enumerate(sorted({n for e in equations for n in e}, key=str))}
    rows = [[equation.get(name, 0) for name in places] for equation in equations]
    kernel = null_space(fmpq_mat(rows)).tolist()
    graded = {name: kernel[place] for name, place in places.items()}
    chosen = _independent(fmpq_mat([graded[name] for name in names]))
    basis = fmpq_mat([graded[names[k]] for k in chosen])
    columns = _independent(basis.transpose())
    inverse = fmpq_mat([[row[c] for c in columns] for row in basis.tolist()]).inv()

    def powers(grade: list[Any]) -> tuple[int, ...]:
        made = fmpq_mat([[grade[c] for c in columns]]) * inverse
        if (made * basis).tolist() != [grade] or any(x.q != 1 for x in made.tolist()[0]):
            raise ValueError("no whole powers")
        return tuple(int(x.p) for x in made.tolist()[0])

    try:
        of_letter = {name: powers(graded[name]) for name in names}
        of_multiplier = tuple(
            powers([x - y for x, y in zip(graded["ending"], graded["condition", k], strict=True)])
            for k in range(len(case.constraints))
        )
        of_measure = powers(graded["ending"])
    except ValueError:
        return Units((), dict.fromkeys(names, ()), ((),) * len(case.constraints), ())
    return Units(tuple(names[k] for k in chosen), of_letter, of_multiplier, of_measure)


def _equations(case: WorstCase, region: Region) -> Iterator[Power]:
    """Yield sums of powers that have to be 0."""
    yield dict.fromkeys(region.free, 0)  # each letter has a power, though it may have no term
    for name, ends in region.ends.items():
        for end in ends:
            yield from _alike(end, {name: -1})
    every = [*case.constraints, None]
    for k, of in enumerate(every):
        quantity = case.objective if of is None else of.quantity
        total: Power = {("condition", k) if of is not None else "ending": -1}
        yield dict.fromkeys(total, 0)  # each condition has a power, though it may have no term
        yield from _of_quantity(quantity, total)
        if of is not None:
            yield from _alike(of.bound, total)


def _of_quantity(quantity: GramForm, total: Power) -> Iterator[Power]:
    for (j, k), q in quantity.gram.items():
        one, other = ("vector", j), ("vector", k)
        yield from _alike(q, total | ({one: 2} if j == k else {one: 1, other: 1}))
    for j, q in quantity.values.items():
        yield from _alike(q, total | {("value", j): 1})
    yield from _alike(quantity.constant, total)


def _alike(of: Any, rest: Power) -> Iterator[Power]:
    """Yield that each term of a rational function has the power that the rest leaves."""
    if vanishes(of):
        return
    if not isinstance(of, Ratio):
        yield rest
        return
    tops, bottoms = (
        [dict(zip(of.letters, map(int, powers), strict=True)) for powers, _ in part.terms()]
        for part in (of.top, of.bottom)
    )
    for one, other in [*((top, bottoms[0]) for top in tops), *((tops[0], b) for b in bottoms[1:])]:
        apart = {name: one[name] - other[name] for name in of.letters}
        yield {name: apart.get(name, 0) + rest.get(name, 0) for name in {*apart, *rest}}


def null_space(of: fmpq_mat) -> fmpq_mat:
    """Return a basis of the vectors that a matrix takes to 0, as columns.

    >>> null_space(fmpq_mat([[1, 2, 0]])).tolist()
    [[-2, 0], [1, 0], [0, 1]]
    """
    reduced, rank = of.rref()
    many, leads = of.ncols(), _leads(reduced, rank)
    free = [c for c in range(many) if c not in leads]
    made = fmpq_mat(many, len(free))
    for j, c in enumerate(free):
        made[c, j] = 1
        for r, lead in enumerate(leads):
            made[lead, j] = -reduced[r, c]
    return made


def _independent(of: fmpq_mat) -> list[int]:
    """Return the first rows that are independent of those before them."""
    return _leads(*of.transpose().rref())


def _leads(reduced: fmpq_mat, rank: int) -> list[int]:
    """Return the column of the first entry of each row of an echelon form."""
    return [next(c for c in range(reduced.ncols()) if reduced[r, c] != 0) for r in range(rank)]
