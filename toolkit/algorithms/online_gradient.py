r"""Online gradient descent: client t's function is the loss of time t."""

from __future__ import annotations

from typing import NamedTuple

from torch import Tensor

from driftproof.toolkit.algorithm import Algorithm, Context, algorithm
from driftproof.toolkit.oracles import Proximal
from driftproof.toolkit.parameters import One, Positive


class State(NamedTuple):
    """The point that is played, [clients, dim, replicates]."""

    w: Tensor


@algorithm(
    name="online-gradient",
    source="Zinkevich 2003, greedy projection, with a constant step",
    statement=r"x_{t+1} = \Pi_Q\big(x_t - \eta\nabla f_t(x_t)\big)",
)
class OnlineGradient(Algorithm):
    r"""A projected step along the gradient of the loss of each time.

    >>> from driftproof.classes import bounded_gradients, convex, indicator, over, plus
    >>> losses = [bounded_gradients(convex(), 1), plus(indicator(1))]
    >>> len(over(losses, OnlineGradient(), rounds=3, clients=3))
    1

    Args:
        step_size: η.
    """

    local_steps: One = 1
    step_size: Positive = 0.1

    needs = "online"
    notation = {
        "eta": "step_size", "T": "rounds", "D": "diameter", "G": "field_gradient_bound",
    }  # fmt: skip

    def init(self, ctx: Context, oracles: Proximal, start: Tensor) -> State:
        """Begin in the set."""
        return State(ctx.everywhere(start))

    def step(self, ctx: Context, oracles: Proximal, state: State) -> State:
        """One step along ∇f_t."""
        g = oracles.at(ctx.t).field_grad(state.w, None)
        return State(oracles.project(state.w - self.step_size * g))
