"""What a certificate of one space says, in the words of Coq.

Its numbers are of a ring: fractions, or rational functions of letters (``coq_signs.Signs``). How
points are named, and what the unknown vectors stand for, is said by those that write a theorem:
``Theorem`` of fractions, ``OverRegion`` of letters.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from driftproof.toolkit.ratios import vanishes
from driftproof.verifiers.worst_case.classes import CLASSES, IN_COQ
from driftproof.verifiers.worst_case.coq_text import UntranslatedError, argument, bracketed, text
from driftproof.verifiers.worst_case.statement import (
    ZERO,
    Combination,
    Condition,
    Numbers,
    Statement,
)

Row = Sequence[Any]


class Fractions:
    """The ring of fractions, as Coq reads them."""

    zero = ZERO

    def full(self, of: Any) -> Any:
        """Return a number as an element of the ring."""
        return of

    def ratio(self, of: Any) -> str:
        """Return an element as Coq reads it."""
        return text(of)

    def sum(self, terms: Iterable[tuple[Any, str]]) -> str:
        """Return a sum of numbers times what has a text."""
        made = ""
        for c, atom in terms:
            size = atom if abs(c) == 1 else f"{text(abs(c))} * {atom}"
            if made:
                made += f" {'+' if c > 0 else '-'} {size}"
            else:
                made = size if c > 0 else f"{text(c)} * {atom}"
        return made


class Words:
    """A certificate of one space in the words of Coq.

    Attributes:
        it: what it states.
        atoms: what each unknown vector stands for: a gradient at a point, a start, a state.
        numbers: what each unknown number stands for.

    Args:
        ring: what its numbers are in Coq.
        numbers: what they are in the file.
    """

    def __init__(self, file: dict[str, Any], ring: Any, numbers: Numbers | None = None) -> None:
        self.file, self.ring, self.it = file, ring, Statement(file, numbers)
        self.atoms = dict.fromkeys(self.it.vectors, "")
        self.numbers = dict.fromkeys(self.it.values, "")

    def row(self, of: Combination) -> tuple[Any, ...]:
        """Return a combination as a row of its coefficients."""
        return tuple(self.ring.full(of.get(name, ZERO)) for name in self.it.vectors)

    def coordinates(self, row: Row) -> Iterable[tuple[Any, str]]:
        """Return a combination as numbers times what unknown vectors stand for."""
        return zip(row, self.atoms.values(), strict=True)

    def vector(self, row: Row) -> str:
        """Return a combination as text: a point, a difference of points, or a sum."""
        return self.linear(row)

    def terms(self, row: Row) -> list[tuple[Any, str]]:
        """Return the terms of a combination."""
        return [(c, bracketed(of)) for c, of in self.coordinates(row) if not vanishes(c)]

    def linear(self, row: Row) -> str:
        """Return a combination as a sum."""
        return self.ring.sum(self.terms(row)) or "zero"

    def quantity(self, of: Condition) -> str:
        """Return the left side of a condition as Coq has it."""
        terms = []
        for c, u, v in of.products:
            one, two = self.vector(self.row(u)), self.vector(self.row(v))
            terms.append((self.ring.full(c), f"‖{one}‖²" if one == two else f"⟨{one}, {two}⟩"))
        terms += [(self.ring.full(a), f"({self.numbers[n]})") for n, a in of.numbers.items()]
        return self.ring.sum(terms) or "0"

    def members(self, called: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
        """Return names and statements of what classes functions are of, which are called (f, g)."""
        for kind in sorted({kind for of in self.it.constants.values() for kind in of} - {*IN_COQ}):
            raise UntranslatedError(f"{kind} functions", f"one of {', '.join(IN_COQ)}")
        functions = zip(called, self.it.constants.values(), strict=True)
        return [
            (
                f"member_{k}_{j}",
                CLASSES[kind].definition(
                    kind, [argument(self.ring.ratio(c)) for c in constants], f, g
                ),
            )
            for k, ((f, g), kinds) in enumerate(functions)
            for j, (kind, constants) in enumerate(kinds.items())
        ]


def minus(one: Row, other: Row) -> tuple[Any, ...]:
    """Return the difference of two rows."""
    return tuple(x - y for x, y in zip(one, other, strict=True))


def matrix(
    terms: Iterable[tuple[Any, Condition]], vectors: Sequence[str], zero: Any = ZERO
) -> list[list[Any]]:
    """Return the symmetric matrix S of a sum of conditions, Σ t ⟨Q, G⟩ = ⟨S, G⟩."""
    column = {name: k for k, name in enumerate(vectors)}
    S = [[zero] * len(column) for _ in column]
    for times, of in terms:
        for c, u, v in of.products:
            for n, x in u.items():
                for m, y in v.items():
                    z = times * c * x * y / 2
                    S[column[n]][column[m]] += z
                    S[column[m]][column[n]] += z
    return S
