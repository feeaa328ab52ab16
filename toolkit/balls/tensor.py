"""Balls: a tensor of real balls (midpoint and radius, of Arb), which torch's functions accept.

An algorithm's, a problem's or a measure's text runs on it unchanged: torch hands each of its
functions to ``Balls.__torch_function__``, and the table of ``toolkit.balls.operations`` has a
rigorous version of those in use. A function without one is refused by name, so nothing is computed
in doubles behind one's back.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from functools import partial
from types import SimpleNamespace
from typing import Any

import flint
import numpy as np
import torch
from flint import arb
from torch import Tensor

from driftproof.toolkit.carrier import MOVES, Carrier, arithmetic, out_of_place

BITS = 200
"""Bits of a midpoint, where nobody says otherwise."""

NAMES = {"detach": "alias", "lift_fresh": "alias", "sgn": "sign"}
"""An operator beneath torch's functions → the function that does the same to real numbers."""
ALIKE = ("_has_compatible_shallow_copy_type", "_has_same_storage_numel", "is_same_size")
"""What torch asks of two tensors: balls are all of one kind."""

CALL = 50
"""What calling a function takes, in operations on single balls."""


class RefusedError(Exception):
    """What balls cannot do: a function without a version of its own, or a comparison left open.

    Attributes:
        open: whether narrower balls might do.
    """

    def __init__(self, reason: str, *, open: bool = False) -> None:
        super().__init__(reason)
        self.open = open


_budget = SimpleNamespace(left=float("inf"))
"""How many operations on single balls may still be made; the same on every machine."""


def spend(count: int) -> None:
    """Count operations on single balls; refuse those beyond the budget of ``precision``."""
    _budget.left -= count
    if _budget.left < 0:
        raise RefusedError(
            "the run takes more operations on balls than are allowed: fewer rounds, clients or "
            "coordinates would do"
        )


@contextmanager
def precision(bits: int = BITS, operations: float = float("inf")) -> Iterator[None]:
    """Compute with midpoints of so many bits, and at most so many operations."""
    before, left = flint.ctx.prec, _budget.left
    flint.ctx.prec, _budget.left = bits, operations
    try:
        yield
    finally:
        flint.ctx.prec, _budget.left = before, left


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
        return condition.entries
    array = condition.numpy() if isinstance(condition, Tensor) else np.asarray(condition)
    return array.astype(bool).astype(object)


def ball(value: Any) -> arb:
    """Return a number as a ball, exactly where it is a double, an integer or a fraction."""
    if isinstance(value, Fraction):
        return arb(flint.fmpq(value.numerator, value.denominator))
    return value if isinstance(value, arb) else arb(value)


def fraction(exact: arb) -> Fraction:
    """Return a ball of radius 0 as the fraction that it is."""
    mantissa, exponent = (int(part) for part in exact.man_exp())
    return Fraction(mantissa) * Fraction(2) ** exponent


_balls = np.frompyfunc(ball, 1, 1)


def lift(x: Any) -> np.ndarray:
    """Return the entries of whatever a function of torch was given, as an array of balls."""
    if isinstance(x, Balls):
        return x.entries
    if isinstance(x, Truths):
        raise RefusedError("a comparison was left open, and computed with", open=True)
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


def applied(of: Callable[..., Any], *operands: Any) -> Balls:
    """Return what an operator gives of balls."""
    return wrapped(of(*map(lift, operands)))


def _apart(a: arb, b: arb) -> bool:
    return not a.overlaps(b)


_OPPOSITE = {
    operator.lt: operator.ge,
    operator.le: operator.gt,
    operator.gt: operator.le,
    operator.ge: operator.lt,
    operator.eq: _apart,
    _apart: operator.eq,
}


def decided(of: Callable[[Any, Any], Any], a: arb, b: arb) -> bool | None:
    """Return the answer to a comparison; None where two balls leave it open."""
    of = _apart if of is operator.ne else of
    return True if of(a, b) else (False if _OPPOSITE[of](a, b) else None)


def _compared(of: Callable[[Any, Any], Any], a: Any, b: Any) -> Any:
    return answered(np.frompyfunc(partial(decided, of), 2, 1)(lift(a), lift(b)))


HANDLERS = arithmetic(applied, _compared)
handles = HANDLERS.handles


class _Enclosing(Carrier):
    """What balls and open answers share: the table, and its refusals."""

    table = HANDLERS

    @classmethod
    def refusal(cls, what: str) -> Exception:
        """Return the error for what has no version."""
        return RefusedError(f"{what} has no version for balls")

    @classmethod
    def joined(cls, given: Sequence[Any]) -> tuple[Carrier, list[np.ndarray]]:
        """Return the balls of several operands; what they make may be negative."""
        return Balls(np.empty(0, object)), [lift(x) for x in given]

    @classmethod
    def called(cls, name: str, func: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        """Call the version of a function, and count the call."""
        spend(CALL)
        return super().called(name, func, args, kwargs)

    @classmethod
    def __torch_dispatch__(  # type: ignore[override]
        cls, func: Any, types: Any, args: Sequence[Any] = (), kwargs: Any = None
    ) -> Any:
        """Call the version of an operator of ``torch.func``, or torch's decomposition of it."""
        name = func._schema.name.partition("::")[2]
        name, plain, named = NAMES.get(name, name), out_of_place(name), kwargs or {}
        if name in ALIKE:
            return True
        if plain in MOVES and plain != name:  # of a product that torch has just made
            made = cls.moved(getattr(torch, plain), args, named)
            with torch._C.DisableTorchFunctionSubclass():
                args[0].data = made
            args[0].__dict__.update(made.__dict__)
            return args[0]
        if not {name, plain} & (HANDLERS.keys() | MOVES.keys()):
            from torch._decomp import decomposition_table

            if func in decomposition_table:
                return decomposition_table[func](*args, **named)
        return cls.called(name, func, args, named)


class Balls(_Enclosing):
    """A tensor of balls; the entries are of ``flint.arb``."""

    @staticmethod
    def __new__(cls, balls: np.ndarray, nonnegative: bool = False) -> Balls:
        """Wrap an array of balls."""
        made: Balls = cls.carrying(balls, nonnegative=nonnegative)
        return made

    @classmethod
    def of(cls, values: Any) -> Balls:
        """Return doubles, integers or fractions as balls of radius 0."""
        return cls(lift(values))

    def made(self, entries: np.ndarray) -> Balls:
        """Return other balls, which are 0 or more where these are."""
        return Balls(entries, self.nonnegative)

    @property
    def middles(self) -> Tensor:
        """The midpoints as doubles: near the true values, and no more than that."""
        middles = np.array([float(x.mid()) for x in self.entries.flat]).reshape(self.shape)
        return torch.from_numpy(middles)

    def __round__(self, digits: int = 0) -> Any:
        raise self.refusal("round")


class Truths(_Enclosing):
    """Answers to comparisons, some of which balls leave open: True, False or None each."""

    holds = torch.bool

    @staticmethod
    def __new__(cls, answers: np.ndarray) -> Truths:
        """Wrap an array of answers."""
        made: Truths = cls.carrying(answers)
        return made

    made = staticmethod(answered)

    def viewed(self, places: Tensor) -> Any:
        """Return some of the answers."""
        return answered(self.pool.reshape(-1)[places.numpy()])

    def __invert__(self) -> Any:
        return answered(inverted(self.entries))

    def __bool__(self) -> bool:
        raise RefusedError("a comparison was left open: two balls overlap", open=True)
