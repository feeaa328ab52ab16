r"""Linear fields that are as bad as an operator can be, where conditions on pairs do not suffice.

What a measure is for one member of a class bounds the worst case from below, whatever the
conditions are. The members tried are those of

    f_i(x, y) = (μ/2)x² + νxy − (μ/2)y² + a_i x + b_i y,    x, y ∈ R, μ² + ν² ≤ L²,

with the fields G_i(x, y) = (μx + νy + a_i, μy − νx − b_i): each is μ-strongly monotone, and
Lipschitz with √(μ² + ν²) ≤ L. It pulls as little as the class allows, and turns as much, or not
at all. Clients turn the same way or not, and are pushed from (x*, y*) = 0 in opposite ways or not
at all.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import product
from typing import Any

from driftproof.synthetic.classes.conditions import Constraint
from driftproof.toolkit.gram.exact import GramForm, Second, Vector
from driftproof.toolkit.rationals import root
from driftproof.verifiers.worst_case.classes import CURVED
from driftproof.verifiers.worst_case.sdp import WorstCase

Point = tuple[Fraction, Fraction]
ZERO = (Fraction(0), Fraction(0))
KNOTS = (Fraction(0), *(Fraction(1, k) for k in (11, 5, 3, 2)))
"""Knots of curves, in units of the start. Gradient descent's worst one is 1/(2ηLN + 1)."""
SHARP = 100
"""Parts of the start by which it may be longer, where a value and no distance bounds it."""
SIZES = (1, 2, 4)
"""How far apart clients are tried that nothing relates, in units of L times the start."""


@dataclass(frozen=True)
class LinearField:
    """(x, y) ↦ (μx + νy, μy − νx) + shift."""

    mu: Fraction
    nu: Fraction
    shift: Point

    @property
    def written(self) -> dict[str, Any]:
        """Its matrix and shift, as a counterexample's file has them."""
        rows = ((self.mu, self.nu), (-self.nu, self.mu))
        return {
            "matrix": [list(map(str, row)) for row in rows],
            "shift": list(map(str, self.shift)),
        }

    def __call__(self, at: Point) -> Point:
        """Return the field at a point."""
        x, y = at
        return (
            self.mu * x + self.nu * y + self.shift[0],
            self.mu * y - self.nu * x + self.shift[1],
        )


@dataclass(frozen=True)
class Curve:
    """f'(x) = slope + below min(x, knot) + above max(x − knot, 0), with f(0) = 0 and a knot ≥ 0.

    So f is a quadratic or a line if both curvatures are one, half a Huber function if one is 0.
    """

    slope: Fraction
    below: Fraction
    above: Fraction
    knot: Fraction

    def __call__(self, at: Point) -> Point:
        """Return the gradient at a point."""
        low, high = min(at[0], self.knot), max(at[0] - self.knot, Fraction(0))
        return self.slope + self.below * low + self.above * high, Fraction(0)

    def value(self, at: Point) -> Fraction:
        """Return f at a point: f' is linear up to the knot, and from it on."""
        (x, _), middle = at, min(at[0], self.knot)
        low, high = (self((of, Fraction(0)))[0] for of in (middle, x))
        return (middle * (self.slope + low) + (x - middle) * (low + high)) / 2


def curves_above(
    case: WorstCase, bound: Fraction
) -> tuple[list[Curve], Mapping[int, Point]] | None:
    """Return the first functions of one variable tried on which the measure exceeds a bound.

    Those of clients of even, and of odd, number are alike. Function values are ``vectors[~j]``.
    """
    known = [of.solvable and {c.name for c in of.conditions} <= {*CURVED} for of in case.classes]
    if not known or not all(known):  # of a program that was read from a file nobody knows a run
        return None
    bounds = {relation.name: relation.bound for relation in case.relations}
    start = root(bounds.get("start", Fraction(1)))
    L, mu = (case.classes[0].parameters.get(name, Fraction(0)) for name in ("L", "mu"))
    count, bent = len(case.classes), (L, mu)
    related = [root(bounds["similar"])] if "similar" in bounds else [L * start * k for k in SIZES]
    pushes = [sign * apart for apart in related for sign in (1, -1) if count > 1]
    shapes = product(((mu, mu), (L, L), bent), repeat=min(2, count))
    ordered = sorted(shapes, key=lambda of: of.count(bent))
    # an odd one out has no gradient at x*, where they cancel
    signs = [(-1) ** k * (k + 1 < count or k % 2) for k in range(count)]

    def curves_of(knot: Fraction, of: Sequence[Point], push: Fraction) -> list[Curve]:
        return [Curve(push * s, *of[k % len(of)], knot * start) for k, s in enumerate(signs)]

    tried = [*product(KNOTS, ordered, (*pushes, Fraction(0)))]
    returning = []  # as in a fixed point: the push that leads back, and of these few digits first
    tenths = (L * Fraction(k, 10) for k in range(10))
    sizes = [(c, c) for c in sorted({mu, L, *(c for c in tenths if c > mu)}, reverse=True)]
    for own in product(sizes, sizes) if count > 1 else ():
        off = [list[Fraction](), list[Fraction]()]
        for at_push, missed in enumerate(off):
            _met(case, curves_of(ZERO[0], own, Fraction(at_push)), (start, ZERO[0]), missed)
        if not len(off[0]) == len(off[1]) == 1:
            break
        if off[0] != off[1]:
            push = off[0][0] / (off[0][0] - off[1][0])
            met = _met(case, curves_of(ZERO[0], own, push), (start, ZERO[0])) or {}
            digits = sum(len(f"{x}") for x, _ in (*met.values(), *own))
            returning.append((digits, (ZERO[0], own, push)))
    tried += [own for _, own in sorted(returning)]

    def longer(met: Mapping[int, Point]) -> Fraction:
        """Return how much longer a start may be, as short a number as does: all grows with it."""
        for it in case.relations:
            if it.name == "start" and (value := value_on(it.quantity, met)) > 0:
                return Fraction(int(SHARP * root(max(it.bound, Fraction(0)) / value)), SHARP)
        return Fraction(1)

    for knot, of, push in tried:
        most = related[0] if "similar" in bounds else abs(push)
        times = min(Fraction(1), most / abs(push)) if push else Fraction(1)
        sizes_tried = [times]
        for size in sizes_tried:
            curves = curves_of(knot * (Fraction(1) if push else size), of, push * size)
            begun = (start * size, Fraction(0))
            met = (_met(case, curves, begun) if not knot or bent in of else None) or {}
            whole = bool(met) and _with_smallest(case, met)
            if whole and not push and size == 1 and (more := longer(met)) > 1:
                sizes_tried.append(more)
            if not whole or value_on(case.objective, met) <= bound:
                continue
            left = [(it, value_on(it.quantity, met) - it.bound) for it in case.relations]
            if all(over == 0 if it.equality else over <= 0 for it, over in left):
                return curves, met
    return None


def _with_smallest(case: WorstCase, met: dict[int, Point]) -> bool:
    """Put in a number that is only bounded above, as the smallest of rounds: as large as may be.

    Returns:
        Whether all numbers and vectors are known.
    """
    missing = [j for j in range(len(case.values)) if ~j not in met]
    if len(missing) == 1 and len(met) == len(case.vectors) + len(case.values) - 1:
        (j,) = missing
        given = [it for it in case.relations if it.quantity.values.get(j) == 1]
        most = room_of(j, given, partial(value_on, vectors=met | {~j: ZERO}))
        met |= {~j: (most, Fraction(0))} if given else {}
    return len(met) == len(case.vectors) + len(case.values)


def room_of(j: int, over: Sequence[Constraint], at: Callable[[GramForm], Fraction]) -> Fraction:
    """Return by how much value j may be larger for conditions that bound it from above."""
    rooms = ((it.bound - at(it.quantity)) / it.quantity.values[j] for it in over)
    return min(rooms, default=Fraction(0))


def worst_of_fields(
    case: WorstCase, digits: int | None = None
) -> tuple[list[LinearField], dict[int, Point]] | None:
    """Return the worst fields tried, and the unknown vectors on them, in R²; exact fractions.

    Roots are rounded down to a number of digits (None: they are not).

    None: the class is none of operators, there is a term, or a vector is not determined by fields
    and start. Of functions of two variables a vector of x is (x, 0), one of y is (0, y).
    """
    if any(of.term or any(part.values) for of in case.classes for part in of.conditions):
        return None
    found, most = None, None
    for fields, start in _tried(case, digits):
        vectors = _met(case, fields, start)
        if vectors is None:
            continue
        value = value_on(case.objective, vectors)
        if most is not None and value <= most:  # before the conditions, which are many
            continue
        if all(value_on(c.quantity, vectors) <= c.bound for c in case.constraints):
            found, most = (fields, vectors), value
    return found


def value_on(quantity: GramForm, vectors: Mapping[int, Point]) -> Fraction:
    """Return what a quantity is for given vectors, and function values."""
    values = sum((a * vectors[~j][0] for j, a in quantity.values.items()), quantity.constant)
    return values + sum(
        (q * _product(vectors[j], vectors[k]) for (j, k), q in quantity.gram.items()), Fraction(0)
    )


def _product(one: Point, other: Point) -> Fraction:
    return one[0] * other[0] + one[1] * other[1]


def _tried(case: WorstCase, digits: int | None) -> Iterator[tuple[list[LinearField], Point]]:
    """Yield the clients' fields, and the start."""
    bounds = {relation.name: relation.bound for relation in case.relations}

    def short(square: Fraction) -> Fraction:
        unit = Fraction(1, 10 ** (digits or 0))
        return root(square) if digits is None else root(square) // unit * unit

    far, apart = (short(bounds.get(name, Fraction(0))) for name in ("start", "similar"))
    numbers = range(len(case.classes))
    for turn, push, across in product((1, -1, 0), {Fraction(0), apart}, (0, 1)):
        fields = []
        for number, of in zip(numbers, case.classes, strict=True):
            L, mu = of.parameters["L"], of.parameters["mu"]
            paired = number + 1 < len(numbers) or number % 2 == 1  # an odd one has no push
            length = push * (-1) ** number if paired else Fraction(0)
            shift = (Fraction(0), length) if across else (length, Fraction(0))
            nu = short(L**2 - mu**2) * (turn**number if turn else 0)
            fields.append(LinearField(mu, nu, shift))
        for start in ((far, Fraction(0)), (-far, Fraction(0)), (Fraction(0), far)):
            yield fields, start


def _met(
    case: WorstCase, fields: Sequence[Any], start: Point, missed: list[Fraction] | None = None
) -> dict[int, Point] | None:
    """Return the unknown vectors of a run on some fields, in the order in which they are met.

    Args:
        missed: takes by how much gradients that others determine are off, where a run has to end
            in its first state; without it such a run is none.
    """
    vectors: dict[int, Point] = {}

    def unknown(of: Vector) -> list[int]:
        return [j for j in of.coefficients if j not in vectors]

    both = any(case.second)

    def put(of: Vector, value: Point) -> None:
        """Give an unknown vector its value: of (x, y) it is one of each space."""
        for j in of.coefficients:
            x, y = value
            vectors[j] = value if not both else ((ZERO[0], y) if case.second[j] else (x, ZERO[0]))

    def at(of: Vector) -> Point:
        terms = [(c, vectors[j]) for j, c in of.coefficients.items()]
        x, y = (sum((c * v[part] for c, v in terms), Fraction(0)) for part in (0, 1))
        return x, y

    def alone(of: Vector) -> bool:
        """Tell whether it is one unknown vector."""
        return len(of.coefficients) == 1 + both and set(of.coefficients.values()) == {1}

    if case.vectors[0] == "x_0":
        put(Vector.basis(0), start)
    if both and case.vectors[1] == "y_0":
        put(Vector.basis(Second(1)), start)
    left = [t for triples in case.triples for t in triples]
    while left:
        ready = [t for t in left if not unknown(t.point)]
        if not ready:
            return None
        for triple in ready:
            left.remove(triple)
            field, x = fields[triple.client], at(triple.point)
            if unknown(triple.gradient) and alone(triple.gradient):
                put(triple.gradient, field(x))
            if unknown(triple.gradient):
                return None
            if (got := at(triple.gradient)) != (wanted := field(x)):
                if missed is None:
                    return None
                missed.append(got[0] - wanted[0])
            vectors |= {
                ~j: (field.value(x), x[1]) for j in triple.value.values if isinstance(field, Curve)
            }
    for number, own in enumerate(case.own):  # as in a fixed point
        if alone(own):
            put(own, fields[number % len(fields)](ZERO))
    return vectors if {*range(len(case.vectors))} <= {*vectors} else None
