"""Operations on balls entry by entry: arithmetic, functions, comparisons, choices."""

from collections.abc import Callable
from typing import Any

import numpy as np
from flint import arb

from driftproof.toolkit.balls.tensor import (
    Balls,
    RefusedError,
    Truths,
    answered,
    applied,
    ball,
    both,
    handles,
    inverted,
    lift,
    truths,
    wrapped,
)


class HalfLine:
    """[low, ∞), what the reciprocal of a number in [0, 1/low] is; it can be scaled and capped."""

    def __init__(self, low: arb) -> None:
        self.low = low

    def __mul__(self, factor: Any) -> Any:
        return HalfLine(self.low * factor) if factor > 0 else self._refuse()

    __rmul__ = __mul__

    def capped(self, most: arb) -> arb:
        """Return the smaller of it and a number."""
        capped: arb = most if self.low >= most else self.low.min(most).union(most)
        return capped

    def _refuse(self, *_: Any) -> Any:
        raise RefusedError(
            "the reciprocal of a number that may be 0, neither scaled nor capped", open=True
        )

    __add__ = __radd__ = __sub__ = __rsub__ = __neg__ = __truediv__ = __rtruediv__ = _refuse
    __pow__ = __lt__ = __le__ = __gt__ = __ge__ = _refuse

    def __getattr__(self, name: str) -> Any:
        return self._refuse()


@handles("abs", "absolute", "__abs__")
def _abs(a: Any) -> Balls:
    return wrapped(_absolute(lift(a)), True)


_absolute = np.frompyfunc(abs, 1, 1)


def power(base: arb, exponent: arb) -> arb:
    """Return base**exponent; of an integer exponent by products, as of a negative base."""
    whole = exponent.unique_fmpz() if exponent.is_exact() else None
    if whole is not None and base.contains(0):
        return _product(base, int(whole))  # flint's own power is nan there
    half = whole is None and exponent.is_exact() and exponent == arb(0.5)
    raised: arb = root(base) if half else base ** (exponent if whole is None else int(whole))
    return raised


def _product(base: arb, times: int) -> arb:
    """Return a product of equal factors around 0; of an even number of them it is not below 0."""
    if times < 0:
        return 1 / _product(base, -times)
    raised = arb(1)
    for bit in f"{times:b}":
        raised = raised * raised * (base if bit == "1" else 1)
    return raised if times % 2 else raised.nonnegative_part()


_power = np.frompyfunc(power, 2, 1)
handles("pow")(lambda a, b: applied(_power, a, b))
handles("__rpow__")(lambda a, b: applied(_power, b, a))


def root(x: arb) -> arb:
    """Return the square root of what a ball has at or above 0 (nan if it has nothing there)."""
    rooted: arb = arb.nan() if x < 0 else x.nonnegative_part().sqrt()
    return rooted


_root = np.frompyfunc(root, 1, 1)


@handles("sqrt")
def square_root(a: Any) -> Balls:
    """Return square roots, which are 0 or more even where their balls reach below."""
    return wrapped(_root(lift(a)), True)


_one_over_root = np.frompyfunc(lambda x: 1 / root(x), 1, 1)
handles("rsqrt")(lambda a: wrapped(_one_over_root(lift(a)), True))


@handles("reciprocal")
def _reciprocal(a: Any) -> Balls:
    known = isinstance(a, Balls) and a.nonnegative

    def one_over(x: arb) -> Any:
        if known and x.contains(0):
            top = x.upper()
            return HalfLine(1 / top if top > 0 else arb.pos_inf())
        return 1 / x

    return wrapped(np.frompyfunc(one_over, 1, 1)(lift(a)))


def _function(name: str, of: Callable[[arb], arb]) -> None:
    each = np.frompyfunc(of, 1, 1)
    handles(name)(lambda a: applied(each, a))


for _name in ("exp", "expm1", "log", "log1p", "sin", "cos", "tanh", "sinh", "cosh", "atan", "erf"):
    _function(_name, getattr(arb, _name))
_function("sigmoid", lambda x: 1 / (1 + (-x).exp()))
_function("softplus", lambda x: x.exp().log1p())


def _largest(a: Any, b: Any) -> Any:
    return a.max(b)


def _smallest(a: Any, b: Any) -> Any:
    return a.capped(b) if isinstance(a, HalfLine) else a.min(b)


larger, smaller = np.frompyfunc(_largest, 2, 1), np.frompyfunc(_smallest, 2, 1)
handles("maximum")(lambda a, b: applied(larger, a, b))
handles("minimum")(lambda a, b: applied(smaller, a, b))


@handles("clamp", "clip")
def _clamp(a: Any, min: Any = None, max: Any = None) -> Balls:
    clamped = lift(a)
    clamped = clamped if min is None else larger(clamped, lift(min))
    return wrapped(clamped if max is None else smaller(clamped, lift(max)))


@handles("__and__", "__rand__", "bitwise_and", "logical_and")
def _and(a: Any, b: Any) -> Any:
    return answered(both(truths(a), truths(b)))


@handles("__or__", "__ror__", "bitwise_or", "logical_or")
def _or(a: Any, b: Any) -> Any:
    return answered(inverted(both(inverted(truths(a)), inverted(truths(b)))))


@handles("where")
def _where(condition: Any, a: Any, b: Any) -> Balls:
    return wrapped(choose(truths(condition), lift(a), lift(b)))


def _one_of(answer: bool | None, a: arb, b: arb) -> arb:
    """Return the one or the other; where it is open which, a ball that contains both."""
    chosen: arb = a.union(b) if answer is None else (a if answer else b)
    return chosen


choose = np.frompyfunc(_one_of, 3, 1)
handles("masked_fill")(lambda a, mask, value: _where(mask, value, a))


def _sign(x: arb) -> arb:
    """Return the sign; where it is open, [−1, 1] or a half of it."""
    if x > 0 or x < 0 or x == 0:
        return arb(bool(x > 0) - bool(x < 0))
    low, high = arb(-1 if x.lower() < 0 else 0), arb(1 if x.upper() > 0 else 0)
    signed: arb = low.union(high)
    return signed


_function("sign", _sign)


_log_of = np.frompyfunc(lambda x, y: arb(0) if x == 0 else x * y.log(), 2, 1)
handles("xlogy", "special_xlogy")(lambda a, b: applied(_log_of, a, b))


@handles("__bool__")
def _bool(a: Balls) -> bool:
    (x,) = a.entries.flat
    if x == 0 or not x.contains(0):
        return not bool(x == 0)
    raise RefusedError("whether a ball is 0 was left open", open=True)


@handles("isfinite")
def _isfinite(a: Balls) -> Any:
    return answered(np.frompyfunc(lambda x: bool(x.is_finite()), 1, 1)(a.entries))


def finite(entries: np.ndarray) -> bool:
    """Say whether every ball is bounded."""
    return all(isinstance(x, arb) and x.is_finite() for x in entries.flat)


def hull(low: Any, high: Any) -> arb:
    """Return a ball that contains two numbers and all between them."""
    interval: arb = ball(low).union(ball(high))
    return interval


__all__ = ["HalfLine", "Truths", "finite", "hull", "power", "root", "square_root"]
