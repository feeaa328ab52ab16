"""Operations on balls entry by entry: arithmetic, functions, comparisons, choices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from flint import arb

from driftproof.toolkit.balls.tensor import (
    Balls,
    RefusedError,
    Truths,
    answered,
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


@handles("add", "__radd__")
def _add(a: Any, b: Any, *, alpha: Any = 1) -> Balls:
    return wrapped(lift(a) + _scaled(b, alpha))


@handles("sub", "subtract")
def _sub(a: Any, b: Any, *, alpha: Any = 1) -> Balls:
    return wrapped(lift(a) - _scaled(b, alpha))


@handles("__rsub__", "rsub")
def _rsub(a: Any, b: Any) -> Balls:
    return _sub(b, a)


def _scaled(b: Any, alpha: Any) -> np.ndarray:
    return lift(b) if type(alpha) is int and alpha == 1 else lift(b) * lift(alpha)


@handles("mul", "multiply", "__rmul__")
def _mul(a: Any, b: Any) -> Balls:
    return wrapped(lift(a) * lift(b))


@handles("div", "true_divide", "__truediv__")
def _div(a: Any, b: Any) -> Balls:
    return wrapped(lift(a) / lift(b))


@handles("__rdiv__", "__rtruediv__")
def _rdiv(a: Any, b: Any) -> Balls:
    return _div(b, a)


@handles("addcmul")
def _addcmul(a: Any, b: Any, c: Any, *, value: Any = 1) -> Balls:
    return _add(a, _mul(b, c), alpha=value)


@handles("neg", "negative")
def _neg(a: Any) -> Balls:
    return wrapped(-lift(a))


@handles("abs", "absolute", "__abs__")
def _abs(a: Any) -> Balls:
    return wrapped(_absolute(lift(a)), True)


_absolute = np.frompyfunc(abs, 1, 1)


@handles("pow")
def _pow(a: Any, b: Any) -> Balls:
    return wrapped(_power(lift(a), lift(b)))


@handles("__rpow__")
def _rpow(a: Any, b: Any) -> Balls:
    return _pow(b, a)


@handles("square")
def _square(a: Any) -> Balls:
    return _mul(a, a)


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


def root(x: arb) -> arb:
    """Return the square root of what a ball has at or above 0 (nan if it has nothing there)."""
    rooted: arb = arb.nan() if x < 0 else x.nonnegative_part().sqrt()
    return rooted


_root = np.frompyfunc(root, 1, 1)


@handles("sqrt")
def square_root(a: Any) -> Balls:
    """Return square roots, which are 0 or more even where their balls reach below."""
    return wrapped(_root(lift(a)), True)


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
    handles(name)(lambda a: wrapped(each(lift(a))))


for _name in ("exp", "expm1", "log", "log1p", "sin", "cos", "tanh", "sinh", "cosh", "atan", "erf"):
    _function(_name, getattr(arb, _name))
_function("sigmoid", lambda x: 1 / (1 + (-x).exp()))
_function("softplus", lambda x: x.exp().log1p())


def _largest(a: Any, b: Any) -> Any:
    return a.max(b)


def _smallest(a: Any, b: Any) -> Any:
    return a.capped(b) if isinstance(a, HalfLine) else a.min(b)


larger, smaller = np.frompyfunc(_largest, 2, 1), np.frompyfunc(_smallest, 2, 1)


@handles("maximum")
def _maximum(a: Any, b: Any) -> Balls:
    return wrapped(larger(lift(a), lift(b)))


@handles("minimum")
def _minimum(a: Any, b: Any) -> Balls:
    return wrapped(smaller(lift(a), lift(b)))


@handles("clamp", "clip")
def _clamp(a: Any, min: Any = None, max: Any = None) -> Balls:
    clamped = lift(a)
    clamped = clamped if min is None else larger(clamped, lift(min))
    return wrapped(clamped if max is None else smaller(clamped, lift(max)))


def _comparison(names: tuple[str, ...], holds: Callable[[arb, arb], bool], fails: Any) -> None:
    def answer(a: arb, b: arb) -> bool | None:
        return True if holds(a, b) else (False if fails(a, b) else None)

    each = np.frompyfunc(answer, 2, 1)
    handles(*names)(lambda a, b: answered(each(lift(a), lift(b))))


_comparison(("lt", "__lt__", "less"), lambda a, b: a < b, lambda a, b: a >= b)
_comparison(("le", "__le__", "less_equal"), lambda a, b: a <= b, lambda a, b: a > b)
_comparison(("gt", "__gt__", "greater"), lambda a, b: a > b, lambda a, b: a <= b)
_comparison(("ge", "__ge__", "greater_equal"), lambda a, b: a >= b, lambda a, b: a < b)
_comparison(("eq", "__eq__"), lambda a, b: a == b, lambda a, b: not a.overlaps(b))
_comparison(("ne", "__ne__"), lambda a, b: not a.overlaps(b), lambda a, b: a == b)


@handles("__and__", "bitwise_and", "logical_and")
def _and(a: Any, b: Any) -> Any:
    return answered(both(truths(a), truths(b)))


@handles("__or__", "bitwise_or", "logical_or")
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


@handles("xlogy", "special_xlogy")
def _xlogy(a: Any, b: Any) -> Balls:
    product = np.frompyfunc(lambda x, y: arb(0) if x == 0 else x * y.log(), 2, 1)
    return wrapped(product(lift(a), lift(b)))


@handles("__bool__")
def _bool(a: Balls) -> bool:
    (x,) = a.balls.flat
    if x == 0 or not x.contains(0):
        return not bool(x == 0)
    raise RefusedError("whether a ball is 0 was left open", open=True)


@handles("isfinite")
def _isfinite(a: Balls) -> Any:
    return answered(np.frompyfunc(lambda x: bool(x.is_finite()), 1, 1)(a.balls))


def finite(entries: np.ndarray) -> bool:
    """Say whether every ball is bounded."""
    return all(isinstance(x, arb) and x.is_finite() for x in entries.flat)


def hull(low: Any, high: Any) -> arb:
    """Return a ball that contains two numbers and all between them."""
    interval: arb = ball(low).union(ball(high))
    return interval


__all__ = ["HalfLine", "Truths", "finite", "hull", "power", "root", "square_root"]
