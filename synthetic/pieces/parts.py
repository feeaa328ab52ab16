"""The numbers of many members of a piecewise family, beside each other in the last axis."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import Any, Self

from torch import Tensor

from driftproof.synthetic.pieces.piecewise_linear import PiecewiseLinear


class Parts:
    """Base of dataclasses whose tensors and functions all end in an axis of members.

    Attributes:
        plain: functions [clients, dim, knots, members], which every family has.
    """

    plain: PiecewiseLinear

    @property
    def clients(self) -> int:
        """K."""
        return self.plain.knots.shape[0]

    @property
    def dim(self) -> int:
        """The number of coordinates."""
        return self.plain.knots.shape[1]

    @property
    def members(self) -> int:
        """How many members there are."""
        return self.plain.knots.shape[-1]

    def changed(self, change: Callable[[Tensor], Tensor]) -> Self:
        """Return parts with ``change`` applied to every tensor."""
        done = {}
        of: Any = self
        for entry in fields(of):
            value = getattr(self, entry.name)
            if isinstance(value, PiecewiseLinear):
                value = value.changed(change)
            elif isinstance(value, Tensor):
                value = change(value)
            done[entry.name] = value
        return type(self)(**done)

    def repeated(self, times: int) -> Self:
        """Return every member ``times`` times, next to each other."""
        return self if times == 1 else self.changed(lambda x: x.repeat_interleave(times, -1))
