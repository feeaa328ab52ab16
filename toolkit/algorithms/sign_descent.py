r"""signSGD: steps along the signs of gradients, on one machine."""

from __future__ import annotations

from itertools import accumulate, repeat
from math import sqrt
from typing import Self

import torch

from driftproof.toolkit.algorithm import Context, algorithm
from driftproof.toolkit.algorithms._one_model import OneModel, State
from driftproof.toolkit.around import Around, Radii
from driftproof.toolkit.oracles import GradientField
from driftproof.toolkit.parameters import One, Positive, PositiveInt


@algorithm(
    name="sign-descent",
    source="Bernstein et al. 2018, Algorithm 1",
    statement=r"x_{k+1} = x_k - \delta\,\mathrm{sign}(\tilde g_k)",
)
class SignDescent(OneModel):
    r"""Each coordinate moves by δ, against the sign of a minibatch gradient.

    Where ∇F = x − 2, from 0 with δ = ½:

    >>> from driftproof.synthetic.problems import PiecewiseLosses
    >>> from driftproof.toolkit.federation import numbers_after
    >>> problem = PiecewiseLosses(clients=1, gradients=((((-9.0, -11.0), (9.0, 7.0)),),))
    >>> numbers_after(problem, SignDescent(step_size=0.5), "w", rounds=3)
    [1.5]

    Args:
        step_size: δ.
        batch: samples a step.
    """

    local_steps: One = 1
    step_size: Positive = 0.1
    batch: PositiveInt = 1

    notation = {
        "delta": "step_size",
        "n_k": "batch",
        "n": "clients",
        "K": "rounds",
        "L": "objective_smoothness",
        "sigma": "field_gradient_noise",
        "F_gap": "initial_gap",
        "G": "field_gradient_bound",
    }

    @classmethod
    def examples(cls) -> list[Self]:
        """Return members with one sample and with two."""
        return [cls(), cls(batch=2)]

    def radii(self, around: Around) -> Radii:
        """Each of the d coordinates moves by δ at most."""
        moves = repeat(self.step_size * sqrt(around.entries))
        return ({"w": w} for w in accumulate(moves, initial=around.start))

    def step(self, ctx: Context, oracles: GradientField, state: State) -> State:
        """One step along the signs of the clients' mean gradient."""
        xi = ctx.draw(oracles.field_law(self.batch), "xi")
        (g,) = ctx.average(oracles.field_grad(state.w, xi))
        one = torch.ones_like(g)
        sign = torch.where(g > 0, one, torch.where(g < 0, -one, torch.zeros_like(g)))
        return State(state.w - self.step_size * sign)
