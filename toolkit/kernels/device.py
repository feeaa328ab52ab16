"""What the variants for a GPU ask of the host: small tensors kept on the device, sizes of tiles."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import cache, lru_cache
from importlib.util import find_spec
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
import torch
from torch import Tensor

from toolkit.draws import Law, SignMean, sign_mean
from toolkit.engines.batched import BatchedContext
from toolkit.engines.staged import Staged

MOST = 1024
"""Entries of a field of the state that one program holds: 4 a thread of 256."""
SINGLE = 128
"""Entries that one warp holds: up to them nothing is exchanged through shared memory."""
MOST_SIGNS = 64
"""Signs of a mean that are counted in a loop."""

_HELD: WeakKeyDictionary[Any, dict[Any, Any]] = WeakKeyDictionary()


@cache
def has_triton() -> bool:
    """Say whether triton is installed, without importing it."""
    return find_spec("triton") is not None


def kept(owner: Any, name: Any, make: Callable[[], Any]) -> Any:
    """Return what ``make`` made the first time that this owner was asked for it."""
    of = _HELD.setdefault(owner, {})
    if name not in of:
        of[name] = make()
    return of[name]


@lru_cache(maxsize=1024)
def constants(values: tuple[float, ...], dtype: torch.dtype, device: str) -> Tensor:
    """Return numbers on a device: a launch passes Python's floats on in single precision."""
    return torch.tensor(values, dtype=dtype).to(device)


def current(device: str) -> AbstractContextManager[Any]:
    """Make a GPU the one that launches go to (of another device: nothing)."""
    return torch.cuda.device(device) if device.startswith("cuda") else nullcontext()


def key_of(ctx: Any, law: Law | None, name: str) -> Tensor:
    """Return the key of a draw, int64 [2] on the context's device (no law: what nobody reads)."""
    if law is None:
        return constants((0, 0), torch.int64, ctx.device)
    if type(ctx)._sample is not BatchedContext._sample:
        ctx.draw(law, name)  # one that allows no noise says so here
        raise TypeError(f"{type(ctx).__name__} makes its draws itself")

    def make() -> Tensor:
        words = np.array(ctx._words.key(name), dtype=np.uint64).view(np.int64)
        return torch.from_numpy(words).to(ctx.device)

    key: Tensor = kept(ctx, ("key", name), make)
    return key


def start_of(ctx: Any) -> tuple[Tensor, int]:
    """Return two numbers whose sum is the step that a kernel starts at.

    The first one lies on the device, and is what changes between replays of a recorded launch.
    """
    if isinstance(ctx, Staged):
        step: Any = ctx.t
        return ctx.clock, step.offset
    return constants((0,), torch.int64, ctx.device), ctx.t


def signs_of(law: Law | None) -> tuple[int, int]:
    """Return how many means of signs a client draws, and of how many signs each is."""
    if law is None:
        return 0, 1
    if not isinstance(law, SignMean):
        raise TypeError(f"{type(law).__name__}, where a kernel draws means of signs")
    return law.shape[0], law.batch


def cumulative(batch: int, device: str) -> Tensor:
    """Return the distribution function of a mean of signs, float64 (short of its last 1)."""
    return constants(tuple(sign_mean(batch)[2].tolist()), torch.float64, device)


class Tile(NamedTuple):
    """What one program holds of a state, each axis a power of two."""

    clients: int
    rows: int
    replicates: int
    warps: int


def tile_of(clients: int, rows: int, replicates: int, batch: int) -> Tile | None:
    """Return how all clients of some replicates are held by one program (None: too many).

    As few replicates as fill a warp, so that there are many programs; a mean of several signs is
    drawn for four at a time.
    """
    k, n, most = (1 << (size - 1).bit_length() for size in (clients, rows, replicates))
    least = 4 if batch > 1 else 1
    r = max(least, min(most, SINGLE // 2 // (k * n) or 1))
    size = k * n * r
    if size > MOST:
        return None
    return Tile(k, n, r, max(1, size // SINGLE))
