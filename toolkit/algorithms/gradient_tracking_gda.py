r"""FedGDA-GT: local descent-ascent steps that track the mean gradient."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from driftproof.toolkit.algorithm import Algorithm, Context, algorithm, descended
from driftproof.toolkit.oracles import GradientField
from driftproof.toolkit.parameters import Positive, PositiveInt


class State(NamedTuple):
    """What each client holds, [clients, dim, replicates] each.

    Attributes:
        z: its (x, y).
        correction: the mean field less its own, both where the round began.
    """

    z: Tensor
    correction: Tensor


@algorithm(
    name="gradient-tracking-gda",
    source="Sun & Wei 2022 (FedGDA-GT), in our words and without its projections",
    statement=r"z_{i,k+1} = z_{i,k} - \eta\big(G_i(z_{i,k}) - G_i(z^t) + \tfrac1m\sum_j G_j(z^t)"
    r"\big), \quad z^{t+1} = \tfrac1m\sum_i z_{i,K}, \quad G_i = (\nabla_x f_i, -\nabla_y f_i)",
)
class GradientTrackingGDA(Algorithm):
    r"""Federated gradient descent-ascent with gradient tracking on z = (x, y).

    Every client takes its exact gradients: the method has no noise, and on a noisy problem asks
    for expectations. A point where Σ G_i = 0 is a fixed point, however much the clients differ, at
    a constant step; that of local descent-ascent (FedAvg on this field) depends on it. On losses
    G_i = ∇f_i, and this is local gradient descent with tracking.

    Without noise FedSVRG makes the same steps; here G_i(z^t) is asked once a round and kept as a
    correction. The source speaks of one round of communication a t. It has two exchanges, and
    ``rounds`` counts both: the gradients at z^t, then the models, d reals each.

    Two steps from (2, 0), where client 1 has the field (x/10 − 3y/2, y − 3/2 + 3x/2), client 2
    (x/10 − y/2, y − 1/2 + x/2). Both go along the mean (0.2, 1) to (1.98, −0.1). There the fields
    are (0.348, 1.37) and (0.248, 0.39); corrected by (0, ∓½), (0.348, 0.87) and (0.248, 0.89):

    >>> from driftproof.synthetic.problems import QuadraticMinimax
    >>> from driftproof.toolkit.federation import numbers_after
    >>> problem = QuadraticMinimax(dim=1, distance=2.0, heterogeneity=0.5)
    >>> numbers_after(problem, GradientTrackingGDA(local_steps=2, step_size=0.1), "z")
    [1.9502, -0.188]

    Args:
        local_steps: K.
        step_size: η, of x and of y.
    """

    local_steps: PositiveInt = 1
    step_size: Positive = 0.1

    iterate = "z"
    limits = {"own": "gradient"}
    notation = {
        "K": "local_steps",
        "eta": "step_size",
        "m": "clients",
        "T": "rounds",
        "L": "field_smoothness",
        "F_gap": "initial_gap",
    }

    @classmethod
    def examples(cls) -> list[GradientTrackingGDA]:
        """Return members with one local step and with several."""
        return [cls(local_steps=3, step_size=0.05), cls()]

    def init(self, ctx: Context, oracles: GradientField, start: Tensor) -> State:
        """Every client starts at the same point."""
        z = ctx.everywhere(start)
        return State(z, torch.zeros_like(z))

    def anywhere(self, ctx: Context, oracles: GradientField, start: Tensor, own: Tensor) -> State:
        """As a round begins, the corrections of the last one, which add up to 0."""
        return State(ctx.everywhere(start), ctx.average(own)[0] - own)

    def step(self, ctx: Context, oracles: GradientField, state: State) -> State:
        """One local step; the first of a round shares the gradients, the last the models."""
        k, correction = ctx.t % self.local_steps, state.correction
        gradient = oracles.field_grad(state.z, None)
        if k == 0:
            (mean,) = ctx.average(gradient)
            correction = mean - gradient
        z = descended(state.z, gradient + correction, self.step_size)
        ctx.mark("z", z)
        if k == self.local_steps - 1:
            (z,) = ctx.average(z)
        return State(z, correction)
