"""Shows exactly that functions of a class exist on which a measure is above a right side.

A Gram matrix and values that meet every interpolation condition are those of some functions of the
class (Taylor, Hendrickx & Glineur 2017). The solver's meet them up to rounding, so the program is
solved again with every condition and the matrix a little inside; what it then gives is rounded to
fractions and checked exactly. Where conditions are only necessary that shows nothing, and linear
fields of the class are tried (``fields``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from flint import fmpq

from toolkit.errors import DriftproofError
from toolkit.spans.exact import Quantity
from verifiers.worst_case.check import positive_semidefinite
from verifiers.worst_case.fields import value_on, worst_of_fields
from verifiers.worst_case.program import Solved, matrices
from verifiers.worst_case.record import WorstCase
from verifiers.worst_case.solve import solve_matrices

INSIDE = (1e-8, 1e-7, 1e-6)
"""How far inside, relative to the largest entry of the solver's Gram matrix."""
DENOMINATOR = 10**14


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


def witness(case: WorstCase, solved: Solved) -> Witness | None:
    """Return exact values of some functions for which the measure is nearly the worst case.

    None is returned where no point was found, and of functions whose conditions are only necessary.
    """
    if any(relation.equality for relation in case.relations):
        return None
    if case.loose:
        return _of_fields(case)
    program = matrices(case)
    traces = np.trace(program.gram, axis1=1, axis2=2)
    size = float(np.abs(solved.gram).max(initial=0.0))
    for share in INSIDE:
        room = share * size
        narrower = replace(program, bounds=program.bounds - room - room * traces)
        try:
            inner = solve_matrices(narrower)
        except DriftproofError:
            continue
        found = _exact(case, inner.gram + room * np.eye(len(inner.gram)), inner.values)
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


def _exact(case: WorstCase, gram: np.ndarray, values: np.ndarray) -> Witness | None:
    """Return the point that doubles are near to, if it meets every condition exactly."""
    exact = tuple(tuple(_rounded(float(x)) for x in row) for row in (gram + gram.T) / 2)
    numbers = tuple(_rounded(float(x)) for x in values)
    if not positive_semidefinite([[fmpq(x.numerator, x.denominator) for x in r] for r in exact]):
        return None
    found = Witness(at_gram(case.objective, exact, numbers), exact, numbers)
    for constraint in case.constraints:
        if at_gram(constraint.quantity, exact, numbers) > constraint.bound:
            return None
    return found


def _rounded(x: float) -> Fraction:
    return Fraction(round(Fraction(x) * DENOMINATOR), DENOMINATOR)


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
