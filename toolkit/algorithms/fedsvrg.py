r"""FedSVRG: local steps whose gradients are corrected by the clients' mean gradient."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from driftproof.toolkit.algorithm import Algorithm, Context, algorithm
from driftproof.toolkit.around import Around, Radii
from driftproof.toolkit.oracles import GradientField
from driftproof.toolkit.parameters import Positive, PositiveInt, Share


class State(NamedTuple):
    """Model, model at the start of the round and shared gradient there, each client's."""

    x: Tensor
    x_start: Tensor
    direction: Tensor


@algorithm(
    name="fedsvrg",
    source="FedNest (2022), slides, FedSVRG, after Konečný et al. 2018",
    statement=r"x_{i,\nu+1} = x_{i,\nu} + \alpha h_{i,\nu}, \quad h_{i,\nu} = "
    r"-\nabla f_i(x_{i,\nu};\xi_{i,\nu}) + \nabla f_i(x^k;\xi_{i,\nu}) - \tfrac1m\sum_j"
    r"\nabla f_j(x^k;\xi_j), \quad x^{k+1} = \tfrac1m\sum_i x_{i,\tau}",
)
class FedSVRG(Algorithm):
    r"""Federated SVRG: two rounds of communication a k, the gradients and the models.

    One step along the field (x/10 − y, y − 1 + x), from (2, 0):

    >>> from driftproof.synthetic.problems import QuadraticMinimax
    >>> from driftproof.toolkit.federation import numbers_after
    >>> numbers_after(QuadraticMinimax(dim=1, distance=2.0), FedSVRG(step_size=0.1), "x")
    [1.98, -0.1]

    Args:
        local_steps: τ.
        step_size: α.
        batch: samples of ξ_j and of ξ_{i,ν}.
        participation: |S|/m, the share of clients sampled (uniformly) for each k.
    """

    local_steps: PositiveInt = 1
    step_size: Positive = 0.1
    batch: PositiveInt = 1
    participation: Share = 1.0

    iterate = "x"
    limits = {"own": "minimiser", "along": "zero"}
    notation = {
        "tau": "local_steps",
        "alpha": "step_size",
        "b": "batch",
        "m": "clients",
        "S": "cohort_size",
        "K": "rounds",
        "L": "objective_smoothness",
        "F_gap": "initial_gap",
        "mu": "strong_convexity",
        "ell": "field_smoothness",
        "sigma": "field_gradient_noise",
    }
    in_mean = True

    @classmethod
    def examples(cls) -> list[FedSVRG]:
        """Return members with all clients and with some."""
        return [
            cls(local_steps=3, step_size=0.05),
            cls(local_steps=2, step_size=0.05, participation=0.5, batch=2),
        ]

    def init(self, ctx: Context, oracles: GradientField, start: Tensor) -> State:
        """Every client starts at the same point."""
        x = ctx.everywhere(start)
        return State(x, x, torch.zeros_like(x))

    def anywhere(  # type: ignore[override] # one more vector that it remembers
        self, ctx: Context, oracles: GradientField, start: Tensor, own: Tensor, along: Tensor
    ) -> State:
        """Where the last round began, and its direction, are whatever they were."""
        return State(ctx.everywhere(start), *ctx.average(own, along))

    def radii(self, around: Around) -> Radii:
        r"""Steps are ``reduced`` ones, c being the cohort's mean of samples at x^k.

        So x^{k+1} is a step of ατ along the cohort's mean at x^k, off by α times what the
        differences of samples add up to.
        """
        seen = around.shared if self.participation == 1 else around
        x, size = around.start, around.size
        yield {"x": x, "x_start": x + size, "direction": 0.0, "h": 0.0}
        while True:
            direction = seen.longest(x)
            moved, off = around.reduced(self.step_size, self.local_steps, direction)
            for apart, rise in moved:
                h = rise + direction
                yield {"x": x + apart, "x_start": x + size, "direction": direction, "h": h}
            along = seen.stepped(x, self.step_size * self.local_steps) + self.step_size * off
            x = min(x + moved[-1][0], along)

    def step(self, ctx: Context, oracles: GradientField, state: State) -> State:
        """One local step; the first of a round shares the gradient, the last the model."""
        nu = ctx.t % self.local_steps
        cohort = ctx.cohort(self.cohort_size(ctx.clients), since=ctx.t - nu)
        law = oracles.field_law(self.batch)
        start, shared = state.x_start, state.direction
        if nu == 0:
            start = state.x
            (shared,) = cohort.average(oracles.field_grad(start, ctx.draw(law, "xi-shared")))
        xi = ctx.draw(law, "xi")
        h = -oracles.field_grad(state.x, xi) + oracles.field_grad(start, xi) - shared
        x = state.x + self.step_size * h
        ctx.mark("h", h)
        ctx.mark("x", x)
        if nu == self.local_steps - 1:
            (x,) = cohort.average(x)
        return State(x, start, shared)
