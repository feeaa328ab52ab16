"""Checks a counterexample over a class exactly: functions that meet every assumption, and exceed.

The file says the same as a certificate, and gives coordinates to every unknown vector and a number
to every unknown value. Checked are, in fractions: the inequality of the class for all pairs of
each function's points, the assumptions, and that the conclusion does *not* hold. For the classes
below the inequalities suffice: some function of the class has these gradients and values (Taylor,
Hendrickx & Glineur 2017, Theorem 4; for smooth functions Theorem 3.10 of their "Exact worst-case
performance …", and the least of all f − ‖g‖²/(2L) is then the function's infimum).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import permutations, product

from flint import fmpq

from verifiers.worst_case.check import (
    CLASSES,
    ZERO,
    Combination,
    Condition,
    RefusedCertificateError,
    Triple,
    _combined,
    _condition,
    _fields,
    _number,
    _sum,
    _told,
)

SCHEMA = "driftproof counterexample 1"
SUFFICIENT = ("smooth", "smooth-convex", "smooth-strongly-convex")
"""Classes whose inequalities suffice, each by itself."""

Point = list[fmpq]


def check(text: str) -> list[str]:
    """Return lines that show the functions, and what they refute.

    Raises:
        RefusedCertificateError: they are not what the file says.
        ArithmeticError, LookupError, TypeError, ValueError: it is no counterexample.
    """
    keys = "schema about vectors values functions assumptions conclusion coordinates numbers digest"
    schema, about, vectors, values, functions, assumptions, *rest = _fields(json.loads(text), keys)
    if schema != SCHEMA:
        raise ValueError(f"schema {schema!r}, not {SCHEMA!r}")
    if not isinstance(vectors, list):
        raise ValueError("vectors in several spaces: the classes here have one")
    where = _points(rest[1], vectors)
    numbers = {name: _number(rest[2][name]) for name in values}
    dimension = len(next(iter(where.values())))
    said = [f"said of it, not checked: {about}", f"in dimension {dimension} there are functions"]
    for name, function in functions.items():
        classes, points = _fields(function, "classes points")
        ((kind, written),) = classes.items()
        if kind not in SUFFICIENT or (kind == "smooth" and len(functions) > 1):
            raise RefusedCertificateError(f"for {kind} functions the inequalities do not suffice")
        meaning, letters, condition = CLASSES[kind]
        constants = [_number(c) for c in _fields(written, letters)]
        if not ZERO <= (constants[1] if len(constants) > 1 else ZERO) < constants[0]:
            raise RefusedCertificateError(f"no constants of {kind} functions: {written}")
        told = ", ".join([kind, *(f"{c} = {written[c]}" for c in letters.split())])
        said.append(f"  {name}, {told} ({meaning}),")
        triples = {at: Triple(*map(_sum, _fields(p, "x g f"))) for at, p in points.items()}
        for at, (x, g, f) in triples.items():
            point, gradient = (_shown(_at(part, where, dimension)) for part in (x, g))
            value = _short(_value(f, numbers))
            by = f"{_combined(x.items())} = " if len(x) > 1 else ""
            said.append(f"    at {at} = {by}{point}: gradient {gradient}, value {value},")
        for (one, i), (two, j) in permutations(triples.items(), 2):
            if _left(of := condition(*constants, i, j), where, numbers) > of.right:
                raise RefusedCertificateError(f"{name} at {one} and {two} is not {kind}")
    for name, written in assumptions.items():
        of = _condition(written, "equals" if "equals" in written else "at_most")
        left = _left(of, where, numbers)
        if left > of.right or (of.equality and left != of.right):
            raise RefusedCertificateError(f"the assumption {name} does not hold")
        said.append(f"  and {name}: {_told(of)},")
    conclusion = _condition(rest[0], "at_most")
    left = _left(conclusion, where, numbers)
    if left <= conclusion.right:
        raise RefusedCertificateError("the conclusion holds for these functions")
    said.append(f"but not {_told(conclusion)}: the left side is {_short(left)}.")
    return said


def _points(written: Mapping[str, Sequence[str]], vectors: Sequence[str]) -> dict[str, Point]:
    made = {name: [_number(c) for c in written[name]] for name in vectors}
    if len({len(point) for point in made.values()}) != 1 or set(written) != set(vectors):
        raise ValueError("coordinates of every vector, and as many of each")
    return made


def _at(of: Combination, where: Mapping[str, Point], dimension: int) -> Point:
    """Return the coordinates of a combination."""
    return [sum((c * where[n][k] for n, c in of.items()), ZERO) for k in range(dimension)]


def _value(of: Combination, numbers: Mapping[str, fmpq]) -> fmpq:
    return sum((a * numbers[name] for name, a in of.items()), ZERO)


def _left(of: Condition, where: Mapping[str, Point], numbers: Mapping[str, fmpq]) -> fmpq:
    """Return a condition's left side."""
    total = _value(of.numbers, numbers)
    for c, u, v in of.products:
        for (one, a), (two, b) in product(u.items(), v.items()):
            total += (
                c * a * b * sum((x * y for x, y in zip(where[one], where[two], strict=True)), ZERO)
            )
    return total


def _shown(point: Point) -> str:
    return f"({', '.join(map(_short, point))})"


def _short(number: fmpq) -> str:
    """Return a number in decimals, exactly where six digits suffice."""
    return f"{float(number):.6g}"
