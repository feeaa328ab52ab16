"""The functions of torch that are linear in vectors, and the product of two vectors."""

import operator
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import torch

from driftproof.toolkit.carrier import arithmetic
from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.gram.exact import GramForm, Second, Vector
from driftproof.toolkit.gram.tensor import GramVector, Unknown, entries_of, of_entries, refused


def _is_open(*operands: Any) -> bool:
    return any(isinstance(x, Unknown) and x.open for x in operands)


def _is_zero(x: Any) -> bool:
    """Whether it is plain zeros, which may stand for vectors."""
    return not isinstance(x, Unknown) and not np.any(entries_of(x))


def _applied(of: Callable[..., Any], *operands: Any) -> Any:
    """Return what an operator gives of vectors and quantities, where it keeps them such."""
    if not any(isinstance(x, Unknown) for x in operands):
        return of(*operands)
    if of in (operator.add, operator.sub):
        for one, two in (operands, operands[::-1]):
            mixed = isinstance(one, GramVector) != isinstance(two, GramVector)
            if _is_open(one) and (mixed or not _is_open(two)) and not _is_zero(two):
                raise refused(
                    "the sum of a vector and of what is none: a number, or a product of coordinates"
                )
    if of is operator.truediv and _is_open(operands[1]):
        raise refused("a division by a vector")
    beside = _is_open(*operands)
    return of_entries(of(*(entries_of(x, beside_open=beside) for x in operands)), open=beside)


def _compared(of: Callable[[Any, Any], Any], a: Any, b: Any) -> Any:
    """Return the comparison of two exact numbers."""
    sides = [entries_of(x) for x in (a, b)]
    if not all(_is_number(entry) for side in sides for entry in side.flat):
        raise refused("a comparison of unknown quantities")
    one, two = (np.vectorize(_number, otypes=[object])(side) for side in sides)
    try:
        return torch.from_numpy(np.asarray(of(one, two), dtype=bool))
    except DriftproofError as error:
        raise refused(error.got) from error


def _is_number(entry: Any) -> bool:
    return not isinstance(entry, Vector) and (not isinstance(entry, GramForm) or entry.is_number)


def _number(entry: Any) -> Any:
    return entry.as_number if isinstance(entry, GramForm) else entry


Unknown.table = arithmetic(_applied, _compared)
handles = Unknown.table.handles
_add, _sub, _mul, _div = (
    partial(_applied, of) for of in (operator.add, operator.sub, operator.mul, operator.truediv)
)


@handles("reciprocal")
def _reciprocal(a: Any) -> Any:
    return _div(1, a)


@handles("pow", "__pow__")
def _pow(a: Any, exponent: Any) -> Any:
    if not isinstance(exponent, int) or exponent < 0:
        raise refused(f"a power of {exponent}")
    if exponent == 0:
        return of_entries(np.full(a.entries.shape, Fraction(1), dtype=object), open=False)
    power = a
    for _ in range(exponent - 1):
        power = _mul(power, a)
    return power


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
    if over_dimension and isinstance(a, GramVector):
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


@handles("contiguous")
def _contiguous(a: Any, **_: Any) -> Any:
    return a


@handles("zeros_like")
def _zeros_like(a: Any, **_: Any) -> Any:
    return _mul(a, 0)


@handles("cat", "concat", "concatenate")
def _cat(parts: Sequence[Any], dim: int = 0) -> Any:
    one = parts[0]
    if one.open and dim % one.ndim == one.ndim - 2:
        if len(parts) != 2 or True in _spaces(parts[0]) or False in _spaces(parts[1]):
            raise refused("vectors joined into one, which are not an x and a y")
        return _add(*parts)
    return Unknown.moved(torch.cat, (parts, dim), {})


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
