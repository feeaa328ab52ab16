"""The number of a step in a round that stands for all rounds but the first."""

from __future__ import annotations

from typing import Any, NoReturn


class Unrepeatable(Exception):  # noqa: N818 - a signal within the context, never shown
    """A step's Python depends on what differs between rounds, so it cannot be recorded once."""


class StepOfAnyRound:
    """Step ``offset`` of some round after the first, of ``steps`` steps.

    It answers what has the same answer in all those rounds (its place in the round, whether it is
    later than an early step) and raises ``Unrepeatable`` at anything else, a decaying step size
    say.

    >>> t = StepOfAnyRound(3, steps=6)
    >>> t % 6, (t + 1) % 2, t > 0, t - (t - 3)
    (3, 0, True, 3)
    """

    def __init__(self, offset: int, *, steps: int) -> None:
        self.offset, self.steps = offset, steps

    def __mod__(self, divisor: int) -> int:
        if isinstance(divisor, StepOfAnyRound) or self.steps % divisor:
            self._refuse()
        return self.offset % divisor

    def __add__(self, other: int) -> StepOfAnyRound:
        return StepOfAnyRound(self.offset + self._whole(other), steps=self.steps)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        if isinstance(other, StepOfAnyRound):
            return self.offset - other.offset
        return self + -other

    def __eq__(self, other: object) -> bool:
        return self._order(other) == 0

    def __lt__(self, other: object) -> bool:
        return self._order(other) < 0

    def __le__(self, other: object) -> bool:
        return self._order(other) <= 0

    def __gt__(self, other: object) -> bool:
        return self._order(other) > 0

    def __ge__(self, other: object) -> bool:
        return self._order(other) >= 0

    def __hash__(self) -> int:
        return hash((StepOfAnyRound, self.offset))

    def __bool__(self) -> bool:
        return self > 0

    def _order(self, other: object) -> int:
        """Return the sign of the difference, which must be the same in every round."""
        if isinstance(other, StepOfAnyRound):
            return (self.offset > other.offset) - (self.offset < other.offset)
        if self._whole(other) >= self.steps + self.offset:  # later than this step of round 1
            self._refuse()
        return 1

    def _whole(self, other: object) -> int:
        if not isinstance(other, int):
            self._refuse()
        return other

    def _refuse(self, *_: object) -> NoReturn:
        raise Unrepeatable(f"step {self.offset} of a round is not the same in each round")

    __index__ = __int__ = __float__ = __str__ = __repr__ = __neg__ = _refuse
    __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = __floordiv__ = _refuse
    __rfloordiv__ = __pow__ = __rpow__ = __rmod__ = __divmod__ = __rdivmod__ = _refuse
