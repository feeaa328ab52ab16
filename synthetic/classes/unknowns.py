"""The unknown vectors and numbers of a run over a class, and where their origin is."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np

from driftproof.synthetic.classes.conditions import Constraint
from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.gram.exact import GramForm, Second, Vector
from driftproof.toolkit.rationals import INEXACT, decimal
from driftproof.toolkit.ratios import Ratio, vanishes

ROUNDED = Fraction(1, 10**13)
"""How far from 0 a sum of decimals may be."""
STAR = Vector({-1: Fraction(1)})
"""x* in what a measure is given, and in an x_0 that is x*; ``bare`` has it at the origin."""
STARS = Vector({-1: Fraction(1), Second(-2): Fraction(1)})
"""The same where functions have two variables."""
AT_STAR = "value at the solution, of function"
"""What an unknown F(x*) is called."""


class Unknowns:
    """What is not known of a run: vectors, and numbers.

    Attributes:
        vectors: names of the unknown vectors.
        second: for each of them, whether it is one of the second space.
        values: names of the unknown numbers.
        points: the numbers of unknown vectors that are points, and move with the origin.
        own: what each client holds beside x_0 as the run begins: unknown vectors, if it may
            begin anywhere; the first one of all clients, then the second one.
        limits: where these go, one for all clients (``Algorithm.limits``).
        least: what bounds a measure's smallest moment, and the errors of inexact oracles.
        located, directed: points and directions that the algorithm asked at, while ``following``.

    Args:
        saddle: whether the functions have two variables: a vector is then the sum of one in each
            space.
    """

    def __init__(self, *, saddle: bool) -> None:
        self.vectors: list[str] = []
        self.second: list[bool] = []
        self.values: list[str] = []
        self.points = set[int]()
        self.saddle, self.own, self.limits = saddle, list[Vector](), list[str]()
        self.least: list[Constraint] = []
        self._errors: list[Vector] = []
        self.located, self.directed = dict[Vector, None](), dict[Vector, None]()
        self.following = False

    @property
    def star(self) -> Vector:
        """x*, as a measure is given it."""
        return STARS if self.saddle else STAR

    def vector(self, *names: str) -> Vector:
        """Return an unknown vector; the names are of its parts, or one from which they are made."""
        if self.saddle and len(names) == 1:
            names = f"{names[0]}, x", f"{names[0]}, y"
        made = Vector()
        for second, name in enumerate(names[: 1 + self.saddle]):
            self.vectors.append(name)
            self.second.append(bool(second))
            number = len(self.vectors) - 1
            made = made + Vector.basis(Second(number) if second else number)
        return made

    def point(self, *names: str) -> Vector:
        """Return an unknown point: a vector that moves with the origin."""
        made = self.vector(*names)
        self.points |= set(made.coefficients)
        return made

    def number(self, name: str) -> GramForm:
        """Return an unknown number."""
        self.values.append(name)
        return GramForm.value(len(self.values) - 1)

    def error(self) -> Vector:
        """Return an unknown vector, of which nothing is known yet."""
        self._errors.append(self.vector(f"e_{len(self._errors) + 1}"))
        return self._errors[-1]

    def bound_error(self, error: Vector, most: Vector) -> None:
        """Let ‖error‖² ≤ ‖most‖².

        Raises:
            DriftproofError: something else than errors is bounded: that would be a condition on the
                functions.
        """
        if not set(error.coefficients) <= {j for of in self._errors for j in of.coefficients}:
            raise DriftproofError(
                "bound_error(e, v) of an e that no oracles.error made",
                "the error, then its bound",
                "write e = oracles.error(x), and oracles.bound_error(e, v)",
            )
        self.note(most, direction=True)
        name = f"error, ({len(self.least)})"
        self.least.append(Constraint(name, error * error - most * most))

    def below(self, quantities: Sequence[GramForm]) -> GramForm:
        """Return an unknown number that is at most each of some quantities."""
        least = self.number("m")
        for number, quantity in enumerate(quantities):
            self.least.append(Constraint(f"smallest, ({number})", least - quantity))
        return least

    def numbering_stars(self, quantities: Sequence[GramForm]) -> Callable[[GramForm], GramForm]:
        """Give each f(x*) that quantities are made of a number after those of the other values."""
        met = sorted({j for of in quantities for j in of.values if j < 0}, reverse=True)
        number = {j: len(self.values) + k for k, j in enumerate(met)}
        self.values += [f"{AT_STAR} {-1 - j}" for j in met]
        return lambda of: replace(of, values={number.get(j, j): a for j, a in of.values.items()})

    def note(self, point: Vector, *, direction: bool = False) -> None:
        """Note where an algorithm asks."""
        if self.following:
            (self.directed if direction else self.located)[point] = None

    def check_origin(self, quantities: Sequence[GramForm]) -> bool:
        """Tell whether nothing depends on where the origin is, at which x* is put.

        Points have to move with x_0 and x*: their coefficients add up to 1, those of directions to
        0, and what is measured stays the same. What clients remember may be points, or gradients.
        """
        for kinds in product((1, 0), repeat=len(self.limits)):
            each = (kinds[k * len(kinds) // len(self.own)] for k in range(len(self.own)))
            weights = {j: of for v, of in zip(self.own, each, strict=True) for j in v.coefficients}
            weights |= dict.fromkeys(self.points, 1) | {-1: 1, -2: 1}
            if (
                all(self._moves(v, 1, weights) for v in self.located)
                and all(self._moves(v, 0, weights) for v in self.directed)
                and all(_is_invariant(of, weights) for of in quantities)
            ):
                return True
        return False

    def _moves(self, v: Vector, by: int, weights: Mapping[int, int]) -> bool:
        """Tell whether a combination moves by so many times what points move by."""
        parts = [v.part(second=second) for second in (False, True)[: 1 + self.saddle]]
        sums = (sum(c * weights.get(j, 0) for j, c in of.coefficients.items()) for of in parts)
        return all(_is_nothing(total - by) for total in sums)

    def eliminated(self, zero: Sequence[Vector]) -> dict[int, Vector]:
        """Let some vectors be 0: the last unknown of each is what the others make it.

        Returns:
            What each unknown vector is, in those that are left.
        """
        made: dict[int, Vector] = {}
        for equation in zero:
            left = put(equation.bare, made)
            if left.coefficients:
                last = max(left.coefficients)
                solved = Vector.basis(last) - left / left.coefficients[last]
                made = {j: put(v, {last: solved}) for j, v in made.items()} | {last: solved}
        kept = [j for j in range(len(self.vectors)) if j not in made]
        number = {j: Vector.basis(k) for k, j in enumerate(kept)}
        self.vectors = [self.vectors[j] for j in kept]
        self.second = [self.second[j] for j in kept]
        return {j: put(v, number) for j, v in made.items()} | number


def put(of: Vector, new: Mapping[int, Vector]) -> Vector:
    """Return a combination with others in place of some unknown vectors."""
    parts = (new.get(j, Vector.basis(j)) * c for j, c in of.coefficients.items())
    total: Vector = sum(parts, Vector())
    return total


def with_products(of: GramForm, product: Callable[[int, int], GramForm]) -> GramForm:
    """Return a form with others in place of the products of unknown vectors j and k."""
    total = GramForm({}, of.values, of.constant)
    for (j, k), q in of.gram.items():
        total = total + product(j, k) * q
    return total


def in_hull(point: Vector, members: Sequence[Vector]) -> bool:
    """Tell whether a point is a mean of members with weights in fractions; 0 is a member."""
    from scipy.optimize import linprog

    names = sorted({j for of in (point, *members) for j in of.coefficients})
    rows = [[float(of.coefficients.get(j, 0)) for of in members] for j in names]
    wanted = [float(point.coefficients.get(j, 0)) for j in names]
    ones = np.ones((1, len(members)))
    found = linprog(ones[0], ones, [1.0], rows, wanted) if names else None
    weights = [] if found is None or found.x is None else [decimal(float(w)) for w in found.x]
    mean = sum((of * w for of, w in zip(members, weights, strict=False)), Vector())
    return bool(mean == point and sum(weights) <= 1 and all(w >= 0 for w in weights))


def _is_nothing(x: Any) -> bool:
    """Tell whether a number is 0, up to rounding where the steps hold decimals for fractions."""
    return vanishes(x) or bool(INEXACT and not isinstance(x, Ratio) and abs(x) < ROUNDED)


def _is_invariant(of: GramForm, weights: Mapping[int, int]) -> bool:
    """Tell whether a quantity is the same wherever the origin is."""
    rows: dict[int, Any] = {}
    for (j, k), q in of.gram.items():
        rows[k] = rows.get(k, 0) + q * weights.get(j, 0)
        rows[j] = rows.get(j, 0) + q * weights.get(k, 0)
    return all(_is_nothing(total) for total in rows.values())
