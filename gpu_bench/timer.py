"""Times calls, by turns: warm-up, repeats, device events on CUDA, the median with its spread."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
import torch

SHORT = 50e-6
"""Seconds: what is shorter is repeated inside one reading, so that the clock is no part of it."""
LONG = 2.0
"""Seconds: what is longer is read once, after no warm-up but that of its maker."""
TURNS = 10
"""Parts that a call's readings are taken in, so that what disturbs the machine disturbs all."""
SETTLE = 2e-3
"""Seconds of calls that do not count at the start of a turn: another's threads may still spin."""
WIDE = 2.0
"""Upper over lower quartile from which on the machine was busy with something else."""


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

    @property
    def disturbed(self) -> bool:
        """Whether the readings are so far apart that the machine did something else as well."""
        low, high = self.quartiles
        return high > WIDE * low


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
    return timed_in_turn(
        [call], device, budget=budget, least=least, most=most, warm_up=warm_up
    )[0]  # fmt: skip


def timed_in_turn(
    calls: Sequence[Callable[[int], Any]], device: str = "cpu", *, budget: float = 1.0,
    least: int = 5, most: int = 400, warm_up: int = 2,
) -> list[Timing]:  # fmt: skip
    """Return what ``timed`` does for each call, their readings taken by turns.

    Each has the whole budget, spent in ``TURNS`` parts that alternate with the others' parts. What
    the call before left running is let go first, by up to ``SETTLE`` seconds of uncounted calls.
    """
    readers = [
        _Reader(call, device, budget, least, most, settles=len(calls) > 1) for call in calls
    ]  # fmt: skip
    for reader in readers:
        reader.warm(warm_up)
    for turn in range(TURNS):
        for reader in readers:
            reader.take(TURNS - turn)
    return [Timing(np.array(reader.seconds)) for reader in readers]


@dataclass
class _Reader:
    """One call, and what was read of it so far."""

    call: Callable[[int], Any]
    device: str
    budget: float
    least: int
    most: int
    settles: bool
    once: float = 0.0
    inside: int = 1
    number: int = 0
    seconds: list[float] = field(default_factory=list)

    def warm(self, warm_up: int) -> None:
        """Make the calls that do not count, and see by the last of them how long one takes."""
        for number in range(warm_up + 1):
            began = time.perf_counter()
            self.call(number)
            _wait(self.device)
            self.once = max(time.perf_counter() - began, 1e-9)
            if self.once > LONG:
                self.seconds.append(self.once)
                self.most = self.least = 1
                return
        self.inside = max(1, round(SHORT / self.once))

    def take(self, turns: int) -> None:
        """Take the readings of the next of so many turns, planned by what was read so far.

        (By the warm-up alone, a busy moment there would leave a quick call with few readings.)
        """
        once = float(np.median(self.seconds)) if self.seconds else self.once
        rest = self.budget - sum(self.seconds) * self.inside
        had = len(self.seconds)
        wanted = np.clip(rest / (once * self.inside), self.least - had, self.most - had)
        part = max(0, math.ceil(int(wanted) / turns))
        if part == 0:
            return
        self._run(int(SETTLE / once) if self.settles else 0)
        read = self._events if self.device.startswith("cuda") else self._clock
        self.seconds += [seconds / self.inside for seconds in read(part)]

    def _run(self, times: int) -> None:
        call, first = self.call, self.number
        for number in range(first, first + times):
            call(number)
        self.number = first + times

    def _clock(self, readings: int) -> list[float]:
        seconds = []
        for _ in range(readings):
            began = time.perf_counter()
            self._run(self.inside)
            seconds.append(time.perf_counter() - began)
        return seconds

    def _events(self, readings: int) -> list[float]:
        event: Any = torch.cuda.Event
        marks = [event(enable_timing=True) for _ in range(readings + 1)]
        marks[0].record()
        for mark in marks[1:]:
            self._run(self.inside)
            mark.record()
        torch.cuda.synchronize()
        return [a.elapsed_time(b) / 1e3 for a, b in pairwise(marks)]


def _wait(device: str) -> None:
    if device.startswith("cuda"):
        torch.cuda.synchronize(device)
