r"""FedAvg with step sizes that decay like 1/t, and two ways to sample clients."""

from __future__ import annotations

from itertools import count
from typing import Literal

import torch

from driftproof.toolkit.algorithm import Context, algorithm, descended
from driftproof.toolkit.algorithms._one_model import OneModel, State
from driftproof.toolkit.around import Around, Radii
from driftproof.toolkit.draws import Indices
from driftproof.toolkit.oracles import GradientField
from driftproof.toolkit.parameters import NonNegativeInt, Positive, PositiveInt


@algorithm(
    name="decaying-fedavg",
    source="Li, Huang, Yang, Wang & Zhang 2020, section 3 (all clients, Scheme I and Scheme II)",
    statement=r"w_{t+1}^k = w_t^k - \eta_t\nabla F_k(w_t^k;\xi_t^k),\; "
    r"\eta_t = \frac{\beta}{\gamma+t},\quad "
    r"w_{t+1} = \tfrac1K\sum_{k\in\mathcal{S}_t} w_{t+1}^k \text{ after each } E \text{ steps}",
)
class DecayingFedAvg(OneModel):
    r"""Local SGD whose t-th step, counted from 1, has the size β/(γ + t); p_k = 1/N.

    With E = 1, β = 4 and γ = 7 the first step is of ½. Along (x/10 − y, y − 1 + x), from (2, 0):

    >>> from driftproof.synthetic.problems import QuadraticMinimax
    >>> from driftproof.toolkit.federation import numbers_after
    >>> problem = QuadraticMinimax(dim=1, distance=2.0)
    >>> numbers_after(problem, DecayingFedAvg(step_numerator=4.0, step_offset=7.0), "w")
    [1.9, -0.5]

    Args:
        local_steps: E.
        step_numerator: β.
        step_offset: γ.
        batch: samples a step.
        cohort: K, clients whose models are averaged (0: all of them).
        replacement: whether they are drawn with replacement, uniformly (Scheme I), or without
            (Scheme II). Every client takes its steps, as in the paper's analysis.
    """

    local_steps: PositiveInt = 1
    step_numerator: Positive = 2.0
    step_offset: Positive = 8.0
    batch: PositiveInt = 1
    cohort: NonNegativeInt = 0
    replacement: Literal["with", "without"] = "without"

    notation = {
        "E": "local_steps",
        "beta": "step_numerator",
        "gamma": "step_offset",
        "N": "clients",
        "K": "cohort_size",
        "S": "rounds",
        "mu": "strong_convexity",
    }
    in_mean = True

    @classmethod
    def examples(cls) -> list[DecayingFedAvg]:
        """Return a member for each way of sampling."""
        return [
            cls(local_steps=3),
            cls(local_steps=2, cohort=1, batch=2),
            cls(local_steps=2, cohort=2, replacement="with"),
        ]

    def cohort_size(self, clients: int) -> int:
        """Return K, at most all clients."""
        return min(self.cohort, clients) or clients

    def radii(self, around: Around) -> Radii:
        """As of FedAvg, with the step size of each step."""
        sizes = (self.step_numerator / (self.step_offset + t) for t in count(1))
        return ({"w": w} for w in around.descent(sizes))

    def step(self, ctx: Context, oracles: GradientField, state: State) -> State:
        """One local step; the last of a round is followed by the average."""
        first, size = ctx.t - ctx.t % self.local_steps, self.cohort_size(ctx.clients)
        xi = ctx.draw(oracles.field_law(self.batch), "xi")
        step_size = self.step_numerator / (self.step_offset + (ctx.t + 1))
        w = descended(state.w, oracles.field_grad(state.w, xi), step_size)
        ctx.mark("w", w)
        if (ctx.t + 1) % self.local_steps:
            return State(w)
        if self.replacement == "without":
            (w,) = ctx.cohort(size, since=first).average(w)
            return State(w)
        drawn = ctx.server_draw(Indices((ctx.clients,), size), "drawn", since=first)
        counts = torch.nn.functional.one_hot(drawn, ctx.clients).sum(0).T  # [clients, replicates]
        (w,) = ctx.average(w, weights=ctx.own(counts[:, None]).to(w.dtype))
        return State(w)
