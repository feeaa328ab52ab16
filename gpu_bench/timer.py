"""Times a call: warm-up, many repeats, device events on CUDA, the median with its spread."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import torch

SHORT = 50e-6
"""Seconds: what is shorter is repeated inside one reading, so that the clock is no part of it."""
LONG = 2.0
"""Seconds: what is longer is read once, after no warm-up but that of its maker."""


@dataclass(frozen=True)
class Timing:
    """Seconds a call, one number a reading."""

    seconds: np.ndarray

    @property
    def median(self) -> float:
        """The median."""
        return float(np.median(self.seconds))

    @property
    def quartiles(self) -> tuple[float, float]:
        """The quartiles: half of the readings lie between them."""
        low, high = np.quantile(self.seconds, [0.25, 0.75])
        return float(low), float(high)


def timed(
    call: Callable[[int], Any], device: str = "cpu", *, budget: float = 1.0, least: int = 5,
    most: int = 400, warm_up: int = 2,
) -> Timing:  # fmt: skip
    """Return the seconds that ``call(i)`` takes, for i = 0, 1, 2 and so on.

    Args:
        call: takes the number of the call, to rotate inputs by.
        device: "cpu" reads the host's clock; "cuda" has an event before and after each reading
            on the stream, so that the host's own time counts only where the device waits for it.
        budget: seconds to spend, about; what takes longer than ``LONG`` is read once.
        least, most: readings.
        warm_up: calls that do not count: compilation, allocation, handles.
    """
    _wait(device)
    for number in range(warm_up + 1):
        began = time.perf_counter()
        call(number)
        _wait(device)
        once = max(time.perf_counter() - began, 1e-9)
        if once > LONG:
            return Timing(np.array([once]))
    inside = max(1, round(SHORT / once))
    readings = int(np.clip(budget / (once * inside), least, most))
    read = _events if device.startswith("cuda") else _clock
    return Timing(np.array(read(call, readings, inside)) / inside)


def _wait(device: str) -> None:
    if device.startswith("cuda"):
        torch.cuda.synchronize(device)


def _clock(call: Callable[[int], Any], readings: int, inside: int) -> list[float]:
    made, i = [], 0
    for _ in range(readings):
        began = time.perf_counter()
        for i in range(i, i + inside):  # noqa: B020 - the count goes on where it stood
            call(i)
        made.append(time.perf_counter() - began)
        i += 1
    return made


def _events(call: Callable[[int], Any], readings: int, inside: int) -> list[float]:
    event: Any = torch.cuda.Event
    marks = [event(enable_timing=True) for _ in range(readings + 1)]
    marks[0].record()
    for number in range(readings):
        for i in range(number * inside, (number + 1) * inside):
            call(i)
        marks[number + 1].record()
    torch.cuda.synchronize()
    return [a.elapsed_time(b) / 1e3 for a, b in pairwise(marks)]
