"""Ceilings of this machine, measured in the same run, and what share of them a kernel reaches.

The limit of a workload is the largest of flops over the matrix rate, bytes over the copy
bandwidth and random words over the rate of the fastest generator: no version of it is faster
(Williams, Waterman and Patterson 2009). A share is that limit over the measured time. Rows that
stay in a cache can exceed a limit of bytes, which is that of memory.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.util import find_spec

import numpy as np
import torch

from gpu_bench.timer import timed
from toolkit.kernels.registry import Cost

BUFFER = 256 << 20
"""Bytes of the buffer that is copied: more than a core's caches hold."""


@dataclass
class Ceilings:
    """What this machine can do at most, as measured here.

    Attributes:
        copy: bytes read plus bytes written a second, of a large copy.
        product: flops a second of a large matrix product, by dtype.
        launch: seconds of the smallest operation of torch.
        words: random 64-bit words a second, by generator, on all cores.
    """

    device: str
    copy: float = 0.0
    launch: float = 0.0
    product: dict[str, float] = field(default_factory=dict)
    words: dict[str, float] = field(default_factory=dict)

    def limit(self, cost: Cost, dtype: str) -> tuple[float, str]:
        """Return the least seconds that a cost takes here, and what bounds it."""
        bounds = {
            "arithmetic": cost.flops / self.product[dtype],
            "memory": cost.bytes / self.copy,
            "draws": cost.words / max(self.words.values()),
        }
        return max((seconds, name) for name, seconds in bounds.items())

    def best(self, other: Ceilings) -> Ceilings:
        """Return the better of two measurements of one machine: it can do what it once did."""
        return Ceilings(
            self.device, copy=max(self.copy, other.copy), launch=min(self.launch, other.launch),
            product=_larger(self.product, other.product), words=_larger(self.words, other.words),
        )  # fmt: skip


def _larger(one: dict[str, float], other: dict[str, float]) -> dict[str, float]:
    return {name: max(x.get(name, 0.0) for x in (one, other)) for name in {**one, **other}}


def ceilings(device: str) -> Ceilings:
    """Measure this machine's ceilings: a few seconds."""
    measured = Ceilings(device)
    measured.copy = _copy(device)
    one = torch.ones(1, device=device)
    measured.launch = timed(lambda i: one.add_(1), device, budget=0.2).median
    for dtype in ("float64", "float32"):
        measured.product[dtype] = _products(dtype, device)
    measured.words = {name: _rate(draw, device) for name, draw in generators(device).items()}
    return measured


def _copy(device: str) -> float:
    there = torch.ones(BUFFER, dtype=torch.uint8, device=device)
    other = torch.zeros_like(there)
    return 2 * BUFFER / timed(lambda i: other.copy_(there), device, budget=0.8).quartiles[0]


def _products(dtype: str, device: str, size: int = 1536) -> float:
    kind = getattr(torch, dtype)
    a, b = torch.randn(2, 1, size, size, dtype=kind, device=device)
    out = torch.empty(1, size, size, dtype=kind, device=device)
    timing = timed(lambda i: torch.bmm(a, b, out=out), device, budget=0.8, warm_up=4)
    # the best quarter: a ceiling is what the machine can do, not what it was kept from
    return 2.0 * size**3 / timing.quartiles[0]


WORDS = 1 << 21
Draw = Callable[[int], object]


def generators(device: str) -> dict[str, Draw]:
    """Return calls that make ``WORDS`` random 64-bit words each, by the generator's name."""
    if device.startswith("cuda"):
        room = torch.empty(WORDS, dtype=torch.int64, device=device)
        return {"torch on CUDA": lambda i: room.random_()}
    philox, small = np.random.Philox(1), np.random.SFC64(1)
    draws: dict[str, Draw] = {
        "numpy Philox, one thread": lambda i: philox.random_raw(WORDS),
        "numpy SFC64, one thread": lambda i: small.random_raw(WORDS),
    }
    if find_spec("numba") is not None:
        from toolkit.philox import many

        draws["driftproof's Philox, all threads"] = lambda i: many(
            (1, 2), block=0, steps=range(i, i + 1), clients=range(1), lanes=WORDS // 4
        )
    return draws


def _rate(draw: Draw, device: str) -> float:
    return WORDS / timed(draw, device, budget=0.3).quartiles[0]
