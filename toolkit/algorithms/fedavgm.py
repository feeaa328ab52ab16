r"""FedAvgM: FedAvg with momentum on the server."""

from __future__ import annotations

from typing import NamedTuple, Self

import torch
from torch import Tensor

from driftproof.toolkit.algorithm import Algorithm, Context, algorithm, descended
from driftproof.toolkit.oracles import GradientField
from driftproof.toolkit.parameters import BelowOne, Positive, PositiveInt, Share


class State(NamedTuple):
    """Each client's model, and the server's model and velocity v, [clients, dim, replicates]."""

    w: Tensor
    x: Tensor
    velocity: Tensor


@algorithm(
    name="fedavgm",
    source="Hsu, Qi & Brown 2019 (FedAvgM); with α = η_s/γ it is SlowMo of Wang et al. 2020, "
    "whose inner steps are SGD",
    statement=r"w_i \leftarrow w_i - \eta g_i(w_i)\ (\tau\text{ times}),\quad v \leftarrow \beta v"
    r" + \tfrac1{|S|}\sum_{i\in S}(x - w_i),\quad x \leftarrow x - \eta_s v",
)
class FedAvgM(Algorithm):
    r"""Local steps, and a server that goes along a decaying sum of the clients' mean moves.

    With β = 0 and η_s = 1 it is FedAvg, with one local step and one client heavy ball.

    Where ∇F = x − 2, from 0 with η = β = ½: v is −1, then −½ − ½ = −1:

    >>> from driftproof.synthetic.problems import PiecewiseLosses
    >>> from driftproof.toolkit.federation import run, sampled_context
    >>> problem = PiecewiseLosses(clients=1, gradients=((((-9.0, -11.0), (9.0, 7.0)),),))
    >>> ctx = sampled_context(problem, ("doc",), replicates=1)
    >>> run(problem, FedAvgM(step_size=0.5, momentum=0.5), ctx, rounds=2).state.w.item()
    2.0

    Args:
        local_steps: τ.
        step_size: η, of a local step.
        server_step_size: η_s.
        momentum: β.
        batch: samples a step.
        participation: |S|/n, the share of clients sampled (uniformly) each round.
    """

    local_steps: PositiveInt = 1
    step_size: Positive = 0.1
    server_step_size: Positive = 1.0
    momentum: BelowOne = 0.5
    batch: PositiveInt = 1
    participation: Share = 1.0

    notation = {
        "tau": "local_steps", "eta": "step_size", "eta_s": "server_step_size", "beta": "momentum",
        "n": "clients", "S": "cohort_size", "R": "rounds", "L": "objective_smoothness",
        "mu": "strong_convexity", "sigma": "field_gradient_noise", "F_gap": "initial_gap",
    }  # fmt: skip

    @classmethod
    def examples(cls) -> list[Self]:
        """Return members with all clients, and with some and without momentum."""
        some = cls(local_steps=2, momentum=0.0, server_step_size=1.5, participation=0.5, batch=2)
        return [cls(local_steps=3, step_size=0.05), some]

    def init(self, ctx: Context, oracles: GradientField, start: Tensor) -> State:
        """Begin at rest."""
        x = ctx.everywhere(start)
        return State(x, x, torch.zeros_like(x))

    def anywhere(self, ctx: Context, oracles: GradientField, start: Tensor, own: Tensor) -> State:
        """Begin in any motion: the mean of ``own`` is the velocity."""
        x = ctx.everywhere(start)
        return State(x, x, *ctx.average(own))

    def step(self, ctx: Context, oracles: GradientField, state: State) -> State:
        """One local step; the last of a round is followed by the server's."""
        cohort = ctx.cohort(self.cohort_size(ctx.clients), since=ctx.t - ctx.t % self.local_steps)
        gradient = oracles.field_grad(state.w, ctx.draw(oracles.field_law(self.batch), "xi"))
        w = descended(state.w, gradient, self.step_size)
        ctx.mark("w", w)
        if (ctx.t + 1) % self.local_steps:
            return state._replace(w=w)
        (move,) = cohort.average(state.x - w)
        velocity = self.momentum * state.velocity + move
        x = state.x - self.server_step_size * velocity
        return State(x, x, velocity)
