"""What methods that remember one model share."""

from typing import Any, NamedTuple

from torch import Tensor

from driftproof.toolkit.algorithm import Algorithm, Context


class State(NamedTuple):
    """Each client's model, or its point of a saddle problem, [clients, dim, replicates]."""

    w: Tensor


class OneModel(Algorithm):
    """Base of the methods whose state is the iterate alone."""

    def init(self, ctx: Context, oracles: Any, start: Tensor) -> State:
        """Every client starts at the same point."""
        return State(ctx.everywhere(start))

    def anywhere(self, ctx: Context, oracles: Any, start: Tensor, own: Tensor) -> State:
        """Begin anywhere: a round leaves nothing but the iterate."""
        return self.init(ctx, oracles, start)
