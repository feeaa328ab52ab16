"""Finds a small counterexample: functions of few dimensions on which a measure exceeds a bound.

A worst case is taken on functions of many dimensions, whose numbers nobody can check by hand. A
bound that is below it is exceeded on simpler ones too. Of all that exceed it by half, those with
the shortest vectors are sought: they lie in few dimensions. Each vector gets coordinates along
those before it and at most one more axis, so that they do not depend on how a solver turns its
answer. The coordinates are rounded, the values are fitted to them, and the first that meet every
condition, in fractions, are kept: those that exceed the bound clearly, where there are any.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import product
from typing import Any

import numpy as np

from driftproof.toolkit.errors import DriftproofError
from driftproof.verifiers.worst_case.linear_operators import curves_above, room_of, value_on
from driftproof.verifiers.worst_case.program import Forms, Matrices, Solved, matrices
from driftproof.verifiers.worst_case.scaling import units
from driftproof.verifiers.worst_case.sdp import Line, WorstCase
from driftproof.verifiers.worst_case.solve import solve_matrices
from driftproof.verifiers.worst_case.witness import (
    Witness,
    at_gram,
    give_values,
    of_fields,
    with_equalities,
)

SHARE = 0.5
"""How much of the way from the bound to the worst case the counterexample has to go."""
CLEAR = Fraction(1, 4)
"""How much of it is left where nobody asks whether it was rounding."""
ROOM = (1e-3, 1e-5, 1e-7)
"""How far inside the conditions, relative to the largest entry of the Gram matrix."""
DIGITS = (2, 3, 4, 6, 9, 12)
"""Digits after the point of coordinates, relative to the largest."""
STEPS = 1000
"""The largest denominator of a step along a line."""
SHORT = 1e-3
"""Parts of vectors that are no axis of their own, relative to the longest vector."""


def simple(case: WorstCase, solved: Solved, bound: Fraction) -> Witness | None:
    """Return functions of the class, of the fewest dimensions found, above a bound.

    None is returned where none was found. Where the conditions are only necessary, linear fields
    of few digits are tried.
    """
    if not (case.lines or give_values(case)):
        return None
    clear = bound + CLEAR * (Fraction(solved.value) - bound)
    if case.loose:
        of_digits = (of_fields(case, digits) for digits in range(1, DIGITS[-1]))
        return next((found for found in of_digits if found and found.value > clear), None)
    if not case.lines and (known := curves_above(case, clear) or curves_above(case, bound)):
        curves, vectors = known
        coordinates = [[vectors[j][0]] for j in range(len(case.vectors))]
        values = [vectors[~j][0] for j in range(len(case.values))]
        fields = [{name: str(x) for name, x in vars(of).items()} for of in curves]
        value = value_on(case.objective, vectors)
        return Witness(value, coordinates, values, "functions of one variable, exactly", fields)
    for least, room in product((clear, bound), ROOM):
        program = _exceeding(matrices(case), float(least - case.objective.constant))
        try:
            near = _shortest(program, solved, room)
        except DriftproofError:
            continue
        for coordinates, values in _simple(program, near, case.lines):
            found = _exact(case, coordinates, values, bound)
            if found is not None:
                return found
    return None


def steps_of(case: WorstCase, solved: Solved) -> tuple[tuple[Fraction, ...], ...]:
    """Return how far line searches go along their directions, in a solver's answer."""
    made = []
    for end, start, along in case.lines:
        moved = *along, end.point - start
        rows = [[float(at_gram(u * v, solved.gram.tolist(), ())) for v in moved] for u in along]
        steps = np.linalg.lstsq(np.array(rows)[:, :-1], np.array(rows)[:, -1], rcond=None)[0]
        made.append(tuple(Fraction(float(s)).limit_denominator(STEPS) for s in steps))
    return tuple(made)


def _exceeding(program: Matrices, bound: float) -> Matrices:
    """Return the program of points whose measure is at least a bound."""
    gram, values = program.objective
    return replace(
        program,
        gram=Forms.of(program.gram, -gram[None]),
        values=np.concatenate([program.values, -values[None]]),
        bounds=np.append(program.bounds, -bound),
        equal=np.append(program.equal, False),
    )


def _shortest(program: Matrices, solved: Solved, room: float) -> Solved:
    """Return the shortest vectors that meet every condition with room, and half exceed a bound."""
    _, values = program.objective
    room *= float(np.abs(solved.gram).max(initial=0.0))
    bounds = program.bounds - room * ~program.equal
    bounds[-1] = (1 - SHARE) * program.bounds[-1] - SHARE * solved.value
    lengths = units(program).vectors
    shortest = (-np.diag(lengths**-2.0), np.zeros_like(values))
    return solve_matrices(replace(program, bounds=bounds, objective=shortest))


def _simple(
    program: Matrices, near: Solved, lines: Sequence[Line]
) -> Iterator[tuple[list[list[Fraction]], list[Fraction]]]:
    """Yield coordinates and values, of few dimensions and digits first, that doubles accept."""
    sizes, directions = np.linalg.eigh((near.gram + near.gram.T) / 2)
    for dimension in range(1, len(sizes) + 1):
        kept = slice(-1, -dimension - 1, -1)
        columns = _turned(directions[:, kept] * np.sqrt(np.maximum(sizes[kept], 0.0)))
        for digits in DIGITS:
            unit = Fraction(10) ** (int(np.ceil(np.log10(np.abs(columns).max()))) - digits)
            rounded = _orthogonal([[_rounded(x, unit) for x in row] for row in columns], lines)
            values = _values(program, np.array(rounded, dtype=float))
            if values is not None:
                yield rounded, [_rounded(x, unit / 1000) for x in values]


def _orthogonal(rows: list[list[Fraction]], lines: Sequence[Line]) -> list[list[Fraction]]:
    """Make the last gradients of line searches orthogonal to their lines, one after the other."""
    made = np.array(rows, dtype=object)
    for end, _, along in lines:
        axes: list[Any] = []
        for v in (*along, end.gradient):
            of = sum((made[j] * c for j, c in v.coefficients.items()), 0 * made[0])
            axes.append(of - sum(a * ((of @ a) / (a @ a)) for a in axes if a.any()))
        made[list(end.gradient.coefficients)] = axes[-1]
    return list(map(list, made))


def _turned(columns: np.ndarray) -> np.ndarray:
    """Return coordinates along axes that the vectors themselves give, in their order."""
    axes = np.zeros((0, columns.shape[1]))
    longest = np.linalg.norm(columns, axis=1).max()
    for vector in columns:
        rest = vector - axes.T @ (axes @ vector)
        if np.linalg.norm(rest) > SHORT * longest:
            axes = np.concatenate([axes, rest[None] / np.linalg.norm(rest)])
    return columns @ axes.T


def _rounded(x: float, unit: Fraction) -> Fraction:
    return round(Fraction(float(x)) / unit) * unit


def _values(program: Matrices, columns: np.ndarray) -> np.ndarray | None:
    """Return the function values that meet every condition with the most room, if any do."""
    from scipy.optimize import linprog

    room = program.bounds - program.gram.on(columns @ columns.T)
    valued = np.any(program.values != 0, axis=1)
    if room[~(valued | program.equal)].min(initial=0.0) < 0:
        return None
    count = program.values.shape[1]
    rows = np.column_stack([program.values, ~program.equal])
    most, equal = valued & ~program.equal, valued & program.equal
    made = linprog(
        np.append(np.zeros(count), -1.0),
        rows[most],
        room[most],
        rows[equal],
        room[equal],
        bounds=[(None, None)] * count + [(0, np.abs(columns).max() ** 2)],
    )
    return made.x[:count] if made.status == 0 else None


def _exact(
    case: WorstCase, coordinates: list[list[Fraction]], values: list[Fraction], bound: Fraction
) -> Witness | None:
    """Return the counterexample, if every condition holds in fractions."""
    gram = tuple(
        tuple(sum((a * b for a, b in zip(u, v, strict=True)), Fraction(0)) for v in coordinates)
        for u in coordinates
    )
    if give_values(case):
        equal = (of for of in case.relations if of.equality)
        apart = ((of.quantity, at_gram(of.quantity, gram, values) - of.bound) for of in equal)
        values = with_equalities(((of.values, excess) for of, excess in apart), values)
    for j, share in case.objective.values.items() if len(case.objective.values) == 1 else ():
        over = [of for of in case.constraints if of.quantity.values.get(j, 0) * share > 0]
        if not any(of.quantity.gram for of in over):  # the smallest of several is no less than it
            room = room_of(j, over, partial(at_gram, gram=gram, values=values))
            values = [*values[:j], values[j] + room, *values[j + 1 :]]
    value = at_gram(case.objective, gram, values)
    if value <= bound:
        return None
    for constraint in case.constraints:
        left = at_gram(constraint.quantity, gram, values)
        if left > constraint.bound or (constraint.equality and left < constraint.bound):
            return None
    return Witness(value, coordinates, values)
