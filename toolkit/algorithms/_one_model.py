"""What methods that remember one model share."""

from typing import Any, NamedTuple

from torch import Tensor

from driftproof.toolkit.algorithm import Algorithm, Context

LETTERS = {
    "tau": "local_steps",
    "eta": "step_size",
    "b": "batch",
    "n": "clients",
    "m": "cohort_size",
    "S": "rounds",
    "T": "steps",
}
"""Of a method with local steps on sampled clients."""
ON_ONE_MACHINE = {
    "n": "clients",
    "T": "rounds",
    "L": "objective_smoothness",
    "mu": "strong_convexity",
    "F_gap": "initial_gap",
}
"""Of a method that steps along the mean of all clients."""


class State(NamedTuple):
    """Each client's model, or its point of a saddle problem, [clients, dim, replicates]."""

    w: Tensor


class Anchored(NamedTuple):
    """Each client's model and the round's common start, [clients, dim, replicates]."""

    w: Tensor
    anchor: Tensor


class WithAnchor(Algorithm):
    """Base of the methods that remember where the round began."""

    def init(self, ctx: Context, oracles: Any, start: Tensor) -> Anchored:
        """Every client starts at the same point."""
        w = ctx.everywhere(start)
        return Anchored(w, w)


class OneModel(Algorithm):
    """Base of the methods whose state is the iterate alone."""

    def init(self, ctx: Context, oracles: Any, start: Tensor) -> State:
        """Every client starts at the same point."""
        return State(ctx.everywhere(start))

    def anywhere(self, ctx: Context, oracles: Any, start: Tensor, own: Tensor) -> State:
        """Begin anywhere: a round leaves nothing but the iterate."""
        return self.init(ctx, oracles, start)
