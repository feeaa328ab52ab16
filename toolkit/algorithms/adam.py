r"""Adam and AMSGrad, in a box, on one machine."""

from __future__ import annotations

from typing import NamedTuple, Self

import torch
from torch import Tensor

from driftproof.toolkit.algorithm import Algorithm, Context, algorithm
from driftproof.toolkit.oracles import GradientField
from driftproof.toolkit.parameters import BelowOne, Flag, One, Positive, PositiveInt


class State(NamedTuple):
    """The model, both averages and the largest second one, [clients, dim, replicates]."""

    w: Tensor
    m: Tensor
    v: Tensor
    largest: Tensor


@algorithm(
    name="adam",
    source="Kingma & Ba 2015, Algorithm 1, with α/√t and the box of Reddi et al. 2018, and ε = 0",
    statement=r"m_t = \beta_1m_{t-1}+(1-\beta_1)g_t,\; v_t = \beta_2v_{t-1}+(1-\beta_2)g_t^2,\;"
    r" \theta_t = \Pi\Big(\theta_{t-1}-\tfrac{\alpha}{\sqrt t}\tfrac{m_t/(1-\beta_1^t)}"
    r"{\sqrt{v_t/(1-\beta_2^t)}}\Big)",
)
class Adam(Algorithm):
    r"""Steps along a mean of gradients, divided by the root of a mean of their squares.

    Kingma & Ba add ε = 10⁻⁸ to the root; here ε = 0. Where all gradients were 0 there is no step.

    Where ∇F = x − 2 the first step is α = ½, whatever the gradient, since m = g and v = g²:

    >>> from driftproof.synthetic.problems import PiecewiseLosses
    >>> from driftproof.toolkit.federation import numbers_after
    >>> problem = PiecewiseLosses(clients=1, gradients=((((-9.0, -11.0), (9.0, 7.0)),),))
    >>> numbers_after(problem, Adam(step_size=0.5), "w")
    [0.5]

    Args:
        step_size: α.
        momentum: β_1.
        memory: β_2.
        radius: the box is [−radius, radius] in each coordinate.
        long_memory: whether √v is divided by the largest so far, without the factors 1 − β^t: this
            is AMSGrad.
        batch: samples a step.
    """

    local_steps: One = 1
    step_size: Positive = 0.1
    momentum: BelowOne = 0.9
    memory: BelowOne = 0.999
    radius: Positive = 100.0
    long_memory: Flag = False
    batch: PositiveInt = 1

    notation = {
        "alpha": "step_size",
        "beta_1": "momentum",
        "beta_2": "memory",
        "r": "radius",
        "n": "clients",
        "T": "rounds",
        "G": "field_gradient_bound",
    }

    @classmethod
    def examples(cls) -> list[Self]:
        """Return Adam, and AMSGrad without momentum."""
        return [cls(), cls(long_memory=True, momentum=0.0, batch=2)]

    def init(self, ctx: Context, oracles: GradientField, start: Tensor) -> State:
        """Begin with averages of 0."""
        w = ctx.everywhere(start)
        return State(w, *(torch.zeros_like(w) for _ in range(3)))

    def step(self, ctx: Context, oracles: GradientField, state: State) -> State:
        """One step; where all gradients were 0 there is none."""
        xi = ctx.draw(oracles.field_law(self.batch), "xi")
        (g,) = ctx.average(oracles.field_grad(state.w, xi))
        m = self.momentum * state.m + (1 - self.momentum) * g
        v = self.memory * state.v + (1 - self.memory) * g * g
        largest = torch.maximum(state.largest, v)
        first = 1 if self.long_memory else 1 - self.momentum ** (ctx.t + 1)
        second = largest if self.long_memory else v / (1 - self.memory ** (ctx.t + 1))
        length = torch.sqrt(second)
        moved = m / first / torch.where(length > 0, length, torch.ones_like(length))
        w = state.w - self.step_size / (ctx.t + 1) ** 0.5 * moved
        return State(w.clamp(-self.radius, self.radius), m, v, largest)
