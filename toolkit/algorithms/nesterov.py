r"""Nesterov's accelerated gradient method, in both of its forms, on one machine."""

from __future__ import annotations

from itertools import chain, count
from typing import Literal, NamedTuple, Self

from torch import Tensor

from driftproof.toolkit.algorithm import Algorithm, Context, algorithm
from driftproof.toolkit.algorithms._one_model import ON_ONE_MACHINE
from driftproof.toolkit.around import Around, Radii
from driftproof.toolkit.oracles import GradientField
from driftproof.toolkit.parameters import BelowOne, One, Positive, PositiveInt


class State(NamedTuple):
    """x_k and the point y_k at which the gradient is taken, [clients, dim, replicates]."""

    w: Tensor
    y: Tensor


@algorithm(
    name="nesterov",
    source="Nesterov 1983 (convex), and Nesterov 2018, section 2.2 (a constant momentum)",
    statement=r"x_{k+1} = y_k - \eta\nabla F(y_k),\; y_{k+1} = x_{k+1} + m_k(x_{k+1} - x_k)",
)
class Nesterov(Algorithm):
    r"""Accelerated gradient descent on the mean of all clients' functions.

    m_k = k/(k + 3) is the form for convex functions. In the other one m_k is constant, for strongly
    convex ones (1 − √(μ/L))/(1 + √(μ/L)). The first step is gradient descent's:

    >>> from driftproof.synthetic.problems import QuadraticMinimax
    >>> from driftproof.toolkit.federation import numbers_after
    >>> numbers_after(QuadraticMinimax(dim=1, distance=2.0), Nesterov(), "w")
    [1.98, -0.1]

    Args:
        step_size: η.
        form: "convex", or "constant".
        momentum: m, of the form "constant".
        batch: samples a step.
    """

    local_steps: One = 1
    step_size: Positive = 0.1
    form: Literal["convex", "constant"] = "convex"
    momentum: BelowOne = 0.5
    batch: PositiveInt = 1

    limits = {"own": "minimiser"}
    begins = {"own": "y_{0}"}
    stated_for_words = True  # of either form, whose m_k differs
    notation = ON_ONE_MACHINE | {"eta": "step_size", "m": "momentum"}
    in_mean = True

    @classmethod
    def examples(cls) -> list[Self]:
        """Return a member of each form."""
        return [cls(), cls(form="constant", batch=2)]

    def init(self, ctx: Context, oracles: GradientField, start: Tensor) -> State:
        """Begin at rest."""
        return State(ctx.everywhere(start), ctx.everywhere(start))

    def anywhere(self, ctx: Context, oracles: GradientField, start: Tensor, own: Tensor) -> State:
        """Begin in any motion: the mean of ``own`` is y."""
        return State(ctx.everywhere(start), ctx.everywhere(own.mean(0)))

    def radii(self, around: Around) -> Radii:
        """The gradient is at y, by the weight of the step before."""
        weights = chain([self.momentum_at(0)], map(self.momentum_at, count()))
        points = around.shared.momentum(self.step_size, weights, looks_ahead=True)
        return ({"w": w, "y": y + around.size} for w, y in points)

    def momentum_at(self, t: int) -> float:
        """Return m_t."""
        return self.momentum if self.form == "constant" else t / (t + 3)

    def step(self, ctx: Context, oracles: GradientField, state: State) -> State:
        """One gradient step from y, and the move beyond it."""
        xi = ctx.draw(oracles.field_law(self.batch), "xi")
        (g,) = ctx.average(oracles.field_grad(state.y, xi))
        w = state.y - self.step_size * g
        return State(w, w + self.momentum_at(ctx.t) * (w - state.w))
