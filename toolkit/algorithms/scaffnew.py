r"""Scaffnew: local steps with control variates, and rounds of communication by a coin."""

from __future__ import annotations

from typing import NamedTuple, Self

import torch
from torch import Tensor

from driftproof.toolkit.algorithm import Algorithm, Context, algorithm
from driftproof.toolkit.draws import CoinMean
from driftproof.toolkit.oracles import GradientField
from driftproof.toolkit.parameters import One, Positive, PositiveInt


class State(NamedTuple):
    """Each client's model and control variate h_i, [clients, dim, replicates] each."""

    w: Tensor
    control: Tensor


@algorithm(
    name="scaffnew",
    source="Mishchenko, Malinovsky, Stich & Richtárik 2022 (ProxSkip), Algorithm 2",
    statement=r"\hat x_i = x_{i,t} - \gamma(g_i(x_{i,t}) - h_{i,t}),\quad x_{i,t+1} = \tfrac1n"
    r"\sum_j \hat x_j \text{ with probability } p, \text{ else } \hat x_i,\quad"
    r" h_{i,t+1} = h_{i,t} + \tfrac p\gamma(x_{i,t+1} - \hat x_i)",
)
class Scaffnew(Algorithm):
    r"""ProxSkip where the proximal step is the clients' average.

    One coin for all clients is tossed at each step. The h_i, which start at 0, add up to 0. A point
    x* with Σ ∇f_i(x*) = 0 is a fixed point, with h_i = ∇f_i(x*), however much the clients differ.
    T counts steps, and so does the count of messages: the clients meet in pT of them on average.

    With p = 1 these are gradient steps on the mean, whose field is (x/10 − y, y − 1 + x) here:

    >>> from driftproof.synthetic.problems import QuadraticMinimax
    >>> from driftproof.toolkit.federation import run, sampled_context
    >>> problem = QuadraticMinimax(dim=1, distance=2.0, heterogeneity=0.5)
    >>> ctx = sampled_context(problem, ("doc",), replicates=1)
    >>> made = run(problem, Scaffnew(period=1), ctx, rounds=1).state
    >>> [round(number, 5) for number in made.w[0].ravel().tolist()]
    [1.98, -0.1]

    Args:
        step_size: γ.
        period: P = 1/p, the steps from one average to the next, on average.
        batch: samples a gradient.
    """

    local_steps: One = 1
    step_size: Positive = 0.1
    period: PositiveInt = 2
    batch: PositiveInt = 1

    notation = {
        "gamma": "step_size", "P": "period", "n": "clients", "T": "rounds",
        "L": "field_smoothness", "mu": "strong_convexity", "F_gap": "initial_gap",
    }  # fmt: skip

    @classmethod
    def examples(cls) -> list[Self]:
        """Return members that meet always, sometimes and seldom."""
        return [cls(period=1), cls(), cls(period=5, batch=2)]

    def init(self, ctx: Context, oracles: GradientField, start: Tensor) -> State:
        """Begin at one point, with control variates of 0."""
        w = ctx.everywhere(start)
        return State(w, torch.zeros_like(w))

    def step(self, ctx: Context, oracles: GradientField, state: State) -> State:
        """One step, and an average if the coin says so."""
        xi = ctx.draw(oracles.field_law(self.batch), "xi")
        moved = state.w - self.step_size * (oracles.field_grad(state.w, xi) - state.control)
        (w,) = ctx.average(moved)
        if self.period > 1:
            coin = ctx.server_draw(CoinMean(1, (1,), 1 / self.period), "coin", since=ctx.t)
            w = torch.where(coin > 0, w, moved)
        return State(w, state.control + (w - moved) / self.period / self.step_size)
