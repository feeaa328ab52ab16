"""Letters that stand for every number of a range.

A hyper-parameter, or a constant of a class, may be a letter: then a symbolic run has rational
functions for coefficients, and what is proved of it is proved for all values of the letter.
"""

from __future__ import annotations

import re
from typing import Any

from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.ratios import Ratio, context

RANGE = re.compile(r"(.+?)\s*(<=?)\s*([A-Za-z]\w*)(?:\s*(<=?)\s*(.+))?")


class Letter(Ratio):
    """A letter that stands for every number of a range.

    Attributes:
        name: as the statement has it.
        low, high: the ends, as text in letters that are fixed, or free themselves ("": no end).
        above, below: whether the end does not belong to the range.
    """

    __slots__ = ("above", "below", "high", "low", "name")

    def __init__(self, written: str) -> None:
        parts = RANGE.fullmatch(written.strip())
        if parts is None:
            raise DriftproofError(
                f"for_all({written!r})",
                "a letter between its ends, the lower one first",
                'write for_all("0 < eta <= 1/L"), or for_all("0 < L") without an upper end',
            )
        self.low, above, self.name, below, high = parts.groups()
        super().__init__(context([self.name]).gens()[0])
        self.above, self.below, self.high = above == "<", below != "<=", high or ""

    def __repr__(self) -> str:
        upper = f" {'<' if self.below else '<='} {self.high}" if self.high else ""
        return f"all {self.low} {'<' if self.above else '<='} {self.name}{upper}"


def shown(value: Any) -> str:
    """Return a parameter for a reader: of a letter its range."""
    return repr(value) if isinstance(value, Letter) else str(value)


def for_all(written: str) -> Any:
    """Return a letter that stands for every number of a range; it takes the place of one.

    >>> for_all("0 < eta <= 1/L")
    all 0 < eta <= 1/L

    Args:
        written: the letter between its ends. ``<`` leaves an end out. An end is an expression in
            letters of the statement; of those that are free too, the first named comes first.

    Raises:
        DriftproofError: it is no such range.
    """
    return Letter(written)
