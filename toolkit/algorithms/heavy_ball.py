r"""Heavy ball: gradient descent with momentum, on one machine."""

from __future__ import annotations

from itertools import repeat
from typing import NamedTuple, Self

from torch import Tensor

from driftproof.toolkit.algorithm import Algorithm, Context, algorithm
from driftproof.toolkit.algorithms._one_model import ON_ONE_MACHINE
from driftproof.toolkit.around import Around, Radii
from driftproof.toolkit.oracles import GradientField
from driftproof.toolkit.parameters import BelowOne, One, Positive, PositiveInt


class State(NamedTuple):
    """The model and the one before it, [clients, dim, replicates]."""

    w: Tensor
    before: Tensor


@algorithm(
    name="heavy-ball",
    source="Polyak 1964, the method of two steps",
    statement=r"x_{k+1} = x_k - \alpha\nabla F(x_k) + \beta(x_k - x_{k-1}),\; x_{-1} = x_0",
)
class HeavyBall(Algorithm):
    r"""Gradient descent with momentum on the mean of all clients' functions.

    Where ∇F = x − 2, from 0 with α = β = ½: 0, 1, then 1 + ½ + ½(1 − 0) = 2.

    >>> from driftproof.synthetic.problems import PiecewiseLosses
    >>> from driftproof.toolkit.federation import numbers_after
    >>> problem = PiecewiseLosses(clients=1, gradients=((((-9.0, -11.0), (9.0, 7.0)),),))
    >>> numbers_after(problem, HeavyBall(step_size=0.5, momentum=0.5), "w", rounds=2)
    [2.0]

    Args:
        step_size: α.
        momentum: β; 0 is gradient descent.
        batch: samples a step.
    """

    local_steps: One = 1
    step_size: Positive = 0.1
    momentum: BelowOne = 0.5
    batch: PositiveInt = 1

    limits = {"own": "minimiser"}
    begins = {"own": "x_{-1}"}
    notation = ON_ONE_MACHINE | {"alpha": "step_size", "beta": "momentum"}
    in_mean = True

    @classmethod
    def examples(cls) -> list[Self]:
        """Return members with and without momentum."""
        return [cls(), cls(momentum=0.0, batch=2)]

    def init(self, ctx: Context, oracles: GradientField, start: Tensor) -> State:
        """Begin at rest."""
        return State(ctx.everywhere(start), ctx.everywhere(start))

    def anywhere(self, ctx: Context, oracles: GradientField, start: Tensor, own: Tensor) -> State:
        """Begin in any motion: the mean of ``own`` is the point before."""
        return State(ctx.everywhere(start), ctx.everywhere(own.mean(0)))

    def radii(self, around: Around) -> Radii:
        """The gradient is at w; ``before`` is the last w."""
        before = around.start
        for w, _ in around.shared.momentum(
            self.step_size, repeat(self.momentum), looks_ahead=False
        ):
            yield {"w": w, "before": before + around.size}
            before = w

    def step(self, ctx: Context, oracles: GradientField, state: State) -> State:
        """One step along the mean gradient and the last move."""
        xi = ctx.draw(oracles.field_law(self.batch), "xi")
        (g,) = ctx.average(oracles.field_grad(state.w, xi))
        moved = state.w - self.step_size * g + self.momentum * (state.w - state.before)
        return State(moved, state.w)
