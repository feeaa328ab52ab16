r"""Proves a bound for all values of free letters: multipliers as rational functions of them.

At a few points of the region the program is solved, and conditions are dropped while its value
stays. At more points the multipliers of those that are left solve Σ λ_k a_k = a_0 and S V = 0
exactly, V a basis of the worst functions (``face``). A rational function of least degree through
these values is what the multiplier is in letters, if there is one. Nothing of this has to be
believed: ``check`` decides about what is written.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from fractions import Fraction
from itertools import count, islice, product
from math import prod
from typing import Any, TypeAlias

import numpy as np
from flint import fmpq, fmpq_mat, nmod_mat

from driftproof.synthetic.classes.conditions import Constraint
from driftproof.synthetic.classes.unknowns import with_products
from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.gram.exact import GramForm, Vector
from driftproof.toolkit.letters import Letter
from driftproof.toolkit.ratios import Ratio, vanishes
from driftproof.verifiers.worst_case.exact import Exact, fraction, rational
from driftproof.verifiers.worst_case.face import Kernel, kernels, optimum
from driftproof.verifiers.worst_case.homogeneous import null_space, units
from driftproof.verifiers.worst_case.program import Matrices, Solved
from driftproof.verifiers.worst_case.proof import Equations
from driftproof.verifiers.worst_case.sdp import WorstCase
from driftproof.verifiers.worst_case.signs import Region
from driftproof.verifiers.worst_case.solve import UnboundedError, UnsolvedError, solve_matrices

Point: TypeAlias = Mapping[str, Fraction]
STAYS = 1e-7
"""By how much a value may change, relative to it, and count as the same."""
SAMPLES = 160
"""The most points of a region that are solved."""
TESTS = 3
"""Points that a function through the others has to meet."""
PRIME = 2**61 - 1
EVERY = 3
"""After how many more points functions through them are sought again."""
STRIDES = ((59, 22), (61, 27), (67, 29), (71, 33), (73, 41))
"""A prime and a step, by letter: points that lie in no curve of low degree."""


def letters_of(thing: Any) -> dict[str, Letter]:
    """Return the free letters of an algorithm or a class, in the order in which they are met.

    Raises:
        DriftproofError: two letters have one name.
    """
    met: dict[str, Letter] = {}
    for letter in _met(thing):
        if met.setdefault(letter.name, letter) is not letter:
            raise DriftproofError(
                f"two letters with one name, {met[letter.name]!r} and {letter!r}",
                "a name of its own for each letter",
                "call one of them as the notation of the algorithm or the class has it",
            )
    return met


def _met(thing: Any) -> Iterator[Letter]:
    parts: Any = ()
    if isinstance(thing, Letter):
        yield thing
    elif isinstance(thing, Mapping):
        parts = thing.values()
    elif isinstance(thing, tuple | list):
        parts = thing
    elif is_dataclass(thing) and not isinstance(thing, type):
        parts = (getattr(thing, field.name) for field in fields(thing))
    for part in parts:
        yield from _met(part)


def at(thing: Any, point: Point) -> Any:
    """Return anything made of rational functions with numbers for the letters."""
    if isinstance(thing, Ratio):
        return thing.at(point)
    if isinstance(thing, Mapping):
        return {key: at(value, point) for key, value in thing.items()}
    if isinstance(thing, tuple | list):
        return type(thing)([at(part, point) for part in thing])
    if is_dataclass(thing) and not isinstance(thing, type):
        own = {field.name: getattr(thing, field.name) for field in fields(thing)}
        return replace(thing, **{name: at(value, point) for name, value in own.items()})
    return thing


def points(region: Region) -> Iterator[Point]:
    """Yield points inside a region, the first well inside, later ones anywhere."""
    names = list(region.free)
    for k in count(1):
        shares = [Fraction(k * step % prime, prime) for prime, step in islice(STRIDES, len(names))]
        if all(Fraction(1, 12) < share < Fraction(11, 12) for share in shares):
            yield point_of(region, shares)


def ends_and_middle(region: Region, near: Fraction = Fraction(1, 16)) -> Iterator[Point]:
    """Yield points inside a region and at its ends, or near those that do not belong to it."""
    choices = [
        (Fraction(1, 2), Fraction(0) if low else near, Fraction(1) if high else 1 - near)
        for low, high in region.closed
    ]
    for shares in product(*choices):
        yield point_of(region, shares)


def point_of(region: Region, shares: Sequence[Fraction]) -> Point:
    """Return the point of a region that a point of the cube is mapped to."""
    cube = dict(zip(region.free, shares, strict=True))
    return {name: region.maps[name].at(cube) for name in region.free}


class Sample:
    """A program with numbers for its letters."""

    def __init__(self, case: WorstCase, point: Point) -> None:
        self.point, self.case = point, at(case, point)
        # without a bound on the start the worst functions may be as large as one likes
        self.exact = Exact(without_scale(self.case) if case.lacking else self.case)

    def solved(self, kept: Sequence[int]) -> Solved:
        """Return a solution with some of the conditions, in the units of ``exact``."""
        of: Matrices = self.exact.doubles
        chosen = list(kept)
        part = replace(
            of,
            gram=of.gram.chosen(chosen),
            values=of.values[chosen],
            bounds=of.bounds[chosen],
            equal=of.equal[chosen],
        )
        found = solve_matrices(part)
        every = np.zeros(len(of.bounds))
        every[chosen] = found.multipliers
        return replace(found, multipliers=every)

    @property
    def optimum(self) -> float:
        """The worst case, in doubles."""
        found = self.solved(range(len(self.exact.rows)))
        return float(self.exact.measure(rational(found.value)))

    def value(self, kept: Sequence[int]) -> float:
        """Return the value of the program with some of its conditions."""
        try:
            return self.solved(kept).value
        except (UnboundedError, UnsolvedError):
            return np.inf

    def multipliers(self, kept: Sequence[int]) -> dict[int, Fraction] | None:
        """Return the multipliers of the worst case, exactly, if they are unique."""
        try:
            near = self.solved(kept)
        except (UnboundedError, UnsolvedError):
            return None
        for kernel in kernels(optimum(self.exact, near)):
            if (found := self._solution(kept, kernel)) is not None:
                return found
        return None

    def _solution(self, kept: Sequence[int], kernel: Kernel) -> dict[int, Fraction] | None:
        """Return the one solution of Σ λ_k a_k = a_0, S V = 0."""
        equations = Equations(self.exact, kernel, kept)
        reduced, rank = fmpq_mat([*equations.columns, equations.right]).transpose().rref()
        many = len(kept)
        if rank != many or any(reduced[j, j] != 1 for j in range(many)):
            return None
        own = {k: reduced[j, many] for j, k in enumerate(kept)}
        return {k: fraction(x) for k, x in self.exact.unscaled(own).items()}


def without_scale(case: WorstCase) -> WorstCase:
    """Return a worst case in which the functions that can be of any size are free.

    Where all bounds are 0 and the Gram matrix has a trace of 1 at most, a measure of at most 0 may
    still reach 0: on a space V, say, on which S is 0 whatever the multipliers. A program with
    such functions is hard to solve. Vectors b = V u + r have products of u with u and with r that
    S V = 0 makes free: they become values, and what is left are products of the r.
    """
    size, zero = len(case.vectors), Fraction(0)
    trace = sum((Vector.basis(j) * Vector.basis(j) for j in range(size)), GramForm())
    bounds = [replace(of, bound=zero) for of in case.constraints]
    cone = Exact(_of_relations(case, [*bounds, Constraint("size", trace, Fraction(1))]))
    try:
        worst = optimum(cone, solve_matrices(cone.doubles))
    except (UnboundedError, UnsolvedError):
        return case
    kernel = next(kernels(worst), None)
    if kernel is None or len(kernel.pivots) in (0, size):  # of all that is free nothing is left
        return case
    rows = cone.coordinates(kernel.basis)
    units = [next(x for x in rows[place] if x) for place in kernel.pivots]
    rows = [[x / unit for x, unit in zip(row, units, strict=True)] for row in rows]
    free: dict[tuple[int, int], int] = {}

    def product_of(j: int, k: int) -> GramForm:
        """Return ⟨b_j, b_k⟩, with b_j = Σ V_ji u_i + r_j; r is 0 in the rows of the pivots."""
        total = GramForm()
        for i, x in [*enumerate(rows[j])]:
            for h, y in enumerate(rows[k]):
                total = total + x * y * value(-1 - min(i, h), -1 - max(i, h))
        for one, other in ((j, k), (k, j)):
            if other not in kernel.pivots:
                for i, x in enumerate(rows[one]):
                    total = total + x * value(-1 - i, other)
        if j not in kernel.pivots and k not in kernel.pivots:
            total = total + Vector.basis(j) * Vector.basis(k)
        return total

    def value(one: int, other: int) -> GramForm:
        place = free.setdefault((one, other), len(case.values) + len(free))
        return GramForm.value(place)

    constraints = [
        replace(of, quantity=with_products(of.quantity, product_of)) for of in case.constraints
    ]
    made = _of_relations(case, constraints)
    made = replace(made, objective=with_products(case.objective, product_of))
    return replace(made, values=(*case.values, *(f"free {k}" for k in range(len(free)))))


def _of_relations(case: WorstCase, constraints: Sequence[Constraint]) -> WorstCase:
    """Return a worst case whose conditions are all written out."""
    return replace(case, classes=(), triples=(), relations=tuple(constraints))


def multipliers(
    case: WorstCase, region: Region, right: Any, *, of_solution: bool = False
) -> dict[int, Any]:
    """Return multipliers that should prove a bound in a region, as functions of its letters.

    Args:
        of_solution: prefer conditions between x* and another point to those between two others.
        right: the bound. Where one assumption alone has a number on its right side, and bounds no
            values, that one's multiplier is the bound over this number: it need not be found.

    Raises:
        DriftproofError: none were found; it says how far it came.
    """
    scale = units(case, region)  # a program is solved where the letters that set units are 1
    source = map(scale.shared, points(region))
    first = [Sample(case, point) for point in islice(source, TESTS)]
    kept = support(first, of_solution=of_solution)
    bounded = [k for k in kept if not vanishes(case.constraints[k].bound)]
    made: dict[int, list[tuple[Point, Fraction]]] = {k: [] for k in kept}
    implied = (
        bounded if len(bounded) == 1 and not case.constraints[bounded[0]].quantity.values else []
    )
    wanted = [k for k in kept if k not in implied]
    found: dict[int, Any] = {}
    failed: dict[int, set[Any]] = {k: set() for k in kept}
    for number in range(SAMPLES):
        sample = first[number] if number < len(first) else Sample(case, next(source))
        own = sample.multipliers(kept)
        if own is None:
            continue
        sought = {n: x for n, x in sample.point.items() if n not in scale.letters}
        for k, x in own.items():
            made[k].append((sought, x))
        for k in wanted if number % EVERY == 0 else ():
            if k not in found and (function := interpolated(made[k], failed[k])) is not None:
                found[k] = function
        if len(found) == len(wanted) and number >= TESTS:
            break
    else:
        solved = len(next(iter(made.values()), ()))
        raise DriftproofError(
            f"multipliers that are no rational functions of {', '.join(region.free)} of a degree "
            f"that {solved} points of {SAMPLES} tell",
            "a worst case that one formula gives in the whole region",
            "take a smaller region, or fewer letters",
        )
    found = {k: scale.in_all_letters(k, of) for k, of in found.items()}
    for k in implied:
        bound = fraction(right) if isinstance(right, fmpq) else right
        found[k] = (bound - case.objective.constant) / case.constraints[k].bound
    return found


def support(samples: Sequence[Sample], *, of_solution: bool = False) -> list[int]:
    """Return conditions that give the worst case at all samples, as few as one finds by dropping.

    Equalities and assumptions stay. Of a function's conditions those go first that bound a value
    at a point by one that comes later, then those between points that lie far apart.
    """
    case = samples[0].case
    every = list(range(len(case.constraints)))
    relations = set(every[len(every) - len(case.relations) :])
    full = [sample.solved(every) for sample in samples]
    best = [found.value for found in full]
    loud = [
        k for k in every if k in relations or any(found.multipliers[k] > STAYS for found in full)
    ]

    def same(kept: Sequence[int]) -> bool:
        return all(
            abs(sample.value(kept) - value) <= STAYS * max(abs(value), 1.0)
            for sample, value in zip(samples, best, strict=True)
        )

    kept = loud if same(loud) else every
    for k in sorted((k for k in kept if k not in relations), key=dropped_first(case, of_solution)):
        less = [j for j in kept if j != k]
        if same(less):
            kept = less
    used = [sample.solved(kept).multipliers for sample in samples]
    return [k for k in kept if any(found[k] > STAYS for found in used) or k not in relations]


def dropped_first(case: WorstCase, of_solution: bool = False) -> Any:
    """Return what conditions are sorted by: those that are dropped first come first."""
    places = [where for _, _, where in case.conditions()]
    solution = bool(places) and case.triples[0][0].name == "solution"

    def key(k: int) -> tuple[int, int, int]:
        where = places[k]
        if len(where) == 1:
            return (3, 0, k)
        j, i = where
        if solution and i == 0:
            return (2 if of_solution else 0, -j, k)
        if solution and j == 0:
            return (3, -i, k)
        return (1 if j > i or of_solution else 2, -abs(j - i), k)

    return key


def interpolated(values: Sequence[tuple[Point, Fraction]], failed: set[Any] | None = None) -> Any:
    """Return the rational function of least degree through values, which meets a few more.

    >>> at_points = [({"x": Fraction(k)}, Fraction(k, k + 1)) for k in range(1, 9)]
    >>> interpolated(at_points)
    x/(x + 1)

    Args:
        failed: degrees of which no function goes through some of the values; gets more of them.
    """
    names = sorted(values[0][0]) if values else []
    if not names:
        return values[0][1] if len({y for _, y in values}) == 1 else None
    failed = set() if failed is None else failed
    rows = [[*(rational(point[n]) for n in names), rational(y)] for point, y in values]
    residues = [[int(x.p) * pow(int(x.q), -1, PRIME) % PRIME for x in row] for row in rows]
    for degree in count():
        for bottom in range(degree + 1):
            above, below = powers_to(len(names), degree - bottom), powers_to(len(names), bottom)
            if bottom == 0 and len(above) + TESTS > len(rows):
                return None
            if len(above) + len(below) - 1 + TESTS > len(rows) or (degree, bottom) in failed:
                continue
            # most systems without a solution have none modulo a prime, which is found sooner
            rough = [_terms(row, above, below) for row in residues]
            width, size = len(rough[0]), len(rough)
            modulo = nmod_mat(size, width, [x % PRIME for row in rough for x in row], PRIME)
            found = None
            if modulo.rank() < width:
                found = _through([_terms(row, above, below) for row in rows], names, above, below)
            if found is not None:
                return found
            failed.add((degree, bottom))
    return None


def powers_to(letters: int, degree: int) -> list[tuple[int, ...]]:
    """Return the exponents of monomials up to a degree."""
    every = product(range(degree + 1), repeat=letters)
    return [powers for powers in every if sum(powers) <= degree]


def _terms(row: Sequence[Any], above: Any, below: Any) -> list[Any]:
    """Return what the coefficients of p and q multiply in p(x) − y q(x), for a row (x, y)."""
    *x, y = row
    monomials = {power: prod(map(pow, x, power)) for power in {*above, *below}}
    return [*(monomials[power] for power in above), *(-y * monomials[power] for power in below)]


def _through(entries: Any, names: Sequence[str], above: Any, below: Any) -> Any:
    solutions = null_space(fmpq_mat(entries))
    if not solutions.ncols():
        return None
    solution = [row[0] for row in solutions.tolist()]
    letters = [Ratio.letter(name) for name in names]

    def polynomial(coefficients: Any, powers: Any) -> Any:
        total: Any = fmpq(0)
        for c, power in zip(coefficients, powers, strict=True):
            term: Any = c
            for letter, exponent in zip(letters, power, strict=True):
                term = term * letter**exponent
            total = total + term
        return total

    bottom = polynomial(solution[len(above) :], below)
    return None if vanishes(bottom) else polynomial(solution[: len(above)], above) / bottom
