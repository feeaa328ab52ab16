"""Every tolerance that a verdict rests on, with its reason. All are relative to the sides' size."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any


@dataclass(frozen=True)
class Tolerance:
    """How near sides are that count as equal.

    Attributes:
        apart: by how much the enclosures themselves may be off: no more than that refutes, and no
            more than that keeps a bound from holding.
        equal: how wide two enclosures that overlap may be, together, for the sides to be equal.
    """

    apart: Any = 0.0
    equal: Any = 0.0

    @property
    def both(self) -> tuple[Any, Any]:
        """The two numbers; each may be one for each comparison."""
        return self.apart, self.equal


EXACT = Tolerance()
"""Of numbers that are known exactly, or by what a test says."""
RUN = Tolerance(equal=1e-6)
"""Of a run in doubles, whose rounding errors are in its enclosures."""
BALLS = Tolerance(equal=Fraction(1, 10**12))
"""Of a run in balls, whose two sides are measured."""
STORED_IN_BALLS = Fraction(1, 10**13)
"""What refutes no right side of constants alone, as a share of the sides: balls take for exact what
a problem or a method has in doubles, as matrices, a coin's √((1 − q)/q) or t/(t + 3), and a
constant may say otherwise of it."""
CLASS = Tolerance(equal=1e-12)
"""Of functions of a class that attain a bound: what is proved is in fractions, and exact."""
COMPUTED = Tolerance(apart=1e-6, equal=1e-6)
"""Of sides that a claim's own function computes in doubles, whose rounding nobody has measured."""
COUNTED = Tolerance(apart=2.0**-50, equal=2.0**-50)
"""Of counts, which are exact: four units in the last place."""
DUST = 1e-12
"""The rounding error, in units of range(c), up to which two sides of 0 are equal."""
DOUBT = 1e-10
"""The rounding error in doubles above which an equality is looked at in balls."""
ROUNDED = 1e-13
"""How far apart two equal numbers may be: no double is 1/√3, and a constant is rounded up. Where an
assumption holds with equality, a case meets it from either side of that."""
EDGE = 1e-9
"""How far apart the sides have to be for a case that meets an assumption within ``ROUNDED`` to
refute a statement."""
SLACK = 1e-9
"""How far above its proven range a replicate may lie before the range is called violated."""
BAND = 1e-9
"""The width of the band of a rate's left side without noise."""
UNIT = 2.0**-52
"""How far a letter may be off: twice the error of rounding it."""
LEVEL = 1e-5
"""The probability, at most, that chance alone makes a verdict of a row wrong."""

LOCATED = 1e-12
"""A minimiser that is as near to the named one, relative to its norm and the start's, is that one
in doubles: closed forms are, and what a linear system gives."""
STORED = 1e-14
"""Relative error of a number that was computed in doubles: a few roundings from what is proven."""
CANCELLED = 0.01
"""How much of what is added up has to be left in a family's constants, for ``STORED`` to hold."""
