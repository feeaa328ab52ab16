"""Shapes of balls: slices, views and copies; no arithmetic, so they cost nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from flint import arb
from torch import Tensor

from driftproof.toolkit.balls.tensor import Balls, RefusedError, handles, lift


def _shape(given: Sequence[Any]) -> tuple[int, ...]:
    """Return a shape that was given as one argument or as several."""
    listed = given[0] if len(given) == 1 and not isinstance(given[0], int) else given
    return tuple(int(n) for n in listed)


def _index(at: Any) -> Any:
    if isinstance(at, tuple):
        return tuple(_index(part) for part in at)
    if isinstance(at, Balls):
        raise RefusedError("balls as an index")
    return at.numpy() if isinstance(at, Tensor) else at


@handles("__getitem__")
def _getitem(a: Any, at: Any) -> Balls:
    return same_sign(a, np.asarray(lift(a)[_index(at)], dtype=object))


@handles("__setitem__")
def _setitem(a: Any, at: Any, value: Any) -> None:
    if not isinstance(a, Balls):
        raise RefusedError("balls put into a tensor of doubles")
    try:
        a.balls[_index(at)] = lift(value)
    except ValueError as error:
        raise RefusedError("balls put into an expanded tensor") from error
    a.nonnegative = False


def same_sign(a: Any, entries: np.ndarray) -> Balls:
    """Return entries of balls, which are 0 or more where theirs are."""
    return Balls(entries, isinstance(a, Balls) and a.nonnegative)


@handles("reshape", "view")
def _reshape(a: Any, *shape: Any, **named: Any) -> Balls:
    return same_sign(a, lift(a).reshape(_shape(shape or (named["shape"],))))


@handles("flatten")
def _flatten(a: Any, start_dim: int = 0, end_dim: int = -1) -> Balls:
    entries = lift(a)
    end = end_dim % entries.ndim + 1
    return same_sign(a, entries.reshape(*entries.shape[:start_dim], -1, *entries.shape[end:]))


@handles("unflatten")
def _unflatten(a: Any, dim: int, sizes: Sequence[int]) -> Balls:
    entries = lift(a)
    at = dim % entries.ndim
    return same_sign(a, entries.reshape(*entries.shape[:at], *sizes, *entries.shape[at + 1 :]))


@handles("expand", "broadcast_to")
def _expand(a: Any, *sizes: Any) -> Balls:
    entries, wanted = lift(a), _shape(sizes)
    kept = (1,) * (len(wanted) - entries.ndim) + entries.shape
    full = [old if new == -1 else new for old, new in zip(kept, wanted, strict=True)]
    return same_sign(a, np.broadcast_to(entries, full))


@handles("expand_as")
def _expand_as(a: Any, other: Any) -> Balls:
    return same_sign(a, np.broadcast_to(lift(a), tuple(other.shape)))


@handles("permute")
def _permute(a: Any, *dims: Any, **named: Any) -> Balls:
    return same_sign(a, lift(a).transpose(_shape(dims or (named["dims"],))))


@handles("transpose", "swapaxes", "swapdims")
def _transpose(a: Any, one: int, two: int) -> Balls:
    return same_sign(a, lift(a).swapaxes(one, two))


@handles("mT")
def _m_t(a: Any) -> Balls:
    return _transpose(a, -1, -2)


@handles("T", "t")
def _t(a: Any) -> Balls:
    return same_sign(a, lift(a).T)


@handles("movedim", "moveaxis")
def _movedim(a: Any, source: Any, destination: Any) -> Balls:
    return same_sign(a, np.moveaxis(lift(a), source, destination))


@handles("unsqueeze")
def _unsqueeze(a: Any, dim: int) -> Balls:
    return same_sign(a, np.expand_dims(lift(a), dim))


@handles("squeeze")
def _squeeze(a: Any, dim: Any = None) -> Balls:
    entries = lift(a)
    dims = range(entries.ndim) if dim is None else dim if isinstance(dim, list | tuple) else [dim]
    return same_sign(a, entries.squeeze(tuple(k for k in dims if entries.shape[k] == 1)))


@handles("stack")
def _stack(parts: Sequence[Any], dim: int = 0) -> Balls:
    return Balls(np.stack([lift(part) for part in parts], dim))


@handles("cat", "concat", "concatenate")
def _cat(parts: Sequence[Any], dim: int = 0) -> Balls:
    return Balls(np.concatenate([lift(part) for part in parts], dim))


@handles("pad")
def _pad(a: Any, pad: Sequence[int], mode: str = "constant", value: Any = None) -> Balls:
    if mode != "constant":
        raise RefusedError(f"pad in mode {mode} has no version for balls")
    entries = lift(a)
    pairs = [(pad[k], pad[k + 1]) for k in range(0, len(pad), 2)][::-1]
    widths = [(0, 0)] * (entries.ndim - len(pairs)) + pairs
    return Balls(np.pad(entries, widths, constant_values=arb(value or 0)))  # type: ignore[call-overload]


@handles("repeat_interleave")
def _repeat_interleave(a: Any, repeats: int, dim: int | None = None) -> Balls:
    return same_sign(a, np.repeat(lift(a), repeats, dim))


@handles("repeat", "tile")
def _repeat(a: Any, *sizes: Any) -> Balls:
    return same_sign(a, np.tile(lift(a), _shape(sizes)))


@handles("unbind", "__iter__")
def _unbind(a: Any, dim: int = 0) -> tuple[Balls, ...]:
    return tuple(same_sign(a, part) for part in np.moveaxis(lift(a), dim, 0))


@handles("gather")
def _gather(a: Any, dim: int, index: Tensor) -> Balls:
    return same_sign(a, np.take_along_axis(lift(a), index.numpy(), dim))


@handles("scatter_add")
def _scatter_add(a: Any, dim: int, index: Tensor, source: Any) -> Balls:
    made = lift(a).copy()
    places = list(np.indices(index.shape))
    places[dim] = index.numpy()
    np.add.at(made, tuple(places), lift(source))
    return Balls(made)


@handles("clone", "contiguous")
def _clone(a: Any, **_: Any) -> Balls:
    return same_sign(a, lift(a).copy())


@handles("detach", "double", "cpu", "to", "type_as")
def _same(a: Any, *_: Any, **__: Any) -> Balls:
    return a if isinstance(a, Balls) else Balls(lift(a))


@handles("zeros_like", "new_zeros")
def _zeros(a: Any, *shape: Any, **_: Any) -> Balls:
    return _full(a, shape, 0)


@handles("ones_like", "new_ones")
def _ones(a: Any, *shape: Any, **_: Any) -> Balls:
    return _full(a, shape, 1)


@handles("full_like")
def _full_like(a: Any, value: Any, **_: Any) -> Balls:
    return _full(a, (), value)


@handles("new_full")
def _new_full(a: Any, shape: Sequence[int], value: Any, **_: Any) -> Balls:
    return _full(a, (shape,), value)


@handles("new_tensor")
def _new_tensor(a: Any, values: Any, **_: Any) -> Balls:
    return Balls.of(values)


def _full(a: Any, shape: Sequence[Any], value: Any) -> Balls:
    filled = np.empty(_shape(shape) if shape else tuple(a.shape), dtype=object)
    filled[...] = lift(value)[()]
    return Balls(filled)
