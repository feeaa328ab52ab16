r"""Shows exactly that functions of a class exist on which a measure is above a right side.

A Gram matrix and values that meet every interpolation condition are those of some functions of the
class (Taylor, Hendrickx & Glineur 2017). The solver's meet them up to rounding. So its Gram matrix
is replaced by LLᵀ of a lower rank, and L and the values are moved until the conditions that count
hold with equality. A very short step towards a point where every condition has room then pays for
what rounding is left, and the result is checked in fractions. Where conditions are only necessary
that shows nothing, and linear fields of the class are tried (``fields``).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from flint import fmpq, fmpq_mat

from toolkit.errors import DriftproofError
from toolkit.spans.exact import Quantity
from verifiers.worst_case.fields import value_on, worst_of_fields
from verifiers.worst_case.program import Matrices, Solved, matrices
from verifiers.worst_case.record import WorstCase
from verifiers.worst_case.scaling import units
from verifiers.worst_case.solve import solve_matrices

RANKS = (1e-3, 1e-5, 1e-7)
"""Eigenvalues of the Gram matrix that are taken for 0, relative to the largest; each is tried."""
COUNTED = (1e2, 1e4, 1e6)
"""How many times its room a multiplier is, where a condition becomes equality; each is tried."""
CUT = 1e-9
"""Directions that are left out when points are moved: conditions tell next to nothing of them."""
MOVES = 12
"""Steps towards equality; each about squares the error."""
STEPS = (2, 16, 128)
"""How many times the step inwards that doubles ask for is taken, until fractions agree."""
LONGEST = 0.01
"""Longer steps inwards are not taken: the point would not be near the worst case."""
ROUGHLY = 1e-4
"""The tolerance for the point inside, which has to be no optimum."""


@dataclass(frozen=True)
class Witness:
    """An exact point of the program: functions of the class attain this value.

    Attributes:
        value: the measure there.
        gram: G, with fractions.
        values: F.
        what: what shows that there are such functions.
    """

    value: Fraction
    gram: tuple[tuple[Fraction, ...], ...]
    values: tuple[Fraction, ...]
    what: str = "fractions that meet every interpolation condition"


@dataclass(frozen=True)
class _Point:
    """G = LLᵀ and F, in doubles."""

    factor: np.ndarray
    values: np.ndarray

    def excess(self, program: Matrices) -> np.ndarray:
        """Return by how much each condition is exceeded."""
        of_gram = np.tensordot(program.gram, self.factor @ self.factor.T)
        excess: np.ndarray = of_gram + program.values @ self.values - program.bounds
        return excess

    def objective(self, program: Matrices) -> float:
        """Return what is maximised."""
        gram, values = program.objective
        return float(((gram @ self.factor) * self.factor).sum() + values @ self.values)


def witness(case: WorstCase, solved: Solved) -> Witness | None:
    """Return exact values of some functions for which the measure is nearly the worst case.

    None is returned where no point was found, and of functions whose conditions are only necessary.
    """
    if any(relation.equality for relation in case.relations):
        return None
    if case.loose:
        return None if case.beyond_points else _of_fields(case)
    program = matrices(case)
    chosen = units(program)
    scaled, near = chosen.scaled(program), chosen.to_these(solved)
    try:
        inside = _inside(scaled)
    except DriftproofError:
        return None
    units_of = chosen.vectors[:, None], chosen.values
    for _, step, point in sorted(_tried(scaled, near, inside), key=lambda tried: -tried[0]):
        for times in STEPS:
            ends = [_Point(p.factor * units_of[0], p.values * units_of[1]) for p in (point, inside)]
            found = _exact(case, ends, Fraction(min(times * step, 1.0)))
            if found is not None:
                return found
    return None


def _of_fields(case: WorstCase) -> Witness | None:
    """Return the worst of the linear fields that are tried, where the class is one of operators."""
    vectors = worst_of_fields(case)
    if vectors is None or case.objective.values:
        return None
    points = [vectors[j] for j in range(len(case.vectors))]
    gram = tuple(tuple(a * c + b * d for c, d in points) for a, b in points)
    return Witness(value_on(case.objective, vectors), gram, (Fraction(0),) * len(case.values),
                   "linear fields in the plane, in fractions")  # fmt: skip


def _inside(program: Matrices) -> _Point:
    """Return the point at which the Gram matrix and every condition have the most room.

    The room ε is one more value, with G − εI in the place of G.
    """
    size, count = program.gram.shape[1], program.values.shape[1]
    traces = np.trace(program.gram, axis1=1, axis2=2)
    found = solve_matrices(
        replace(
            program,
            values=np.concatenate([program.values, 1 + traces[:, None]], 1),
            objective=(np.zeros((size, size)), np.append(np.zeros(count), 1.0)),
        ),
        tolerance=ROUGHLY,
    )
    room = found.values[-1]
    sizes, directions = np.linalg.eigh(found.gram + room * np.eye(size))
    return _Point(directions * np.sqrt(np.maximum(sizes, room / 2)), found.values[:-1])


def _tried(
    program: Matrices, solved: Solved, inside: _Point
) -> Iterator[tuple[float, float, _Point]]:
    """Yield points near the optimum, what they are worth and the step inwards that they need."""
    sizes, directions = np.linalg.eigh((solved.gram + solved.gram.T) / 2)
    room = -inside.excess(program)
    if room.min() <= 0:
        return
    for rank in {int((sizes > cut * sizes[-1]).sum()) for cut in RANKS}:
        start = _Point(directions[:, -rank:] * np.sqrt(sizes[-rank:]), solved.values)
        for times in COUNTED:
            counted = solved.multipliers > times * np.abs(start.excess(program))
            point = _moved(program, start, counted)
            excess = np.maximum(point.excess(program), 0) + np.finfo(float).eps
            step = float((excess / (excess + room)).max())
            if step < LONGEST:
                worth = (1 - step) * point.objective(program) + step * inside.objective(program)
                yield worth, step, point


def _moved(program: Matrices, point: _Point, counted: np.ndarray) -> _Point:
    """Return a point near one given where conditions hold, and with equality those that count."""
    size = point.factor.size
    for _ in range(MOVES):
        excess = point.excess(program)
        used = counted | (excess > 0)
        gram = program.gram[used]
        slopes = 2 * np.einsum("kij,jr->kir", gram, point.factor).reshape(len(gram), size)
        system = np.concatenate([slopes, program.values[used]], 1)
        change = np.linalg.lstsq(system, -excess[used], rcond=CUT)[0]
        point = _Point(
            point.factor + change[:size].reshape(point.factor.shape), point.values + change[size:]
        )
        if np.abs(excess[used]).max(initial=0.0) < np.finfo(float).eps:
            break
    return point


def _exact(case: WorstCase, ends: list[_Point], step: Fraction) -> Witness | None:
    """Return the point between two, if it meets every condition exactly."""
    size = len(case.vectors)
    gram, numbers = fmpq_mat(size, size), [Fraction(0)] * len(case.values)
    for point, share in zip(ends, (1 - step, step), strict=True):
        entries = [_fmpq(Fraction(float(x))) for x in point.factor.flat]
        factor = fmpq_mat(size, point.factor.shape[1], entries)
        gram += factor * factor.transpose() * _fmpq(share)  # positive semidefinite
        added = (share * Fraction(float(x)) for x in point.values)
        numbers = [x + y for x, y in zip(numbers, added, strict=True)]
    exact = tuple(tuple(_fraction(x) for x in row) for row in gram.tolist())
    found = Witness(at_gram(case.objective, exact, tuple(numbers)), exact, tuple(numbers))
    for constraint in case.constraints:
        if at_gram(constraint.quantity, exact, found.values) > constraint.bound:
            return None
    return found


def _fmpq(of: Fraction) -> fmpq:
    return fmpq(of.numerator, of.denominator)


def _fraction(of: fmpq) -> Fraction:
    return Fraction(int(of.p), int(of.q))


def at_gram(
    quantity: Quantity, gram: tuple[tuple[Fraction, ...], ...], values: Sequence[Fraction]
) -> Fraction:
    """Return the value of a quantity."""
    total = quantity.constant
    for (j, k), q in quantity.gram.items():
        total += q * gram[j][k]
    for j, a in quantity.values.items():
        total += a * values[j]
    return total
