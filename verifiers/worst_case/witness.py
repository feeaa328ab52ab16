r"""Shows exactly that functions of a class exist on which a measure is above a right side.

Unknown vectors and numbers that meet every interpolation condition are those of some functions of
the class (Taylor, Hendrickx & Glineur 2017). Those of an optimum (``face``) meet them up to its
digits: a hundred, or those of doubles. A very short step towards a point where every condition has
room pays for what is left, and the result is checked in fractions. Where conditions are only
necessary that shows nothing, and linear fields of the class are tried (``fields``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import compress
from math import sqrt
from typing import Any

import numpy as np
from flint import fmpq, fmpq_mat

from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.gram.exact import GramForm
from driftproof.verifiers.worst_case.exact import Exact, rational, rationals
from driftproof.verifiers.worst_case.face import SIMPLE, Optimum, optimum
from driftproof.verifiers.worst_case.linear_operators import value_on, worst_of_fields
from driftproof.verifiers.worst_case.program import Solved
from driftproof.verifiers.worst_case.sdp import WorstCase
from driftproof.verifiers.worst_case.solve import TOLERANCE, solve_matrices

TIMES = (2, 16, 128)
"""How many times the step inwards that doubles ask for is taken, until fractions agree."""
LONGEST = 0.01
"""Longer steps inwards are not taken: the point would not be near the worst case."""
ROUGHLY = 1e-6
"""The tolerance for the point inside, which has to be no optimum, but to have the room of 10⁻⁶
of a hundred steps. Where it is less, as of η = 0.001, it is sought as exactly as an optimum."""

FLAT = 1e-4
"""Eigenvalues of the smallest optimum that are taken for 0, relative to the largest."""
SMALLER = 0.01
"""What a squared length costs, beside the measure, where the smallest optimum is wanted."""


@dataclass(frozen=True)
class Witness:
    """Functions of a class, by exact coordinates of the unknown vectors, and exact values.

    Attributes:
        value: the measure on them.
        coordinates: of each unknown vector, [vectors][dimension].
        values: the unknown numbers.
        what: what shows that there are such functions.
        fields: of each linear field its matrix and its shift, as a file has them.
    """

    value: Fraction
    coordinates: Sequence[Sequence[Fraction]]
    values: Sequence[Fraction]
    what: str = "fractions that meet every interpolation condition"
    fields: Sequence[dict[str, Any]] = field(default_factory=tuple)

    def solved(self, like: Solved) -> Solved:
        """Return the Gram matrix and the values as a solver gives them."""
        columns = np.array(self.coordinates, dtype=float)
        values = np.array(self.values, dtype=float)
        return replace(like, gram=columns @ columns.T, values=values, value=float(self.value))


def witness(
    case: WorstCase | Exact,
    solved: Solved,
    *,
    digits: bool = True,
    at: Callable[[], Optimum] | None = None,
) -> Witness | None:
    """Return functions for which the measure is nearly the worst case, exactly.

    None is returned where no point was found, of functions whose conditions are only necessary, and
    where equalities do not say what values are (``give_values``).

    Args:
        digits: whether to come as near to the worst case as is possible, not as doubles do.
        at: see ``certify``.
    """
    known, case = (case, case.case) if isinstance(case, Exact) else (None, case)
    if not give_values(case):
        return None
    if case.loose:
        return of_fields(case)
    exact = known or Exact(case)
    if not exact.size:  # nothing depends on any vector
        return None
    best = at() if at is not None else optimum(exact, exact.near(solved), digits=digits)
    worst, edge = exact.measure(exact.on(best.factor, best.values)[-1]), None
    for tolerance in (ROUGHLY, TOLERANCE):
        inside = _inside(exact, tolerance)
        if inside is not None and (found := _towards(inside, exact, best)) is not None:
            return found
        if inside is None and tolerance == ROUGHLY:
            edge = _at_edge(exact)
        if edge is not None and edge.value >= worst - Fraction(LONGEST) * abs(worst):
            break
    return edge


def give_values(case: WorstCase) -> bool:
    """Tell whether each equality gives one value, each another one."""
    given = [of.quantity.values for of in case.relations if of.equality]
    return all(len(of) == 1 for of in given) and len(set().union(*given)) == len(given)


def with_equalities(equal: Iterable[tuple[Mapping[int, Any], Any]], values: Any) -> list[Any]:
    """Return values, changed so that equalities hold: factor of its one value, and the excess."""
    made = list(values)
    for of, over in equal:
        ((j, a),) = of.items()
        made[j] -= over / a
    return made


def _exactly(exact: Exact, factor: fmpq_mat, values: Sequence[fmpq]) -> list[fmpq]:
    """Return values with which equalities hold exactly."""
    over = zip(exact.rows, exact.on(factor, values), strict=False)
    return with_equalities(((row.values, x) for row, x in over if row.equality), values)


def _towards(inside: Inside, exact: Exact, at: Optimum) -> Witness | None:
    """Return a point a short step from an optimum to one with room, if it meets all conditions."""
    at = replace(at, values=_exactly(exact, at.factor, at.values))
    bent = [not row.equality for row in exact.rows]
    excess = [float(x) for x in compress(exact.on(at.factor, at.values), bent)]
    over = np.maximum(excess, 0.0) + (0.0 if at.solved else np.finfo(float).eps)
    step = float((over / (over + inside.room)).max(initial=0.0))
    for times in TIMES if step < LONGEST else ():
        # a² + b² = 1, so that the Gram matrix is between both, and b² is the step
        t = rational(sqrt(times * step) / 2)
        a, b = (1 - t * t) / (1 + t * t), 2 * t / (1 + t * t)
        factor = _beside(at.factor * a, inside.factor * b)
        values = [a * a * x + b * b * y for x, y in zip(at.values, inside.values, strict=True)]
        left = exact.on(factor, values)
        if all(x <= 0 for x in left[:-1]):
            value = exact.measure(left[-1])
            return Witness(value, exact.coordinates(factor), exact.heights(values))
    return None


def _at_edge(exact: Exact) -> Witness | None:
    """Return functions where the conditions leave no room, as of a cycle: in small fractions.

    Of many optima the smallest is taken. L is turned until its first rows have the fewest
    coordinates, and its entries are rounded.
    """
    try:
        least = solve_matrices(exact.doubles, margin=-SMALLER)
    except DriftproofError:  # it does not come to an end
        return None
    sizes, directions = np.linalg.eigh(least.gram)
    large = sizes > FLAT * sizes[-1]
    turned = np.linalg.qr((directions[:, large] * np.sqrt(sizes[large])).T)[1].T
    for largest in SIMPLE:
        factor = fmpq_mat([[_rounded(x, largest) for x in row] for row in turned])
        values = _exactly(exact, factor, [_rounded(x, largest) for x in least.values])
        left = exact.on(factor, values)
        if all(x <= 0 for x in left[:-1]):
            return Witness(
                exact.measure(left[-1]), exact.coordinates(factor), exact.heights(values)
            )
    return None


def _rounded(of: float, largest: int) -> fmpq:
    return rational(Fraction(float(of)).limit_denominator(largest))


def _beside(one: fmpq_mat, other: fmpq_mat) -> fmpq_mat:
    """Return two matrices as one, of more columns."""
    rows = [u + v for u, v in zip(one.tolist(), other.tolist(), strict=True)]
    return fmpq_mat(len(rows), one.ncols() + other.ncols(), [x for row in rows for x in row])


def of_fields(case: WorstCase, digits: int | None = None) -> Witness | None:
    """Return the worst of the linear fields that are tried, where the class is one of operators."""
    found = None if case.beyond_points else worst_of_fields(case, digits)
    if found is None or case.objective.values:
        return None
    fields, vectors = found
    return Witness(
        value_on(case.objective, vectors),
        [vectors[j] for j in range(len(case.vectors))],
        [Fraction(0)] * len(case.values),
        "linear fields in the plane, in fractions",
        [one.written for one in fields],
    )


@dataclass(frozen=True)
class Inside:
    """A point at which every inequality has room, and how much; equalities hold."""

    factor: fmpq_mat
    values: list[fmpq]
    room: list[float]


def _inside(exact: Exact, tolerance: float) -> Inside | None:
    """Return the point at which the Gram matrix and every inequality have the most room, if any.

    The room ε is one more value, with G − εI instead of G.
    """
    program = exact.doubles
    size, count = program.gram.shape[1], program.values.shape[1]
    traces = program.gram.on(np.eye(size))
    try:
        found = solve_matrices(
            replace(
                program,
                values=np.column_stack([program.values, traces + ~program.equal]),
                objective=(np.zeros((size, size)), np.append(np.zeros(count), 1.0)),
            ),
            tolerance=tolerance,
        )
    except DriftproofError:
        return None
    room = found.values[-1]
    if not room > 0:  # not a number, where all that meet the conditions lie at the edge
        return None
    sizes, directions = np.linalg.eigh(found.gram + room * np.eye(size))
    factor = directions * np.sqrt(np.maximum(sizes, max(room, 0.0) / 2))
    entries = fmpq_mat(size, size, rationals(factor))
    values = _exactly(exact, entries, rationals(found.values[:-1]))
    left = zip(exact.rows, exact.on(entries, values), strict=False)
    rooms = [-float(x) for row, x in left if not row.equality]
    return Inside(entries, values, rooms) if min(rooms, default=1.0) > 0 else None


def at_gram(
    quantity: GramForm, gram: Sequence[Sequence[Fraction]], values: Sequence[Fraction]
) -> Fraction:
    """Return the value of a quantity."""
    total = quantity.constant
    for (j, k), q in quantity.gram.items():
        total += q * gram[j][k]
    for j, a in quantity.values.items():
        total += a * values[j]
    return total
