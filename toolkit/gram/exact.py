"""Exact algebra of unknown vectors: combinations of them, and affine forms in their Gram matrix.

The unknowns are vectors b_0, b_1, … of any dimension (a start, gradients) and numbers F_0, F_1, …
(function values). A worst case needs of the vectors their Gram matrix alone, G_jk = ⟨b_j, b_k⟩.
A point (x, y) of two variables is the sum of a vector of each space, orthogonal to each other.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, TypeAlias, TypeVar

from driftproof.toolkit.ratios import Ratio, Subtracts, vanishes

DIVISORS: list[Ratio] = []
"""What a run has divided by that has letters."""

Number: TypeAlias = Fraction | int
K = TypeVar("K")


def exact(value: Any) -> Any:
    """Return a number as a fraction, and a rational function of letters as it is."""
    return value if isinstance(value, Ratio) else Fraction(value)


def _sum(
    one: Mapping[K, Fraction], two: Mapping[K, Fraction], factor: Number
) -> Mapping[K, Fraction]:
    """Return one + factor·two, without zeros."""
    total = dict(one)
    for key, coefficient in two.items():
        total[key] = total.get(key, Fraction(0)) + factor * coefficient
    return {key: coefficient for key, coefficient in total.items() if not vanishes(coefficient)}


def is_positive(of: Ratio) -> bool:
    """Say whether no coefficient is below 0, and one is above: where letters are above 0 it is."""
    return bool(of.top) and all(c > 0 for p in (of.top, of.bottom) for _, c in p.terms())


def _reciprocal(of: Any) -> Any:
    if isinstance(of, Ratio):
        DIVISORS.append(of)
    return 1 / of


def _equal(one: Mapping[K, Fraction], two: Mapping[K, Fraction]) -> bool:
    return not _sum(one, two, -1)


class Second(int):
    """The number of a vector of the second space, that of y in points (x, y).

    >>> x, y = Vector.basis(0), Vector.basis(Second(1))
    >>> (x * y).gram, (x + y) * (x + y) == x * x + y * y
    ({}, True)
    """


@dataclass(frozen=True, eq=False)
class Vector(Subtracts):
    """Σ_j c_j b_j.

    >>> x, g = Vector.basis(0), Vector.basis(1)
    >>> (x - g * Fraction(1, 10)).coefficients
    {0: Fraction(1, 1), 1: Fraction(-1, 10)}

    Attributes:
        coefficients: j → c_j, none of them 0.
    """

    coefficients: Mapping[int, Fraction] = field(default_factory=dict)

    @classmethod
    def basis(cls, number: int) -> Vector:
        """Return b_j."""
        return cls({number: Fraction(1)})

    @property
    def bare(self) -> Vector:
        """The combination with x*, whose numbers are negative, at the origin."""
        of = self.coefficients
        return self if min(of, default=0) >= 0 else Vector({j: of[j] for j in of if j >= 0})

    def part(self, *, second: bool) -> Vector:
        """Return x of (x, y), or y."""
        of = self.coefficients.items()
        return Vector({j: c for j, c in of if isinstance(j, Second) is second})

    def __add__(self, other: Any) -> Any:
        if isinstance(other, Vector):
            return Vector(_sum(self.coefficients, other.coefficients, 1))
        return self if vanishes(other) else NotImplemented

    __radd__ = __add__

    def __mul__(self, other: Any) -> Any:
        """Return a multiple of it, or its inner product with another vector."""
        if isinstance(other, GramForm):
            return NotImplemented
        if not isinstance(other, Vector):
            return Vector(_sum({}, self.coefficients, other))
        product: dict[tuple[int, int], Fraction] = {}
        for j, c in self.coefficients.items():
            for k, d in other.coefficients.items():
                if isinstance(j, Second) is not isinstance(k, Second):
                    continue
                pair = (j, k) if j <= k else (k, j)
                product[pair] = product.get(pair, Fraction(0)) + c * d
        return GramForm({pair: c for pair, c in product.items() if not vanishes(c)})

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Vector:
        divisor = other.as_number if isinstance(other, GramForm) else exact(other)
        return Vector(_sum({}, self.coefficients, _reciprocal(divisor)))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Vector) and _equal(self.coefficients, other.coefficients)

    def __hash__(self) -> int:
        return hash(frozenset(self.coefficients.items()))


@dataclass(frozen=True, eq=False)
class GramForm(Subtracts):
    """Σ_{j≤k} q_jk G_jk + Σ_j a_j F_j + c, affine in the Gram matrix and the values.

    The entry of the symmetric matrix Q of ⟨Q, G⟩ is q_jj on the diagonal and q_jk/2 off it.

    >>> x = Vector.basis(0) - Vector.basis(1)
    >>> {pair: int(q) for pair, q in (x * x).gram.items()}
    {(0, 0): 1, (0, 1): -2, (1, 1): 1}

    Attributes:
        gram: (j, k) with j ≤ k → q_jk, none of them 0.
        values: j → a_j, none of them 0.
        constant: c.
    """

    gram: Mapping[tuple[int, int], Fraction] = field(default_factory=dict)
    values: Mapping[int, Fraction] = field(default_factory=dict)
    constant: Fraction = Fraction(0)

    @classmethod
    def number(cls, value: Number) -> GramForm:
        """Return a constant."""
        return cls(constant=exact(value))

    @classmethod
    def value(cls, number: int) -> GramForm:
        """Return F_j."""
        return cls(values={number: Fraction(1)})

    @property
    def bare(self) -> GramForm:
        """The quantity with x*, whose numbers are negative, at the origin."""
        if all(min(pair) >= 0 for pair in self.gram):
            return self
        gram = {pair: q for pair, q in self.gram.items() if min(pair) >= 0}
        return GramForm(gram, self.values, self.constant)

    @property
    def is_number(self) -> bool:
        """Whether it is a constant."""
        return not self.gram and not self.values

    def __add__(self, other: Any) -> Any:
        if isinstance(other, Vector):
            return NotImplemented
        added = other if isinstance(other, GramForm) else GramForm.number(other)
        return GramForm(
            _sum(self.gram, added.gram, 1),
            _sum(self.values, added.values, 1),
            self.constant + added.constant,
        )

    __radd__ = __add__

    def __mul__(self, other: Any) -> Any:
        """Return a multiple: one of the two is a constant.

        Raises:
            ArithmeticError: neither is.
        """
        if isinstance(other, GramForm):
            if self.is_number:
                return other * self.constant
            other = other.as_number
        if isinstance(other, Vector):
            return other * self.as_number
        return GramForm(
            _sum({}, self.gram, other), _sum({}, self.values, other), self.constant * other
        )

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> GramForm:
        divisor = other.as_number if isinstance(other, GramForm) else exact(other)
        scaled: GramForm = self * _reciprocal(divisor)
        return scaled

    def __rtruediv__(self, other: Any) -> Any:
        return other * _reciprocal(self.as_number)

    @property
    def as_number(self) -> Fraction:
        """Return the constant that it is.

        Raises:
            ArithmeticError: it is none.
        """
        if not self.is_number:
            raise ArithmeticError("a product of two quantities that are unknown")
        return self.constant

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, GramForm)
            and _equal(self.gram, other.gram)
            and _equal(self.values, other.values)
            and vanishes(self.constant - other.constant)
        )

    def __hash__(self) -> int:
        gram, values = frozenset(self.gram.items()), frozenset(self.values.items())
        return hash((gram, values, self.constant))
