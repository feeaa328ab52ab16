"""Balls put into tensors: constants, copies, and sums of what falls on one place."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from driftproof.toolkit.balls.tensor import Balls, RefusedError, handles, lift
from driftproof.toolkit.carrier import numbered, on_places


@handles("pad")
def _pad(a: Any, pad: Sequence[int], mode: str = "constant", value: Any = None) -> Balls:
    if mode != "constant":
        raise RefusedError(f"pad in mode {mode} has no version for balls")
    entries, outside = lift(a), lift(value or 0).reshape(1)
    places = on_places(torch.nn.functional.pad, numbered(entries.shape), pad, value=entries.size)
    return Balls(np.concatenate([entries.reshape(-1), outside])[places.numpy()])


def _put(a: Any, places: Tensor, values: Any, accumulate: bool) -> Balls:
    made = lift(a).copy()
    flat, at = made.reshape(-1), np.atleast_1d(places.numpy())
    if accumulate:
        np.add.at(flat, at, lift(values))
    else:
        flat[at] = lift(values)
    return Balls(made)


@handles("scatter_add")
def _scatter_add(a: Any, dim: int, index: Tensor, source: Any) -> Balls:
    return _put(a, on_places(Tensor.gather, numbered(tuple(a.shape)), dim, index), source, True)


@handles("index_put")
def _index_put(a: Any, at: Any, values: Any, accumulate: bool = False) -> Balls:
    of = tuple(slice(None) if part is None else part for part in at)
    return _put(a, on_places(Tensor.__getitem__, numbered(tuple(a.shape)), of), values, accumulate)


@handles("_to_copy")
def _to_copy(a: Any, *, device: Any = None, **_: Any) -> Any:
    """Return a copy; on the device "meta" torch asks for its shape alone."""
    if device is not None and torch.device(device).type == "meta":
        return torch.empty(tuple(a.shape), dtype=torch.float64, device="meta")
    return Balls.moved(torch.clone, (a,), {})


def _full(shape: Sequence[int], value: Any) -> Balls:
    return Balls(np.broadcast_to(lift(value), tuple(shape)).copy())


def _constant(name: str, number: int) -> None:
    handles(f"{name}_like")(lambda a, **_: _full(a.shape, number))
    handles(f"new_{name}")(
        lambda a, *shape, **_: _full(torch.empty(*shape, device="meta").shape, number)
    )


_constant("zeros", 0)
_constant("ones", 1)
handles("_new_zeros_with_same_feature_meta")(lambda a, other, **_: _full(other.shape, 0))
handles("full_like", "copy")(lambda a, value, *_, **__: _full(a.shape, value))
handles("new_full")(lambda a, shape, value, **_: _full(shape, value))
handles("new_tensor")(lambda a, values, **_: Balls.of(values))
