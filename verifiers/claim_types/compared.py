"""What a comparison is: an enclosure of the left side, the right side, and their distance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, isfinite, isnan

import numpy as np

from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.tolerances import COMPUTED, COUNTED, Tolerance


@dataclass(frozen=True)
class Comparison:
    """A certified enclosure [low, high] of the left side, and the value of the right.

    Attributes:
        what: what is compared.
        x: where it is drawn on the plot.
        scale: the size of what the sides were computed from, if they may be far smaller (0: their
            own size). A component of a vector has the vector's; of two sides that should both be
            0, it says which numbers are so small that they count as 0.
        count: both sides are whole numbers that were counted (every side of a complexity is).
    """

    what: str
    low: float
    high: float
    value: float
    x: float = 0.0
    scale: float = 0.0
    count: bool = False

    def __post_init__(self) -> None:
        for name in ("low", "high", "value", "x", "scale"):
            given = getattr(self, name)
            try:
                object.__setattr__(self, name, float(given))
            except (TypeError, ValueError, RuntimeError, OverflowError):
                raise DriftproofError(
                    f"Comparison {self.what!r} with {name} = {given!r}",
                    "a number",
                    f"pass one number as {name}: float(…), or compare vectors by components(…)",
                ) from None

    @property
    def size(self) -> float:
        """What a distance between the sides is measured by: nothing that is infinite."""
        near = min(abs(self.low), abs(self.high))
        return max(x for x in (abs(self.value), self.scale, near, 0.0) if isfinite(x))

    @property
    def tolerance(self) -> Tolerance:
        """How near the sides have to be to count as equal."""
        return COUNTED if self.count else COMPUTED

    @property
    def slack(self) -> float:
        """The distance up to which the sides count as equal."""
        return float(self.tolerance.equal) * self.size

    @property
    def apart(self) -> float:
        """The certified distance of the right side from the left."""
        return max(self.low - self.value, self.value - self.high, 0.0)

    @property
    def unmeasured(self) -> str:
        """Why no distance between the sides can be measured ("": it can)."""
        numbers = f"[{self.low:.10g}, {self.high:.10g}] and {self.value:.10g}"
        if any(map(isnan, (self.low, self.high, self.value))):
            return f"{self.what}: the sides, {numbers}, are not all numbers"
        if self.low - self.high > self.slack:  # the ends of a point may cross by their rounding
            return f"{self.what}: no number is in [{self.low:.10g}, {self.high:.10g}]"
        if not 0 <= self.scale < inf:
            return f"{self.what}: the scale that the sides are compared at is {self.scale}"
        return ""


def components(
    what: str,
    left: Sequence[float] | np.ndarray,
    right: Sequence[float] | np.ndarray,
    *,
    first: int = 0,
) -> list[Comparison]:
    """Compare two vectors component by component, at the size of the larger one.

    Args:
        what: what is compared, with a place for the component's number: "component {} of ∇F".
        first: where the first is drawn on the plot.
    """
    lefts, rights = (np.asarray(side, dtype=float) for side in (left, right))
    if lefts.shape != rights.shape:
        raise DriftproofError(
            f"{what.format('k')} of {list(lefts.shape)} and {list(rights.shape)} numbers",
            "two vectors of one length",
            "compare a vector with another of its own length",
        )
    scale = float(max(np.linalg.norm(lefts), np.linalg.norm(rights)))
    return [
        Comparison(what.format(k + 1), float(a), float(a), float(b), float(first + k), scale=scale)
        for k, (a, b) in enumerate(zip(lefts, rights, strict=True))
    ]
