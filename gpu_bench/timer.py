"""Times calls, by turns: warm-up, repeats, device events on CUDA, the median with its spread."""

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import torch

CLOCK_BOUND = 50e-6
"""Seconds: what is shorter is repeated inside one reading, so that the clock is no part of it."""
READ_ONCE = 2.0
"""Seconds: what is longer is read once."""
TURNS = 10
"""Parts that a call's readings are taken in, so that what disturbs the machine disturbs all."""
SETTLE = 2e-3
"""Seconds of calls that do not count at the start of a turn: another's threads may still spin."""
BUSY_SPREAD = 2.0
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
        return high > BUSY_SPREAD * low


def timed(call: Callable[[int], Any], device: str = "cpu", **more: Any) -> Timing:
    """Return the seconds that ``call(i)`` takes, for i = 0, 1, 2 and so on, as the next does."""
    return timed_in_turn([call], device, **more)[0]


def timed_in_turn(
    calls: Sequence[Callable[[int], Any]],
    device: str = "cpu",
    *,
    budget: float = 1.0,
    least: int = 5,
    most: int = 400,
    warm_up: int = 3,
) -> list[Timing]:
    """Return the seconds of each call, their readings taken by turns.

    Args:
        calls: take the number of the call, to rotate inputs by.
        device: "cpu" reads the host's clock; "cuda" has an event before and after each reading
            on the stream, so that the host's own time counts only where the device waits for it.
        budget: seconds to spend on each, about; what takes longer than ``READ_ONCE`` is read once.
        least, most: readings.
        warm_up: calls that do not count: compilation, allocation, handles.
    """
    readers = [_Reader(call, device, warm_up) for call in calls]
    for turn in range(1, TURNS + 1):
        for reader in readers:
            wanted = float(np.clip(budget / (reader.once * reader.inside), least, most))
            part = math.ceil(int(wanted) * turn / TURNS) - len(reader.seconds)
            if part > 0 and reader.once <= READ_ONCE:
                reader.run(int(SETTLE / reader.once) if len(calls) > 1 else 0)
                reader.read(part)
    return [Timing(np.array(reader.seconds)) for reader in readers]


class _Reader:
    """One call, warmed up, and what was read of it so far.

    Attributes:
        once: seconds of the fastest call that did not count; if above ``READ_ONCE``, the reading.
        inside: calls in a reading.
    """

    def __init__(self, call: Callable[[int], Any], device: str, warm_up: int) -> None:
        self.call, self.cuda, self.number, self.once = call, device.startswith("cuda"), 0, math.inf
        for _ in range(warm_up):
            began = time.perf_counter()
            self.run(1)
            if self.cuda:
                torch.cuda.synchronize(device)
            self.once = max(1e-9, min(self.once, time.perf_counter() - began))
            if self.once > READ_ONCE:
                break
        self.number, self.inside = 0, max(1, round(CLOCK_BOUND / self.once))
        self.seconds = [self.once] if self.once > READ_ONCE else []

    def run(self, times: int) -> None:
        """Call so many times."""
        call, first = self.call, self.number
        for number in range(first, first + times):
            call(number)
        self.number = first + times

    def read(self, readings: int) -> None:
        """Take so many readings."""
        marks = []
        for number in range(readings + 1):
            if number:
                self.run(self.inside)
            marks.append(self._mark())
        if self.cuda:
            torch.cuda.synchronize()
            taken = [a.elapsed_time(b) / 1e3 for a, b in pairwise(marks)]
        else:
            taken = [b - a for a, b in pairwise(marks)]
        self.seconds += [seconds / self.inside for seconds in taken]

    def _mark(self) -> Any:
        if not self.cuda:
            return time.perf_counter()
        event: Any = torch.cuda.Event(enable_timing=True)  # type: ignore[no-untyped-call]
        event.record()
        return event
