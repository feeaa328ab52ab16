r"""Gradient descent whose gradients arrive one step late."""

from __future__ import annotations

from typing import NamedTuple

from torch import Tensor

from driftproof.toolkit.algorithm import Algorithm, Context, algorithm
from driftproof.toolkit.oracles import GradientField
from driftproof.toolkit.parameters import One, Positive, PositiveInt


class State(NamedTuple):
    """The iterate and the one before it, [clients, dim, replicates] each."""

    w: Tensor
    before: Tensor


@algorithm(
    name="delayed-gradient",
    source="Agarwal & Duchi 2011, a delay of one step",
    statement=r"x_{k+1} = x_k - \eta\,\tfrac1n\sum_i\nabla f_i(x_{k-1})",
)
class DelayedGradient(Algorithm):
    r"""Gradient steps of a server that hears of a model when it has made the next one.

    On a quadratic of curvature λ it converges for ηλ < 1, where steps without a delay do for
    ηλ < 2. It begins at rest, so its first two steps are the same gradient's:

    >>> from driftproof.synthetic.problems import QuadraticMinimax
    >>> from driftproof.toolkit.federation import run, sampled_context
    >>> problem = QuadraticMinimax(dim=1, distance=2.0)
    >>> ctx = sampled_context(problem, ("doc",), replicates=1)
    >>> run(problem, DelayedGradient(), ctx, rounds=2).state.w[0].flatten().tolist()
    [1.96, -0.2]

    Args:
        step_size: η.
        batch: samples a step.
    """

    local_steps: One = 1
    step_size: Positive = 0.1
    batch: PositiveInt = 1

    notation = {
        "eta": "step_size", "n": "clients", "T": "rounds", "L": "objective_smoothness",
        "mu": "strong_convexity", "F_gap": "initial_gap",
    }  # fmt: skip

    def init(self, ctx: Context, oracles: GradientField, start: Tensor) -> State:
        """Begin at rest."""
        return State(ctx.everywhere(start), ctx.everywhere(start))

    def anywhere(self, ctx: Context, oracles: GradientField, start: Tensor, own: Tensor) -> State:
        """Begin in any motion: the mean of ``own`` is the point before."""
        return State(ctx.everywhere(start), ctx.everywhere(own.mean(0)))

    def step(self, ctx: Context, oracles: GradientField, state: State) -> State:
        """One step along the gradient at the point before."""
        xi = ctx.draw(oracles.field_law(self.batch), "xi")
        (g,) = ctx.average(oracles.field_grad(state.before, xi))
        return State(state.w - self.step_size * g, state.w)
