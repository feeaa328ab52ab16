"""Checks a counterexample over a class exactly: functions that meet every assumption, and exceed.

The file states what a certificate would (``statement``), and gives coordinates to every unknown
vector and a number to every unknown value. Checked are, in fractions: that functions of the classes
have these gradients and values, the assumptions, and that the conclusion does *not* hold.

The inequality of a class for all pairs of its points, in both orders, is enough for smooth and
(strongly) convex functions (Taylor, Hendrickx & Glineur 2017, Theorem 4; for functions that need
not be convex Theorem 3.10 of their "Exact worst-case performance …": the least of all
f − ‖g‖²/(2L) is then the infimum of one function, but of a mean nothing is known) and for
cocoercive operators (Kirszbraun 1934, Valentine 1945). Gradients of which only a bound is asked
need distinct points. Of a monotone Lipschitz operator the file has a linear field, whose matrix is
checked.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations, permutations, product
from operator import mul
from typing import Any

from flint import fmpq, fmpq_mat

from driftproof.verifiers.worst_case.check import RefusedCertificateError, positive_semidefinite
from driftproof.verifiers.worst_case.classes import CLASSES, CURVED, ROUGH, curvatures
from driftproof.verifiers.worst_case.statement import (
    CONDITIONS,
    ZERO,
    Combination,
    Condition,
    Statement,
    Triple,
    combined,
    fields,
    loads,
    number,
)

COUNTEREXAMPLE = "driftproof counterexample 2"
ALONE = (*CURVED, *ROUGH, "cocoercive", "strongly-monotone")
SUFFICE = [*map(set, zip(ALONE)), {"convex", "bounded-gradients"}, {"normal-cone", "diameter"}]
"""Classes whose inequalities suffice, alone or together."""
Point = list[fmpq]


class Counterexample:
    """What a file shows.

    Attributes:
        states: the statement that does not hold.
        left: its left side on the functions of the file.
        said: the functions in lines, and both sides.
    """

    def __init__(self, text: str) -> None:
        """Read and check a file.

        Raises:
            RefusedCertificateError: it does not refute what it says.
            ArithmeticError, LookupError, SyntaxError, TypeError, ValueError: it is none.
        """
        file = loads(text, COUNTEREXAMPLE, "coordinates numbers fields")
        self.states = it = Statement(file)
        self.where = {v: [number(c) for c in file["coordinates"][v]] for v in it.vectors}
        self.numbers = {name: number(file["numbers"][name]) for name in it.values}
        (self.dimension,) = {len(point) for point in self.where.values()}
        for one, other in combinations(it.spaces.values(), 2):
            if any(dot(self.where[u], self.where[v]) != 0 for u, v in product(one, other)):
                raise RefusedCertificateError("vectors of two spaces are not orthogonal")
        points = []
        for name, triples in it.triples.items():
            self._is_of_its_class(name, triples, file["fields"].get(name))
            for at, (x, g, f) in triples.items():
                by = f"{combined(x.items())} = " if len(x) > 1 else ""
                points.append(
                    f"  at {at} = {by}{shown(self.at(x))}: gradient {shown(self.at(g))}, "
                    f"value {short(self.value(f))},"
                )
        for name, of in it.assumptions.items():
            left = self._left(of)
            if left > of.right or (of.equality and left != of.right):
                raise RefusedCertificateError(f"the assumption {name} does not hold")
        self.left = self._left(it.conclusion)
        if self.left <= it.upper:
            raise RefusedCertificateError("the conclusion holds for these functions")
        given = iter(points)  # instead of the same points as unknown vectors
        self.said = [
            it.said[0],
            f"in dimension {self.dimension} there are functions:",
            *(next(given) if line.startswith("  at ") else line for line in it.said[1:-1]),
            f"but not {it.said[-1]}: the left side is {short(self.left)}",
        ]

    def _is_of_its_class(self, name: str, triples: Mapping[str, Triple], field: Any) -> None:
        classes = self.states.constants[name]
        if field is not None and "knot" in field:
            self._is_curve(name, classes, triples, field)
        elif field is not None:
            matrix, shift = fields(field, "matrix shift")
            self._is_linear(classes, triples, _matrix(matrix), [number(c) for c in shift])
            return
        conditions = [*self.states.assumptions.values(), self.states.conclusion]
        of_values = any(of.numbers for of in conditions)
        if set(classes) == {"bounded-gradients"} and not of_values:
            apart = [(self.at(t.x), self.at(t.g)) for t in triples.values()]
            if any(x == y and g != h for (x, g), (y, h) in combinations(apart, 2)):
                raise RefusedCertificateError(f"{name} has two gradients at one point")
        elif set(classes) not in SUFFICE or (
            "smooth" in classes and of_values and len(self.states.triples) > 1
        ):
            kinds = ", ".join(classes)
            raise RefusedCertificateError(f"for {kinds} functions the inequalities do not suffice")
        for kind, constants in classes.items():
            for at in permutations(triples.values(), CLASSES[kind].points):
                of = CONDITIONS[kind](*constants, *at)
                if self._left(of) > of.right:
                    raise RefusedCertificateError(f"{name} is not {kind}")

    def _is_curve(self, name: str, classes: Any, triples: Mapping[str, Triple], field: Any) -> None:
        """Check that f'(x) = slope + below min(x, knot) + above max(x − knot, 0), with f(0) = 0."""
        slope, below, above, knot = map(number, fields(field, "slope below above knot"))
        for kind, constants in classes.items():
            least, most = curvatures(kind, constants) if kind in CURVED else (ZERO, -1)
            if knot < 0 or not least <= min(below, above) <= max(below, above) <= most:
                raise RefusedCertificateError(f"the formula of {name} is not {kind}")
        for at, (x, g, f) in triples.items():
            (point,) = self.at(x)
            low, high = min(point, knot), max(point - knot, ZERO)
            value = slope * point + (below * low * (low + 2 * high) + above * high * high) / 2
            if self.at(g) != [slope + below * low + above * high] or self.value(f) != value:
                raise RefusedCertificateError(f"the formula of {name} is another one at {at}")

    def _is_linear(
        self,
        classes: Mapping[str, Sequence[fmpq]],
        triples: Mapping[str, Triple],
        matrix: fmpq_mat,
        shift: Point,
    ) -> None:
        """Check that x ↦ Mx + shift has the values, and is in the classes.

        Of functions of two variables it is the field (∇_x f, −∇_y f): M with the rows of y negated
        is the matrix of second derivatives, and so symmetric.
        """
        transposed, size = matrix.transpose(), range(self.dimension)
        for at, (x, g, _) in triples.items():
            given = matrix * fmpq_mat([[c] for c in self.at(x)])
            if [given[k, 0] + shift[k] for k in size] != self.at(g):
                raise RefusedCertificateError(f"the field is another one at {at}")
        one = fmpq_mat([[fmpq(j == k) for k in size] for j in size])
        forms: dict[str, Callable[[fmpq], fmpq_mat]] = {
            "strongly-monotone": lambda mu: (matrix + transposed) / 2 - one * mu,
            "lipschitz": lambda L: one * (L * L) - transposed * matrix,
        }
        for kind, constants in classes.items():
            if not positive_semidefinite(forms[kind](*constants).tolist()):
                raise RefusedCertificateError(f"the field is not {kind}")
        if len(self.states.spaces) > 1:
            first, second = (
                [self.where[v] for v in names] for names in self.states.spaces.values()
            )
            of_y = [any(point[k] != 0 for point in second) for k in size]
            if any(point[k] != 0 for point in first for k in size if of_y[k]):
                raise RefusedCertificateError("a coordinate of both spaces")
            if any(
                matrix[j, k] * (-1) ** of_y[j] != matrix[k, j] * (-1) ** of_y[k]
                for j, k in combinations(size, 2)
            ):
                raise RefusedCertificateError("the field is not that of a function")

    def at(self, of: Combination) -> Point:
        """Return the coordinates of a combination."""
        return [
            sum((c * self.where[name][k] for name, c in of.items()), ZERO)
            for k in range(self.dimension)
        ]

    def value(self, of: Combination) -> fmpq:
        """Return the number that a combination of values is."""
        return sum((a * self.numbers[name] for name, a in of.items()), ZERO)

    def _left(self, of: Condition) -> fmpq:
        """Return a condition's left side."""
        products = (c * dot(self.at(u), self.at(v)) for c, u, v in of.products)
        return sum(products, self.value(of.numbers))


def functions_of(text: str) -> Counterexample:
    """Return what a file shows (``Counterexample``)."""
    return Counterexample(text)


def dot(u: Point, v: Point) -> fmpq:
    """Return an inner product of coordinates."""
    return sum(map(mul, u, v), ZERO)


def _matrix(written: Sequence[Sequence[str]]) -> fmpq_mat:
    return fmpq_mat([[number(c) for c in row] for row in written])


def shown(point: Point) -> str:
    """Return a point's coordinates, each with at most six digits."""
    return f"({', '.join(map(short, point))})"


def short(of: fmpq) -> str:
    """Return a number in decimals, exactly where six digits suffice."""
    return f"{float(of):.6g}"
