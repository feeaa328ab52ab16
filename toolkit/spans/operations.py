"""The functions of torch that are linear in vectors, and the product of two vectors."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import torch
from torch import Tensor

from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.spans.exact import Quantity, Second, Vector
from driftproof.toolkit.spans.tensor import (
    SIZES,
    Quantities,
    Span,
    Unknown,
    called,
    entries_of,
    handles,
    of_entries,
    refused,
)


def _is_open(*operands: Any) -> bool:
    return any(isinstance(x, Unknown) and x.open for x in operands)


def _is_zero(x: Any) -> bool:
    """Whether it is plain zeros, which may stand for vectors."""
    return not isinstance(x, Unknown) and not np.any(entries_of(x))


def _sum_of(a: Any, b: Any, sign: int) -> Any:
    for one, two in ((a, b), (b, a)):
        mixed = isinstance(one, Span) != isinstance(two, Span)
        if (
            isinstance(one, Unknown)
            and one.open
            and (mixed or not _is_open(two))
            and not (_is_zero(two))
        ):
            raise refused(
                "the sum of a vector and of what is none: a number, or a product of coordinates"
            )
    beside = _is_open(a, b)
    left, right = (entries_of(x, beside_open=beside) for x in (a, b))
    return of_entries(left + sign * right, open=beside)


@handles("add", "__radd__")
def _add(a: Any, b: Any, *, alpha: Any = 1) -> Any:
    return _sum_of(a, b if _is_one(alpha) else _mul(b, alpha), 1)


@handles("sub", "subtract")
def _sub(a: Any, b: Any, *, alpha: Any = 1) -> Any:
    return _sum_of(a, b if _is_one(alpha) else _mul(b, alpha), -1)


def _is_one(alpha: Any) -> bool:
    return type(alpha) is int and alpha == 1


@handles("__rsub__", "rsub")
def _rsub(a: Any, b: Any) -> Any:
    return _sum_of(b, a, -1)


@handles("mul", "multiply", "__rmul__")
def _mul(a: Any, b: Any) -> Any:
    beside = _is_open(a, b)
    if not isinstance(a, Unknown) and not isinstance(b, Unknown):
        return a * b
    left, right = (entries_of(x, beside_open=beside) for x in (a, b))
    return of_entries(left * right, open=beside)


@handles("div", "true_divide", "__truediv__")
def _div(a: Any, b: Any) -> Any:
    if isinstance(b, Unknown) and b.open:
        raise refused("a division by a vector")
    beside = _is_open(a)
    return of_entries(entries_of(a) / entries_of(b, beside_open=beside), open=beside)


@handles("__rdiv__", "__rtruediv__")
def _rdiv(a: Any, b: Any) -> Any:
    return _div(b, a)


@handles("reciprocal")
def _reciprocal(a: Any) -> Any:
    return _div(1, a)


@handles("neg", "negative")
def _neg(a: Any) -> Any:
    return of_entries(-entries_of(a), open=_is_open(a))


@handles("pow", "__pow__")
def _pow(a: Any, exponent: Any) -> Any:
    if not isinstance(exponent, int) or exponent < 0:
        raise refused(f"a power of {exponent}")
    power = of_entries(np.full(a.entries.shape, Fraction(1), dtype=object), open=False)
    if exponent == 0:
        return power
    power = a
    for _ in range(exponent - 1):
        power = _mul(power, a)
    return power


@handles("square")
def _square(a: Any) -> Any:
    return _mul(a, a)


@handles("addcmul")
def _addcmul(a: Any, b: Any, c: Any, *, value: Any = 1) -> Any:
    return _add(a, _mul(b, c), alpha=value)


@handles("lerp")
def _lerp(a: Any, b: Any, weight: Any) -> Any:
    return _add(a, _mul(weight, _sub(b, a)))


def _axes(a: Unknown, dim: Any) -> tuple[int, ...]:
    if dim is None:
        return tuple(range(a.ndim))
    return tuple(d % a.ndim for d in (dim if isinstance(dim, tuple | list) else (dim,)))


@handles("sum")
def _sum(a: Any, dim: Any = None, keepdim: bool = False, **_: Any) -> Any:
    axes = _axes(a, dim)
    over_dimension = a.open and a.ndim - 2 in axes
    if a.open and a.ndim - 1 in axes and a.shape[-1] > 1:
        raise refused("a sum over the outcomes of sampling")
    if over_dimension and isinstance(a, Span):
        raise refused("the sum of a vector's coordinates")
    if over_dimension and keepdim:
        raise refused("an inner product that keeps the dimension's axis")
    total = np.asarray(a.entries.sum(axis=axes, keepdims=keepdim), dtype=object)
    return of_entries(total, open=a.open and not over_dimension)


@handles("mean")
def _mean(a: Any, dim: Any = None, keepdim: bool = False, **_: Any) -> Any:
    axes = _axes(a, dim)
    if a.open and a.ndim - 2 in axes:
        raise refused("a mean over the coordinates")
    count = int(np.prod([a.shape[axis] for axis in axes], dtype=int))
    return _div(_sum(a, axes, keepdim), count)


def _same(a: Any, entries: np.ndarray) -> Any:
    """Return entries of which the dimension's axis is where it was."""
    return of_entries(entries, open=a.open)


@handles("clone")
def _clone(a: Any, **_: Any) -> Any:
    return _same(a, a.entries.copy())


@handles("contiguous", "detach", "to", "double", "cpu", "type_as")
def _itself(a: Any, *_: Any, **__: Any) -> Any:
    """Return what torch returns: a tensor of the same numbers in the same place."""
    return _same(a, a.entries)


@handles("zeros_like")
def _zeros_like(a: Any, **_: Any) -> Any:
    zero = Vector() if isinstance(a, Span) else Quantity()
    entries = np.empty(a.entries.shape, dtype=object)
    entries.fill(zero)
    return _same(a, entries)


@handles("__getitem__")
def _getitem(a: Any, at: Any) -> Any:
    parts = at if isinstance(at, tuple) else (at,)
    parts = tuple(part.numpy() if isinstance(part, Tensor) else part for part in parts)
    if not a.open:
        return _same(a, np.asarray(a.entries[parts], dtype=object))
    used = sum(part is not None and part is not Ellipsis for part in parts)
    if Ellipsis not in [p for p in parts if not isinstance(p, np.ndarray)]:
        parts = (*parts, *[slice(None)] * (a.ndim - used))
    dimension = _part_of_dimension(parts, a.ndim)
    kept = range(SIZES["dimension"])[dimension] if isinstance(dimension, slice) else None
    if kept is not None and len(kept) == 0:  # of a bilevel problem, the level that is held
        return torch.empty(a.shape, dtype=torch.float64)[at]
    if kept != range(SIZES["dimension"]):
        raise refused("one coordinate of a vector")
    return _same(a, np.asarray(a.entries[parts], dtype=object))


def _part_of_dimension(parts: tuple[Any, ...], ndim: int) -> Any:
    """Return the index of the last axis but one; what stands after it keeps its place."""
    after = list(parts)
    if after[-1] is Ellipsis:
        return slice(None)
    last = after.pop()
    if last is None or isinstance(last, int):
        raise refused("an index that moves the replicates")
    if not after or after[-1] is Ellipsis:
        return slice(None)
    return after[-1]


@handles("expand", "broadcast_to")
def _expand(a: Any, *sizes: Any) -> Any:
    listed = sizes[0] if len(sizes) == 1 and not isinstance(sizes[0], int) else sizes
    wanted = [int(size) for size in listed]
    if a.open:
        if wanted[-2] not in (-1, SIZES["dimension"]):
            raise refused("an expansion of the dimension")
        wanted[-2] = 1
    kept = (1,) * (len(wanted) - a.ndim) + a.entries.shape
    full = [old if new == -1 else new for old, new in zip(kept, wanted, strict=True)]
    return _same(a, np.broadcast_to(a.entries, full))


@handles("expand_as")
def _expand_as(a: Any, other: Any) -> Any:
    return _expand(a, *other.shape)


@handles("unsqueeze")
def _unsqueeze(a: Any, dim: int) -> Any:
    at = dim % (a.ndim + 1)
    if a.open and at > a.ndim - 2:
        raise refused("a shape that moves the dimension")
    return _same(a, np.expand_dims(a.entries, at))


@handles("squeeze")
def _squeeze(a: Any, dim: int) -> Any:
    at = dim % a.ndim
    if a.open and at >= a.ndim - 2:
        raise refused("a shape that moves the dimension")
    return _same(a, a.entries.squeeze(at) if a.entries.shape[at] == 1 else a.entries)


def _joined(parts: Sequence[Any], join: Any, dim: int) -> Any:
    first = next(part for part in parts if isinstance(part, Unknown))
    if not all(isinstance(part, type(first)) and part.open == first.open for part in parts):
        raise refused("vectors and what is none beside each other")
    return _same(first, join([part.entries for part in parts], axis=dim))


@handles("stack")
def _stack(parts: Sequence[Any], dim: int = 0) -> Any:
    one = parts[0]
    if one.open and dim % (one.ndim + 1) > one.ndim - 2:
        raise refused("a shape that moves the dimension")
    return _joined(parts, np.stack, dim)


@handles("cat", "concat", "concatenate")
def _cat(parts: Sequence[Any], dim: int = 0) -> Any:
    one = parts[0]
    if one.open and dim % one.ndim == one.ndim - 2:
        if len(parts) != 2 or True in _spaces(parts[0]) or False in _spaces(parts[1]):
            raise refused("vectors joined into one, which are not an x and a y")
        return _add(*parts)
    return _joined(parts, np.concatenate, dim)


def _spaces(a: Any) -> set[bool]:
    """Return of which spaces the vectors of a span are: of x, of y (True), or both."""
    of = (entry for entry in entries_of(a).flat if isinstance(entry, Vector))
    return {isinstance(number, Second) for entry in of for number in entry.coefficients}


@handles("where")
def _where(condition: Any, a: Any, b: Any) -> Any:
    if isinstance(condition, Unknown):
        raise refused("a choice by an unknown quantity")
    mask = condition.to(torch.float64)
    return _add(_mul(mask, a), _mul(1 - mask, b))


def _compared(name: str) -> Any:
    """Return the comparison of two exact numbers."""

    def compare(a: Any, b: Any) -> Any:
        sides = [entries_of(x) for x in (a, b)]
        if not all(_is_number(entry) for side in sides for entry in side.flat):
            raise refused("a comparison of unknown quantities")
        one, two = (np.vectorize(_number, otypes=[object])(side) for side in sides)
        try:
            return torch.from_numpy(np.asarray(getattr(np, name)(one, two), dtype=bool))
        except DriftproofError as error:
            raise refused(error.got) from error

    return compare


def _is_number(entry: Any) -> bool:
    return not isinstance(entry, Vector) and (not isinstance(entry, Quantity) or entry.is_number)


def _number(entry: Any) -> Any:
    return entry.as_number if isinstance(entry, Quantity) else entry


for _names, _ufunc in {
    ("lt", "__lt__", "less"): "less", ("le", "__le__", "less_equal"): "less_equal",
    ("gt", "__gt__", "greater"): "greater", ("ge", "__ge__", "greater_equal"): "greater_equal",
    ("eq", "__eq__"): "equal", ("ne", "__ne__"): "not_equal",
}.items():  # fmt: skip
    handles(*_names)(_compared(_ufunc))


__all__ = ["Quantities", "called"]
