"""Balls: a tensor of real balls (midpoint and radius, of Arb), which torch's functions accept.

An algorithm's, a problem's or a measure's text runs on it unchanged: torch hands each of its
functions to ``Balls.__torch_function__``, and the table of ``toolkit.balls.operations`` has a
rigorous version of those in use. A function without one is refused by name, so nothing is computed
in doubles behind one's back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from typing import Any

import flint
import numpy as np
import torch
from flint import arb
from torch import Tensor

from driftproof.toolkit.stand_in import StandIn, Table, out_of_place

BITS = 200
"""Bits of a midpoint, where nobody says otherwise."""

CALL = 50
"""What calling a function takes, in operations on single balls."""

HANDLERS = Table()


class RefusedError(Exception):
    """What balls cannot do: a function without a version of its own, or a comparison left open.

    Attributes:
        open: whether narrower balls might do.
    """

    def __init__(self, reason: str, *, open: bool = False) -> None:
        super().__init__(reason)
        self.open = open


class _Budget:
    """How many operations on single balls may still be made; the same on every machine."""

    left: float = float("inf")

    def spend(self, count: int) -> None:
        self.left -= count
        if self.left < 0:
            raise RefusedError("the run takes more operations on balls than are allowed")


_budget = _Budget()


def spend(count: int) -> None:
    """Count operations on single balls; refuse those beyond the budget of ``precision``."""
    _budget.spend(count)


@contextmanager
def precision(bits: int = BITS, operations: float = float("inf")) -> Iterator[None]:
    """Compute with midpoints of so many bits, and at most so many operations."""
    before, left = flint.ctx.prec, _budget.left
    flint.ctx.prec, _budget.left = bits, operations
    try:
        yield
    finally:
        flint.ctx.prec, _budget.left = before, left


class Balls(StandIn):
    """A tensor of balls; the entries are in ``balls``, an array of ``flint.arb``.

    Attributes:
        balls: the entries; a slice shares them with what it was taken from, as torch's do.
        nonnegative: whether each entry's true value is known to be 0 or more (a norm, say), even
            where its ball reaches below 0.
    """

    balls: np.ndarray
    nonnegative: bool
    operator: Callable[[Any, Sequence[Any], dict[str, Any]], Any]
    """Calls what stands for an operator beneath torch's functions (``toolkit.balls.aten``)."""

    @staticmethod
    def __new__(cls, balls: np.ndarray, nonnegative: bool = False) -> Balls:
        """Wrap an array of balls."""
        make: Any = torch.Tensor._make_wrapper_subclass
        tensor: Balls = make(cls, balls.shape, dtype=torch.float64)
        tensor.balls, tensor.nonnegative = balls, nonnegative
        return tensor

    def __init__(self, balls: np.ndarray, nonnegative: bool = False) -> None:
        super().__init__()

    @classmethod
    def of(cls, values: Any) -> Balls:
        """Return doubles, integers or fractions as balls of radius 0."""
        return cls(lift(values))

    @classmethod
    def __torch_dispatch__(  # type: ignore[override]
        cls, func: Any, types: Any, args: Sequence[Any] = (), kwargs: Any = None
    ) -> Any:
        """Call the version of an operator: balls have no storage that torch could read."""
        return cls.operator(func, args, kwargs or {})

    @property
    def middles(self) -> Tensor:
        """The midpoints as doubles: near the true values, and no more than that."""
        middles = np.array([float(x.mid()) for x in self.balls.flat]).reshape(self.balls.shape)
        return torch.from_numpy(middles)

    def __repr__(self, **_: Any) -> str:  # type: ignore[override]
        return f"Balls({np.vectorize(str, otypes=[object])(self.balls).tolist()})"

    def __round__(self, digits: int = 0) -> Any:
        raise RefusedError("round has no version for balls")


class Truths:
    """Answers to comparisons, some of which balls leave open: True, False or None each."""

    def __init__(self, answers: np.ndarray) -> None:
        self.answers = answers

    @classmethod
    def __torch_function__(
        cls, func: Any, types: Any, args: Sequence[Any] = (), kwargs: Any = None
    ) -> Any:
        """Call what stands for one of torch's functions."""
        return called(func.__name__, args, kwargs or {})

    def __and__(self, other: Any) -> Any:
        return called("__and__", (self, other), {})

    def __or__(self, other: Any) -> Any:
        return called("__or__", (self, other), {})

    def __invert__(self) -> Any:
        return answered(inverted(self.answers))

    __rand__, __ror__ = __and__, __or__

    def __getitem__(self, at: Any) -> Any:
        return answered(np.asarray(self.answers[at], dtype=object))

    def __bool__(self) -> bool:
        raise RefusedError("a comparison was left open: two balls overlap", open=True)


def _three_valued_and(one: Any, two: Any) -> Any:
    if one is False or two is False:
        return False
    return None if one is None or two is None else True


both = np.frompyfunc(_three_valued_and, 2, 1)
inverted = np.frompyfunc(lambda x: None if x is None else not x, 1, 1)


def answered(answers: Any) -> Any:
    """Return answers as torch has them, or, if some are open, as Truths."""
    entries = np.asarray(answers, dtype=object)
    if any(x is None for x in entries.flat):
        return Truths(entries)
    return torch.from_numpy(np.asarray(entries, dtype=bool).copy())


def truths(condition: Any) -> np.ndarray:
    """Return a condition as an array of True, False and None."""
    if isinstance(condition, Truths):
        return condition.answers
    array = condition.numpy() if isinstance(condition, Tensor) else np.asarray(condition)
    return array.astype(bool).astype(object)


def called(name: str, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """Call the version of a function for balls; of one in place, write the result where it goes."""
    spend(CALL)
    if name in HANDLERS:
        return HANDLERS[name](*args, **kwargs)
    plain = out_of_place(name)
    if plain not in HANDLERS:
        raise RefusedError(f"torch's {name} has no version for balls")
    into, result = args[0], HANDLERS[plain](*args, **kwargs)
    if not isinstance(into, Balls):
        raise RefusedError(f"torch's {name} of a tensor of doubles with balls")
    try:
        into.balls[...] = result.balls
    except ValueError as error:
        raise RefusedError(f"torch's {name} of an expanded tensor") from error
    into.nonnegative = False
    return into


handles = HANDLERS.handles
Balls.called = staticmethod(called)
Balls.refusal = staticmethod(lambda what: RefusedError(f"balls have no version of {what}"))


def ball(value: Any) -> arb:
    """Return a number as a ball, exactly where it is a double, an integer or a fraction."""
    if isinstance(value, Fraction):
        return arb(flint.fmpq(value.numerator, value.denominator))
    return value if isinstance(value, arb) else arb(value)


_balls = np.frompyfunc(ball, 1, 1)


def lift(x: Any) -> np.ndarray:
    """Return the entries of whatever a function of torch was given, as an array of balls."""
    if isinstance(x, Balls):
        return x.balls
    if isinstance(x, Tensor):  # forward mode begins with zeros that have no storage
        none = x.is_meta or x._is_zerotensor()
        x = np.zeros(tuple(x.shape)) if none else x.detach().cpu().numpy()
    array = np.asarray(x)
    array = array.astype(object) if array.dtype != object else array
    return np.asarray(_balls(array), dtype=object)


def wrapped(entries: Any, nonnegative: bool = False) -> Balls:
    """Return entries as Balls, and count the operations that they took."""
    array = np.asarray(entries, dtype=object)
    spend(array.size)
    return Balls(array, nonnegative)
