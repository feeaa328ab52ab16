r"""Proximal gradient descent, plain and accelerated; projected where h is that of a set."""

from __future__ import annotations

from typing import NamedTuple, Self

from torch import Tensor

from driftproof.toolkit.algorithm import Algorithm, Context, algorithm
from driftproof.toolkit.algorithms._one_model import ON_ONE_MACHINE
from driftproof.toolkit.oracles import Proximal
from driftproof.toolkit.parameters import Flag, One, Positive


class State(NamedTuple):
    """x_k and the point at which the gradient is taken, [clients, dim, replicates]."""

    w: Tensor
    y: Tensor


@algorithm(
    name="proximal-gradient",
    source="Beck & Teboulle 2009, section 3 (plain); with the momentum k/(k + 3) of Nesterov 1983",
    statement=r"x_{k+1} = \mathrm{prox}_{\eta h}\big(y_k - \eta\nabla f(y_k)\big),\; "
    r"y_{k+1} = x_{k+1} + m_k(x_{k+1} - x_k)",
)
class ProximalGradient(Algorithm):
    r"""Steps of F = f + h: along ∇f, the clients' mean, then the implicit step of h.

    Where h is the indicator of a set it is projected gradient descent.

    >>> from driftproof.classes import over, plus, indicator, smooth_convex
    >>> len(over([smooth_convex(1), plus(indicator(1))], ProximalGradient(), rounds=2, clients=1))
    1

    Args:
        step_size: η.
        accelerated: whether m_k is k/(k + 3), and not 0.
    """

    local_steps: One = 1
    step_size: Positive = 0.1
    accelerated: Flag = False

    needs = "proximal"
    limits = {"own": "minimiser"}
    notation = ON_ONE_MACHINE | {"eta": "step_size"}

    @classmethod
    def examples(cls) -> list[Self]:
        """Return a member of each kind."""
        return [cls(), cls(accelerated=True)]

    def init(self, ctx: Context, oracles: Proximal, start: Tensor) -> State:
        """Begin at rest."""
        return State(ctx.everywhere(start), ctx.everywhere(start))

    def anywhere(self, ctx: Context, oracles: Proximal, start: Tensor, own: Tensor) -> State:
        """Begin in any motion, where there is one: the mean of ``own`` is y."""
        x = ctx.everywhere(start)
        return State(x, ctx.everywhere(own.mean(0)) if self.accelerated else x)

    def step(self, ctx: Context, oracles: Proximal, state: State) -> State:
        """One step, and the move beyond it."""
        (g,) = ctx.average(oracles.field_grad(state.y, None))
        w = oracles.prox(state.y - self.step_size * g, self.step_size)
        m = ctx.t / (ctx.t + 3) if self.accelerated else 0
        return State(w, w + m * (w - state.w))
