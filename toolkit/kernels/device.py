"""What kernels ask of the host: what is made once a run, small tensors kept on a GPU."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import cache, lru_cache
from importlib.util import find_spec
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import torch
from torch import Tensor

from driftproof.toolkit.draws import Law, SignMean, sign_mean
from driftproof.toolkit.engines.batched import BatchedContext

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


def stream_of(ctx: Any, law: Law | None, name: str) -> Tensor:
    """Return where a context's draws begin: the two words of the key, its block, its first client.

    int64 [4] on the context's device (no law: what nobody reads).
    """
    if law is None:
        return constants((0, 0, 0, 0), torch.int64, ctx.device)
    if type(ctx)._sample is not BatchedContext._sample:
        ctx.draw(law, name)  # one that allows no noise says so here
        raise TypeError(f"{type(ctx).__name__} makes its draws itself")

    def make() -> Tensor:
        words = [*ctx._words.key(name), ctx.block, ctx.local.start]
        return torch.from_numpy(np.array(words, dtype=np.uint64).view(np.int64)).to(ctx.device)

    stream: Tensor = kept(ctx, ("stream", name), make)
    return stream


def signs_of(law: Law | None) -> int:
    """Return how many signs a mean that a client draws is of (0: it draws none)."""
    if law is None:
        return 0
    if not isinstance(law, SignMean):
        raise TypeError(f"{type(law).__name__}, where a kernel draws means of signs")
    return law.batch


def cumulative(batch: int, device: str) -> Tensor:
    """Return the distribution function of a mean of signs, float64 (short of its last 1)."""
    return constants(tuple(sign_mean(batch)[2].tolist()), torch.float64, device)
