"""The numbers of many members of a piecewise family, beside each other in the last axis."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

from torch import Tensor

from driftproof.synthetic.building_blocks.piecewise_linear import PiecewiseLinear


@dataclass(frozen=True, init=False, eq=False)
class Parts:
    """Functions, tensors and plain values by name; what a family does not have is None.

    Attributes:
        plain: functions [clients, dim, knots, members], which every family has.
        rare: the probability of the coins' rarer side.
    """

    plain: PiecewiseLinear
    rare: float

    def __init__(self, **numbers: Any) -> None:
        vars(self).update(numbers)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return None

    @property
    def of_y(self) -> PiecewiseLinear:
        """The function of y of two levels: k_i' of minimax problems, u_i' of bilevel ones."""
        function: PiecewiseLinear = self.upper if self.lower is None else self.lower
        return function

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

        def done(value: Any) -> Any:
            if isinstance(value, PiecewiseLinear):
                return value.changed(change)
            return change(value) if isinstance(value, Tensor) else value

        return type(self)(**{name: done(value) for name, value in vars(self).items()})

    def repeated(self, times: int) -> Self:
        """Return every member ``times`` times, next to each other."""
        return self if times == 1 else self.changed(lambda x: x.repeat_interleave(times, -1))

    def of_clients(self, chosen: range, dtype: Any, device: str) -> Self:
        """Return the parts of some clients, in one dtype."""
        own = list(chosen)
        return self.changed(lambda x: (x[own] if x.ndim > 1 else x).to(device, dtype))

    def noisy(self, name: str) -> bool:
        """Say whether some member has a noise."""
        size = getattr(self, name)
        return size is not None and bool((size != 0).any())
