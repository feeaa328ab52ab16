"""What torch's transformations emit: ``torch.func`` calls the operators beneath torch's functions.

Where a function is differentiated or mapped over samples, balls meet operators such as
``aten.sigmoid_backward``. Many have the name of a function of the table. The others are made of
such ones by torch's own decompositions; a few more stand here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from flint import arb

from driftproof.toolkit.balls.operations import choose, root
from driftproof.toolkit.balls.shapes import same_sign
from driftproof.toolkit.balls.tensor import (
    HANDLERS,
    Balls,
    called,
    handles,
    lift,
    truths,
    wrapped,
)
from driftproof.toolkit.stand_in import out_of_place

NAMES = {
    "_unsafe_view": "reshape", "detach": "alias", "lift_fresh": "alias",
    "conj_physical": "alias", "sgn": "sign",
}  # fmt: skip
"""An operator → the function that does the same to real numbers."""
ALIKE = ("_has_compatible_shallow_copy_type", "_has_same_storage_numel", "is_same_size")
"""What torch asks of two tensors: balls are all of one kind."""


def dispatched(func: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """Call the version of an operator, or torch's decomposition of it."""
    name = func._schema.name.partition("::")[2]
    name = NAMES.get(name, name)
    if name in ALIKE:
        return True
    if name == "squeeze_":  # of a product that torch has just made
        return _reshaped(args[0], called("squeeze", args, kwargs))
    if name not in HANDLERS and out_of_place(name) not in HANDLERS:
        from torch._decomp import decomposition_table

        if func in decomposition_table:
            return decomposition_table[func](*args, **kwargs)
    return called(name, args, kwargs)


Balls.operator = staticmethod(dispatched)


def _reshaped(into: Balls, like: Balls) -> Balls:
    """Give a tensor another shape in place."""
    with torch._C.DisableTorchFunctionSubclass():
        into.data = like
    into.balls = like.balls
    return into


@handles("_to_copy")
def _to_copy(a: Any, *, device: Any = None, **_: Any) -> Any:
    """Return a copy; on the device "meta" torch asks for its shape alone."""
    if device is not None and torch.device(device).type == "meta":
        return torch.empty(tuple(a.shape), dtype=torch.float64, device="meta")
    return same_sign(a, lift(a).copy())


@handles("alias", "conj_physical")
def _alias(a: Any) -> Balls:
    return same_sign(a, lift(a))


@handles("_new_zeros_with_same_feature_meta")
def _zeros_as(a: Any, other: Any, **_: Any) -> Balls:
    zero = np.empty(tuple(other.shape), dtype=object)
    zero.fill(arb(0))
    return Balls(zero)


@handles("select")
def _select(a: Any, dim: int, index: int) -> Balls:
    return same_sign(a, np.asarray(np.moveaxis(lift(a), dim, 0)[index], dtype=object))


@handles("slice")
def _slice(
    a: Any, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1
) -> Balls:
    entries = lift(a)
    at = (slice(None),) * (dim % entries.ndim)
    return same_sign(a, entries[(*at, slice(start, end, step))])


@handles("index_select")
def _index_select(a: Any, dim: int, index: Any) -> Balls:
    return same_sign(a, np.take(lift(a), index.numpy(), dim))


@handles("flip")
def _flip(a: Any, dims: Any) -> Balls:
    return same_sign(a, np.flip(lift(a), tuple(dims) if isinstance(dims, list) else dims))


@handles("diagonal")
def _diagonal(a: Any, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Balls:
    return same_sign(a, lift(a).diagonal(offset, dim1, dim2))


@handles("copy")
def _copy(a: Any, source: Any, *_: Any) -> Balls:
    return Balls(np.broadcast_to(lift(source), tuple(a.shape)).copy())


@handles("prod")
def _prod(a: Any, dim: Any = None, keepdim: bool = False, **_: Any) -> Balls:
    multiply: Any = np.multiply
    axes = tuple(dim) if isinstance(dim, list) else dim
    return wrapped(multiply.reduce(lift(a), axes, keepdims=keepdim))


@handles("cumsum")
def _cumsum(a: Any, dim: int, **_: Any) -> Balls:
    return wrapped(np.add.accumulate(lift(a), dim))


def _scattered(a: Any, at: tuple[Any, ...], value: Any) -> Balls:
    made = lift(a).copy()
    made[at] = lift(value)
    return Balls(made)


@handles("select_scatter")
def _select_scatter(a: Any, source: Any, dim: int, index: int) -> Balls:
    return _scattered(a, (*(slice(None),) * (dim % a.dim()), index), source)


@handles("slice_scatter")
def _slice_scatter(
    a: Any, source: Any, dim: int = 0, start: Any = None, end: Any = None, step: int = 1
) -> Balls:
    return _scattered(a, (*(slice(None),) * (dim % a.dim()), slice(start, end, step)), source)


@handles("diagonal_scatter")
def _diagonal_scatter(a: Any, source: Any, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Balls:
    made = lift(a).copy()
    places = np.arange(made.size).reshape(made.shape).diagonal(offset, dim1, dim2)
    made.reshape(-1)[places] = lift(source)
    return Balls(made)


@handles("index_put")
def _index_put(a: Any, at: Any, values: Any, accumulate: bool = False) -> Balls:
    made = lift(a).copy()
    places: Any = tuple(slice(None) if of is None else of.numpy() for of in at)
    if accumulate:
        np.add.at(made, places, lift(values))
    else:
        made[places] = lift(values)
    return Balls(made)


@handles("masked_fill")
def _masked_fill(a: Any, mask: Any, value: Any) -> Balls:
    return wrapped(choose(truths(mask), lift(value), lift(a)))


def _signed(x: arb) -> arb:
    """Return the sign; where it is open, [−1, 1] or a half of it."""
    if x > 0 or x < 0 or x == 0:
        return arb(bool(x > 0) - bool(x < 0))
    low, high = arb(-1 if x.lower() < 0 else 0), arb(1 if x.upper() > 0 else 0)
    signed: arb = low.union(high)
    return signed


_sign_of = np.frompyfunc(_signed, 1, 1)
_one_over_root = np.frompyfunc(lambda x: 1 / root(x), 1, 1)


@handles("sign")
def _sign(a: Any) -> Balls:
    return wrapped(_sign_of(lift(a)))


@handles("rsqrt")
def _rsqrt(a: Any) -> Balls:
    return wrapped(_one_over_root(lift(a)), True)
