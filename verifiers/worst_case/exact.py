"""The program of a worst case in fractions, beside the same in doubles, both in convenient units.

Gram parts stay sums of products of points and gradients: a matrix for each condition would be
large, and nothing needs it. The units are powers of 4 (``scaling``), so nothing is rounded.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from flint import fmpq, fmpq_mat

from driftproof.toolkit.gram.exact import GramForm, Vector
from driftproof.verifiers.worst_case.freedom import kept, reduced
from driftproof.verifiers.worst_case.program import Matrices, Solved, matrices
from driftproof.verifiers.worst_case.scaling import units
from driftproof.verifiers.worst_case.sdp import WorstCase, pairs


def rational(of: Fraction | float) -> fmpq:
    """Return a fraction, or a double, as a number of flint."""
    of = Fraction(of)
    return fmpq(of.numerator, of.denominator)


def rationals(of: np.ndarray) -> list[fmpq]:
    """Return the entries of an array of doubles as numbers of flint, row by row."""
    return [rational(x) for x in of.flat]


def fraction(of: fmpq) -> Fraction:
    """Return a number of flint as a fraction."""
    return Fraction(int(of.p), int(of.q))


@dataclass(frozen=True)
class Row:
    """A condition: its products and numbers are at most its bound, or equal to it.

    Attributes:
        terms: (c, one, other) of rows of ``Exact.listed``: c times their product.
        gram: (j, k) → q: q times the product of the unknown vectors j and k.
        values: j → a: a times the unknown number j.
    """

    terms: Sequence[tuple[fmpq, int, int]]
    gram: Mapping[tuple[int, int], fmpq]
    values: Mapping[int, fmpq]
    bound: fmpq
    equality: bool


class Exact:
    """A worst case in fractions; conditions are in the order of ``WorstCase.constraints``.

    Attributes:
        case: the worst case.
        scale: the value of the measure that is 1 in these units.
        doubles: the same program, in the same units.
        listed: points and gradients as combinations of the unknown vectors, one a row; those of a
            second space are rows of their own.
        rows: the conditions.
        objective: what is maximised; its bound is 0.
    """

    def __init__(self, case: WorstCase) -> None:
        program = matrices(case)
        self._matter = kept(program)
        program = reduced(program, self._matter)
        self._units = units(program)
        self.doubles: Matrices = self._units.scaled(program)
        self.size, self.count = len(self.doubles.objective[0]), len(case.values)
        self._numbers = {int(j): k for k, j in enumerate(np.flatnonzero(self._matter))}
        self._lengths = rationals(self._units.vectors)
        self._heights = rationals(self._units.values)
        self.constant, self._unit = case.objective.constant, rational(self._units.objective)
        self.case, self.scale = case, fraction(1 / self._unit)
        spaces = (False, True) if any(case.second) else (False,)
        every = [t for triples in case.triples for t in triples]
        parts = [
            v.part(second=second) for second in spaces for t in every for v in (t.point, t.gradient)
        ]
        self.listed = fmpq_mat(len(parts), self.size, [x for v in parts for x in self._dense(v)])
        self._apart = [2 * len(every) * k for k in range(len(spaces))]
        self.rows = list(self._rows(case))
        self.objective = self._scaled(case.objective, self._unit, self.constant)

    def _dense(self, of: Vector) -> list[fmpq]:
        entries = [fmpq(0)] * self.size
        for j, c in of.coefficients.items():
            if j in self._numbers:
                place = self._numbers[j]
                entries[place] = rational(c) * self._lengths[place]
        return entries

    def _scaled(
        self, of: GramForm, unit: fmpq, bound: Fraction = Fraction(0), *, equality: bool = False
    ) -> Row:
        places, s = self._numbers, self._lengths
        gram = {
            (places[j], places[k]): rational(q) * unit * s[places[j]] * s[places[k]]
            for (j, k), q in of.gram.items()
            if j in places and k in places
        }
        values = {j: rational(a) * unit * self._heights[j] for j, a in of.values.items()}
        return Row((), gram, values, rational(bound - of.constant) * unit, equality)

    def _rows(self, case: WorstCase) -> Iterator[Row]:
        scales, first = iter(rationals(self._units.constraints)), 0
        for of, triples in zip(case.classes, case.triples, strict=True):
            for condition in of.conditions:
                factors = [(pair, rational(c)) for pair, c in condition.products.items()]
                for places in pairs(condition, triples):
                    unit = next(scales)
                    value = GramForm()
                    for factor, place in zip(condition.values, places, strict=False):
                        value = value + triples[place].value * factor
                    made = self._scaled(value, unit, condition.bound)
                    at = [first + 2 * place for place in places]
                    terms = [
                        (c * unit, one + apart, other + apart)
                        for apart in self._apart
                        for c, one, other in _terms(factors, at)
                    ]
                    yield Row(terms, {}, made.values, made.bound, False)
            first += 2 * len(triples)
        for relation in case.relations:
            unit = next(scales)
            yield self._scaled(relation.quantity, unit, relation.bound, equality=relation.equality)

    def near(self, solved: Solved) -> Solved:
        """Return a solver's answer in these units."""
        gram = solved.gram[np.ix_(self._matter, self._matter)]
        return self._units.to_these(Solved(**{**vars(solved), "gram": gram}))

    def value(self, of: Fraction) -> fmpq:
        """Return a value of the measure in these units, without the measure's constant."""
        return rational(of - self.constant) * self._unit

    def measure(self, of: fmpq) -> Fraction:
        """Return the value of the measure that a number in these units stands for."""
        return fraction(of / self._unit) + self.constant

    def bound(self, multipliers: Mapping[int, fmpq]) -> Fraction:
        """Return Σ λ_k b_k as a value of the measure."""
        return self.measure(sum((x * self.rows[k].bound for k, x in multipliers.items()), fmpq(0)))

    def unscaled(self, multipliers: Mapping[int, fmpq]) -> dict[int, fmpq]:
        """Return multipliers in the units of the worst case."""
        scales = self._units.constraints
        return {k: x * rational(scales[k]) / self._unit for k, x in multipliers.items()}

    def coordinates(self, factor: fmpq_mat) -> list[list[Fraction]]:
        """Return the coordinates of every unknown vector, of those in these units as rows."""
        zero = [Fraction(0)] * factor.ncols()
        rows = factor.tolist()
        made = []
        for j in range(len(self._matter)):
            place = self._numbers.get(j)
            made.append(
                zero if place is None else [fraction(x * self._lengths[place]) for x in rows[place]]
            )
        return made

    def heights(self, values: Sequence[fmpq]) -> list[Fraction]:
        """Return the unknown numbers, of those in these units."""
        return [fraction(x * t) for x, t in zip(values, self._heights, strict=True)]

    def slack(self, multipliers: Mapping[int, fmpq]) -> fmpq_mat:
        """Return S = Σ λ_k Q_k − Q_0."""
        side = self.listed.nrows()
        inner, gram = [fmpq(0)] * side**2, [fmpq(0)] * self.size**2
        for k, x in multipliers.items():
            for c, one, other in self.rows[k].terms:
                inner[one * side + other] += x * c
            for (i, j), q in self.rows[k].gram.items():
                gram[i * self.size + j] += x * q
        for (i, j), q in self.objective.gram.items():
            gram[i * self.size + j] -= q
        square = fmpq_mat(self.size, self.size, gram)
        square += self.listed.transpose() * (fmpq_mat(side, side, inner) * self.listed)
        return (square + square.transpose()) / 2

    def on(self, factor: fmpq_mat, values: Sequence[fmpq]) -> list[fmpq]:
        """Return by how much each condition is exceeded where G = LLᵀ, and the measure at last."""
        own, listed = (of * of.transpose() for of in (factor, self.listed * factor))
        return [
            sum((c * listed[one, other] for c, one, other in row.terms), -row.bound)
            + sum((q * own[j, k] for (j, k), q in row.gram.items()), fmpq(0))
            + sum((a * values[j] for j, a in row.values.items()), fmpq(0))
            for row in [*self.rows, self.objective]
        ]

    def times(self, k: int, matrix: fmpq_mat, listed: list[list[fmpq]]) -> list[fmpq]:
        """Return the entries of Q_k V row by row (k = −1: Q_0); ``listed`` is listed·V."""
        row, width = (self.rows[k] if k >= 0 else self.objective), matrix.ncols()
        made, rows = [fmpq(0)] * (self.size * width), matrix.tolist()
        half: dict[int, list[fmpq]] = {}
        for c, one, other in row.terms:
            for here, there in ((one, other), (other, one)):
                sums = half.setdefault(here, [fmpq(0)] * width)
                for r in range(width):
                    sums[r] += c * listed[there][r] / 2
        for at, sums in half.items():
            for j in range(self.size):
                if (entry := self.listed[at, j]) != 0:
                    for r in range(width):
                        made[j * width + r] += entry * sums[r]
        for (i, j), q in row.gram.items():
            for here, there in ((i, j), (j, i)):
                for r in range(width):
                    made[here * width + r] += q * rows[there][r] / 2
        return made


def _terms(
    factors: Sequence[tuple[tuple[str, str], fmpq]], first: Sequence[int]
) -> Iterator[tuple[fmpq, int, int]]:
    """Yield a condition's products in the rows of points and gradients.

    Args:
        first: the row of each triple's point; the gradient's is the next.
    """
    rows: dict[str, list[tuple[int, int]]] = {
        "difference": [(row, sign) for row, sign in zip(first, (1, -1), strict=False)],
        "one": [(first[0] + 1, 1)],
        "other": [(first[-1] + 1, 1)],
    }
    for (a, b), factor in factors:
        for one, sign in rows[a]:
            for other, turn in rows[b]:
                yield factor * (sign * turn), one, other
