"""What a row carries beside its numbers: points of a plot, steps of a proof, functions.

It is kept in the ledger, each under the name of its type; ``results.json`` has none of it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_args

Column = Sequence[Any]
"""Numbers of a plot; None where there is nothing to draw."""


@dataclass(frozen=True)
class Points:
    """Columns over x, those that are not empty.

    Attributes:
        x: along the axis.
        mean: what was measured.
        low, high: ends of a band around it.
        bound: the right side.
        fit, reference: two more curves.
    """

    x: Column = ()
    mean: Column = ()
    low: Column = ()
    high: Column = ()
    bound: Column = ()
    fit: Column = ()
    reference: Column = ()

    @property
    def columns(self) -> dict[str, Column]:
        """The columns by their names.

        >>> Points(x=[1, 2], mean=[0.5, 0.25]).columns
        {'x': [1, 2], 'mean': [0.5, 0.25]}
        """
        columns = {name: getattr(self, name) for name in Points.__dataclass_fields__}
        return {name: column for name, column in columns.items() if len(column)}


@dataclass(frozen=True)
class Curve(Points):
    """Both sides along a run, over local steps.

    Attributes:
        how: how the measure takes its moments together, as ("average", "round").
    """

    how: Sequence[str] = ()


@dataclass(frozen=True)
class Compared(Points):
    """Comparisons of computed sides: enclosures of the left one, the right one as ``bound``.

    Attributes:
        what: what each compares.
        size: what its distance is relative to.
        panels: plots of the claim's own.
    """

    what: Sequence[str] = ()
    size: Sequence[float] = ()
    panels: Sequence[Mapping[str, Any]] = ()


@dataclass(frozen=True)
class Slope(Points):
    """Left sides of a rate over horizons.

    Attributes:
        size: what x counts.
        left: the left side, as the statement has it.
        order: the exponents of T and of log T that are claimed.
    """

    size: str = ""
    left: str = ""
    order: Sequence[float] = (0.0, 0.0)


@dataclass(frozen=True)
class ProofSteps:
    """Steps of a proof: what each says, whether it holds (None: open), and why."""

    steps: Sequence[Sequence[Any]]


@dataclass(frozen=True)
class Counterexample:
    """Counterexample that refute a bound over a class, in lines of text."""

    lines: Sequence[str]


@dataclass(frozen=True)
class Recurrence:
    """What iterates obey on linear gradients, and how they grow.

    Attributes:
        functions, numbers: which, and the values of their letters.
        obeyed: the recurrence.
        grows: what ‖x_t‖² does.
        root: z, in two numbers: x_t = Re(z^t v) is a run.
    """

    functions: str
    numbers: str
    obeyed: str
    grows: str
    root: Sequence[float] = ()


Series = Curve | Compared | Slope | ProofSteps | Counterexample | Recurrence
_TYPES = {of.__name__: of for of in get_args(Series)}


def stored(series: Series | None) -> dict[str, Any] | None:
    """Return a series as the ledger has it: what is not empty, and its type."""
    if series is None:
        return None
    return {"type": type(series).__name__} | {k: of for k, of in vars(series).items() if len(of)}


def series_from(entry: Mapping[str, Any] | None) -> Series | None:
    """Return a series from the ledger.

    >>> series_from(stored(Counterexample(["f(x) = x²"])))
    Counterexample(lines=['f(x) = x²'])
    """
    if entry is None:
        return None
    fields = dict(entry)
    made: Series = _TYPES[fields.pop("type")](**fields)
    return made
