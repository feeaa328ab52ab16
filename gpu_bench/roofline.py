"""Ceilings of this machine, measured in the same run, and what share of them a kernel reaches.

The limit of a workload is the largest of three: what its arithmetic takes, bytes over the copy
bandwidth, and random words over the rate of the fastest generator (Williams, Waterman and Patterson
2009). Its arithmetic is flops, sines, roots and signs, each at the rate that the machine reaches
with nothing else to do, one after the other: the same units do all of them. (A divider may work
beside the multipliers, so a limit with many roots is a little too long.) A share is the limit over
the measured time. Rows that stay in a cache can exceed a limit of bytes, which is that of memory.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Any

import numpy as np
import torch

from driftproof.gpu_bench.timer import timed
from driftproof.toolkit.kernels.registry import Cost

BUFFER = 256 << 20
"""Bytes of the buffer that is copied: more than a core's caches hold."""


@dataclass
class Ceilings:
    """What this machine can do at most, as measured here.

    Attributes:
        copy: bytes read plus bytes written a second, of a large copy.
        flops: a second, by dtype, then by what was measured: large matrix products of torch and
            of numpy, and multiply-adds between registers.
        operations: a second, by dtype: "sines", "roots" and "signs" (none: not measured, and not
            counted).
        launch: seconds of the smallest operation of torch.
        words: random 64-bit words a second, by generator, on all cores.
    """

    device: str
    copy: float = 0.0
    launch: float = 0.0
    flops: dict[str, dict[str, float]] = field(default_factory=dict)
    operations: dict[str, dict[str, float]] = field(default_factory=dict)
    words: dict[str, float] = field(default_factory=dict)

    def limit(self, cost: Cost, dtype: str) -> tuple[float, str]:
        """Return the least seconds that a cost takes here, and what bounds it."""
        rates = self.operations.get(dtype, {})
        own = sum(getattr(cost, name) / rate for name, rate in rates.items())
        bounds = {
            "arithmetic": cost.flops / max(self.flops[dtype].values()) + own,
            "memory": cost.bytes / self.copy,
            "draws": cost.words / max(self.words.values()),
        }
        return max((seconds, name) for name, seconds in bounds.items())

    def best(self, other: Ceilings) -> Ceilings:
        """Return the better of two measurements of one machine: it can do what it once did."""
        rates = ("copy", "flops", "operations", "words")
        return Ceilings(
            self.device,
            launch=min(self.launch, other.launch),
            **{name: _larger(getattr(self, name), getattr(other, name)) for name in rates},
        )


def _larger(one: Any, other: Any) -> Any:
    """Return the larger number, or those of two dictionaries, name by name."""
    if not isinstance(one, dict):
        return max(one, other)
    return {
        name: _larger(one[name], other[name])
        if name in one and name in other
        else one.get(name, other.get(name))
        for name in {**one, **other}
    }


def ceilings(device: str) -> Ceilings:
    """Measure this machine's ceilings: a few seconds."""
    measured = Ceilings(device)
    measured.copy = _copy(device)
    one = torch.ones(1, device=device)
    measured.launch = timed(lambda i: one.add_(1), device, budget=0.2).median
    for dtype in ("float64", "float32"):
        measured.flops[dtype] = {"torch's product": _products(dtype, device)}
        if device == "cpu":
            measured.flops[dtype]["numpy's product"] = _by_numpy(dtype)
        if device == "cpu" and find_spec("numba") is not None:
            from driftproof.gpu_bench.rates import multiply_adds, operations

            measured.flops[dtype]["multiply-adds between registers"] = multiply_adds(dtype)
            measured.operations[dtype] = operations(dtype)
    measured.words = {name: _rate(draw, device) for name, draw in generators(device).items()}
    return measured


def _copy(device: str) -> float:
    there = torch.ones(BUFFER, dtype=torch.uint8, device=device)
    other = torch.zeros_like(there)
    return 2 * BUFFER / timed(lambda i: other.copy_(there), device, budget=0.8).quartiles[0]


def _by_numpy(dtype: str, size: int = 1536) -> float:
    a, b = np.random.default_rng(1).standard_normal((2, size, size)).astype(dtype)
    out = np.empty_like(a)
    timing = timed(lambda i: np.matmul(a, b, out=out), budget=0.8, warm_up=4)
    return 2.0 * size**3 / timing.quartiles[0]


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
        from driftproof.gpu_bench.rates import fill_with_words

        words = np.empty(WORDS, np.uint64)
        draws["driftproof's Philox, all threads"] = lambda i: fill_with_words(words, i)
    return draws


def _rate(draw: Draw, device: str) -> float:
    return WORDS / timed(draw, device, budget=0.3).quartiles[0]
