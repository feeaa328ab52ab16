"""Vectors and forms: tensors of unknown vectors and quantities, which torch's functions accept.

An algorithm's text runs on them unchanged, as on ``toolkit.balls``: torch hands each of its
functions to ``__torch_function__``, and the table of ``toolkit.gram.operations`` has those that
are linear. Any other is refused, with the line of the algorithm that called it.

The dimension has a place in every shape, the last but one, and a stand-in size (``SIZES``): a run
with another one has to give the same. A product of two vectors is a form whose coordinates are not
summed yet (``open``); ``sum(-2)`` makes it the inner product.

Numbers are exact. A number of an algorithm's text is the fraction that it stands for (``decimal``:
0.1 is 1/10), and so is a double of a tensor (1/3, not its nearest double).
"""

from __future__ import annotations

import fractions
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from linecache import getline
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from driftproof.toolkit.carrier import Carrier
from driftproof.toolkit.errors import UndecidableError
from driftproof.toolkit.gram.exact import GramForm, Second, Vector
from driftproof.toolkit.rationals import decimal, nearest_fraction
from driftproof.toolkit.ratios import vanishes

SIZES: dict[str, Any] = {"dimension": 7, "upper": 3, "unit": 1.0}
"""The stand-ins for the dimension, for that of x in a point (x, y), and for the size of vectors."""
USUAL = dict(SIZES)
"""Those of the first run; a few more show that it is the same with others."""
REFUSED: list[Exception] = []
"""What was refused, and what oracles raised: a text that catches it is refused all the same."""
LARGEST = [0]
"""log2 of the largest coefficient that a vector of the run has had."""

_ROOT = Path(__file__).parents[1]
_MACHINERY = (
    *(_ROOT / part for part in ("gram", "carrier.py", "engines", "algorithm.py", "measure.py")),
    Path(fractions.__file__).parent,
)


@contextmanager
def sizes(dimension: int, upper: int, unit: float = 1.0) -> Iterator[None]:
    """Run with other stand-ins for sizes, to see whether anything depends on them."""
    kept = dict(SIZES)
    SIZES.update(dimension=dimension, upper=upper, unit=unit)
    try:
        yield
    finally:
        SIZES.update(kept)


class NotLinearError(UndecidableError):
    """An algorithm or a measure left what performance estimation can follow."""


def refused(what: str, remedy: str = "", wanted: str = "") -> NotLinearError:
    """Return the error for an operation, with the line that asked for it."""
    frame = sys._getframe(1)
    while frame.f_back is not None and _is_machinery(frame.f_code.co_filename):
        frame = frame.f_back
    file, line = frame.f_code.co_filename, frame.f_lineno
    source = getline(file, line).strip()
    error = NotLinearError(
        f"{file}:{line}: {what}" + (f"\n        {source}" if source else ""),
        wanted
        or "sums and multiples of vectors, and inner products of two in a measure: what "
        "stays in the span of the start and of the gradients",
        remedy or "a worst case over a class needs such steps alone; judge this one on cases",
    )
    REFUSED.append(error)
    return error


def _is_machinery(file: str) -> bool:
    path = Path(file)
    between = "torch" in path.parts or file.startswith("<")  # as <frozen abc>
    return between or any(path.is_relative_to(part) for part in _MACHINERY)


class Unknown(Carrier):
    """What vectors and forms share: exact entries, and torch's functions from the table.

    Attributes:
        open: whether it has the dimension's axis, the last but one; that of ``entries`` has size 1.
        in_doubles: its coefficients as a replay has them, once it has (``engines.replay``).
    """

    open: bool
    in_doubles: list[Any] | None = None

    @staticmethod
    def __new__(cls, entries: np.ndarray, open: bool) -> Unknown:
        """Wrap exact entries."""
        shape = entries.shape
        if open:
            assert entries.ndim >= 2, shape
            assert shape[-2] == 1, shape
            shape = (*shape[:-2], SIZES["dimension"], shape[-1])
        width = SIZES["dimension"] if open else 1
        made: Unknown = cls.carrying(entries, shape, width, open=open)
        return made

    @classmethod
    def refusal(cls, what: str) -> Exception:
        """Return the error for what is not linear."""
        return refused(f"{what} of unknown vectors")

    @classmethod
    def joined(cls, given: Sequence[Any]) -> tuple[Carrier, list[np.ndarray]]:
        """Return the entries of operands that are vectors alone, or numbers alone."""
        kinds = {(x.kind, x.open) if isinstance(x, Unknown) else None for x in given}
        if len(kinds) > 1 or None in kinds:
            raise refused("vectors and what is none beside each other")
        parts = [x.entries for x in given]
        return given[0].made(parts[0]), parts

    def made(self, entries: np.ndarray) -> Any:
        """Return other vectors or numbers."""
        return of_entries(entries, open=self.open)

    def viewed(self, at: Tensor) -> Any:
        """Return some of the vectors or numbers, if all their coordinates are there."""
        if self.open and at.shape[-2:-1] == (0,):  # of a bilevel problem, the level that is held
            return torch.empty(at.shape, dtype=torch.float64)
        if (part := self._part(at)) is not None:
            return part
        self.numbers(at)
        return super().viewed(at)

    def _part(self, at: Tensor) -> Any:
        """Return x, or y, of vectors (x, y) that are cut at the size of x (None: they are not)."""
        upper, width = int(SIZES["upper"]), int(self.width)
        if self.kind is not GramVector or not at.numel():
            return None
        begin = int(at.flatten()[0] % width)
        number, size = at[..., :1, :] // width, {0: upper, upper: width - upper}.get(begin, 0)
        if (
            at.shape[-2:-1] != (size,)
            or (at != number * width + (begin + torch.arange(size)[:, None])).any()
        ):
            return None
        entries = self.pool.reshape(-1)[number.numpy()]
        if not any(isinstance(j, Second) for v in entries.flat for j in v.coefficients):
            return None
        return GramVector(part_of(entries, second=begin > 0))

    def numbers(self, places: Tensor) -> np.ndarray:
        """Return which of the pool stand at places, if dimension and outcomes keep their axes."""
        at, width = super().numbers(places), self.width
        if not self.open:
            return at
        number: np.ndarray = (at[..., :1, :] if at.ndim > 1 else at) // width
        outcome = number % self.pool.shape[-1]
        if (
            at.shape[-2:-1] != (width,)
            or (at != number * width + np.arange(width)[:, None]).any()
            or (outcome != outcome.reshape(-1, outcome.shape[-1])[:1]).any()
        ):
            raise refused("one coordinate of a vector, or a shape that moves the dimension")
        return number

    @classmethod
    def __torch_dispatch__(  # type: ignore[override]
        cls, func: Any, types: Any, args: Sequence[Any] = (), kwargs: Any = None
    ) -> Any:
        """Refuse what came past the table."""
        raise refused(f"torch's {func} of unknown vectors")

    @classmethod
    def called(cls, name: str, func: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        """Call the version of a function; what Python cannot do with the entries is refused."""
        if name in ("__float__", "__int__", "item"):
            raise refused(
                f"{name.strip('_')}(…) of a hyper-parameter, which is an exact number over a class"
            )
        kwargs = {NUMPYS.get(key, key): value for key, value in kwargs.items()}
        try:
            return super().called(name, func, args, kwargs)
        except (TypeError, ValueError, ArithmeticError) as error:
            raise refused(f"torch's {name}: {error}") from error

    def __bool__(self) -> bool:
        raise refused("a choice by an unknown quantity")

    def __round__(self, digits: int | None = None) -> Any:
        raise refused("round(…) of a hyper-parameter, which is an exact number over a class")

    def __hash__(self) -> int:
        raise refused("a table or a set that an unknown quantity is looked up in")


class GramVector(Unknown):
    """Unknown vectors, [..., dim, replicates]; each entry is a ``Vector``."""

    @staticmethod
    def __new__(cls, entries: np.ndarray) -> GramVector:
        """Wrap vectors, [..., 1, replicates]."""
        return Unknown.__new__(cls, entries, True)  # type: ignore[return-value]

    kind = property(lambda _: GramVector)


class Token(GramVector):
    """What stands for f(w) or ∇g(f(w)), of which nothing is known: it can be passed on alone."""

    @classmethod
    def __torch_function__(
        cls, func: Any, types: Any, args: Sequence[Any] = (), kwargs: Any = None
    ) -> Any:
        """Refuse whatever is not asked of the shape."""
        if func.__name__ == "__get__":
            return super().__torch_function__(func, types, args, kwargs)
        raise refused(
            "f(w), or ∇g at it, of unknown compositions in another use",
            "pass outer_grad what inner returned, and pullback what outer_grad returned",
        )


class GramForms(Unknown):
    """GramForms that are affine in the Gram matrix and the values; exact numbers among them."""

    @staticmethod
    def __new__(cls, entries: np.ndarray, open: bool = False) -> GramForms:
        """Wrap quantities."""
        return Unknown.__new__(cls, entries, open)  # type: ignore[return-value]

    @classmethod
    def of(cls, value: float) -> GramForms:
        """Return a hyper-parameter as an exact number."""
        entry = np.empty((), dtype=object)
        entry[()] = GramForm.number(decimal(value))
        return cls(entry)


NUMPYS = {"axis": "dim", "keepdims": "keepdim"}
"""numpy's words for torch's, which torch takes too."""


def part_of(entries: np.ndarray, *, second: bool) -> np.ndarray:
    """Return the x, or the y, of vectors that are sums of both."""
    parts: np.ndarray = np.frompyfunc(lambda v: v.part(second=second), 1, 1)(entries)
    return parts


_meant = np.frompyfunc(lambda x: nearest_fraction(float(x)), 1, 1)
_decimal = np.frompyfunc(decimal, 1, 1)


def entries_of(x: Any, *, beside_open: bool = False) -> np.ndarray:
    """Return the exact entries of whatever a function of torch was given.

    Args:
        beside_open: it meets something that has the dimension's axis, over which it may not vary.
    """
    if isinstance(x, Unknown):
        array = x.entries
        if not x.open and beside_open and array.ndim >= 2 and array.shape[-2] != 1:
            raise refused("a product with numbers that vary over the coordinates")
        return array
    if not isinstance(x, Tensor):
        return np.asarray(_decimal(np.asarray(x, dtype=object)), dtype=object)
    array = np.asarray(_meant(x.detach().cpu().numpy()), dtype=object)
    if beside_open and array.ndim >= 2 and array.shape[-2] != 1:
        if not all(map(vanishes, array.flat)):
            raise refused("numbers that vary over the coordinates")
        array = array[..., :1, :]
    return array


def of_entries(entries: Any, *, open: bool) -> Any:
    """Return entries as a GramVector or a GramForms, whichever they are."""
    array = np.asarray(entries, dtype=object)
    if array.size and isinstance(array.flat[0], Vector):
        if not all(isinstance(entry, Vector) for entry in array.flat):
            raise refused("vectors and numbers in one tensor")
        LARGEST[0] = max(LARGEST[0], *map(_bits, array.flat))
        return GramVector(array)
    return GramForms(np.asarray(_quantity(array), dtype=object), open)


def _bits(of: Vector) -> int:
    """Return log2 of the largest coefficient, roughly; of letters nothing is known."""
    parts = (c for c in of.coefficients.values() if isinstance(c, Fraction))
    return max((c.numerator.bit_length() - c.denominator.bit_length() for c in parts), default=0)


_quantity = np.frompyfunc(
    lambda entry: entry if isinstance(entry, GramForm) else GramForm.number(entry), 1, 1
)
