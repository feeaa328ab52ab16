r"""DRFL: distributionally robust federated averaging, by ascent on the clients' weights."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from driftproof.toolkit.algorithm import Algorithm, Context, algorithm, descended
from driftproof.toolkit.algorithms._one_model import LETTERS
from driftproof.toolkit.draws import Indices, Subset, Uniforms
from driftproof.toolkit.oracles import Losses
from driftproof.toolkit.parameters import NonNegative, NonNegativeInt, Positive, PositiveInt
from driftproof.toolkit.simplex import project_on_simplex


class State(NamedTuple):
    """What each client holds, replicates last.

    Attributes:
        w: its model, [clients, dim, replicates].
        snapshot: its model after the round's randomly chosen step t', the same shape.
        weights: the server's λ over all clients, [clients, clients, replicates].
    """

    w: Tensor
    snapshot: Tensor
    weights: Tensor


@algorithm(
    name="drfl",
    source="Deng, Kamani & Mahdavi 2020 (DRFA), Algorithm 1; ComFedL's papers call it DRFL",
    statement=r"\bar w_{s+1} = \tfrac1m\sum_{i\in D_s} w^i_{s,\tau},\; D_s\sim\lambda_s;\quad "
    r"\lambda_{s+1} = \Pi_\Delta\big(\lambda_s + \tau\gamma v\big),\; "
    r"v_i = \tfrac nm f_i(w_{s,t'};\xi),\; i\in U_s",
)
class DRFL(Algorithm):
    r"""Local SGD on clients drawn from λ; λ climbs the losses of a model within the round.

    Each round the server draws m clients with replacement from λ, which take τ local steps from the
    average; their models after a uniform step t' ∈ {1, …, τ} are averaged as well, and m clients
    drawn uniformly without replacement report its loss on a minibatch, which moves λ.

    A large γ puts all weight on the client whose loss is larger:

    >>> from driftproof.synthetic.problems import KLDRO
    >>> from driftproof.toolkit.federation import numbers_after
    >>> numbers_after(KLDRO(clients=2, form="average"), DRFL(weight_step=1e3), "weights")
    [1.0, 0.0]

    Args:
        local_steps: τ.
        step_size: η.
        batch: samples a step, and samples of a reported loss.
        weight_step: γ, the step of λ (8·10⁻² in ComFedL's papers).
        cohort: m, clients drawn each round (0: as many as there are).
    """

    local_steps: PositiveInt = 1
    step_size: Positive = 0.1
    batch: PositiveInt = 1
    weight_step: NonNegative = 0.08
    cohort: NonNegativeInt = 0

    needs = "losses"
    notation = LETTERS | {"gamma": "weight_step"}

    @classmethod
    def examples(cls) -> list[DRFL]:
        """Return members that draw all clients and one."""
        return [
            cls(local_steps=3, step_size=0.05),
            cls(local_steps=2, step_size=0.05, weight_step=1.0, cohort=1, batch=2),
        ]

    def cohort_size(self, clients: int) -> int:
        """Return m."""
        return min(self.cohort, clients) or clients

    def init(self, ctx: Context, oracles: Losses, start: Tensor) -> State:
        """Every client starts at the same point, and λ is uniform."""
        w = ctx.everywhere(start)
        return State(w, w, ctx.everywhere(torch.full((ctx.clients,), 1.0 / ctx.clients)))

    def step(self, ctx: Context, oracles: Losses, state: State) -> State:
        """One local step; the last of a round is followed by the server's two updates."""
        first = ctx.t - ctx.t % self.local_steps
        xi = ctx.draw(oracles.field_law(self.batch), "xi")
        w = descended(state.w, oracles.field_grad(state.w, xi), self.step_size)
        ctx.mark("w", w)
        at = ctx.server_draw(Indices((self.local_steps,), 1), "snapshot", since=first)
        snapshot = torch.where(at[None] == ctx.t - first, w, state.snapshot)
        if (ctx.t + 1) % self.local_steps:
            return State(w, snapshot, state.weights)
        drawn = self._drawn(ctx, state.weights[0], first)
        w, snapshot = ctx.average(w, snapshot, weights=ctx.own(drawn[:, None]))
        return State(w, snapshot, self._climbed(ctx, oracles, snapshot, state.weights, first))

    def _drawn(self, ctx: Context, weights: Tensor, first: int) -> Tensor:
        """Return how often each client was drawn from λ, [clients, replicates]."""
        size = self.cohort_size(ctx.clients)
        points = ctx.server_draw(Uniforms(size), "drawn", since=first)
        ends = weights.cumsum(0)[:-1]  # the last client takes what rounding leaves
        chosen = (points[:, None] >= ends).sum(1)
        counts: Tensor = torch.nn.functional.one_hot(chosen, ctx.clients).sum(0).T
        return counts.to(weights)

    def _climbed(
        self, ctx: Context, oracles: Losses, at: Tensor, weights: Tensor, first: int
    ) -> Tensor:
        """Return Π(λ + τγv): v has the reported losses of m clients, times n/m."""
        size = self.cohort_size(ctx.clients)
        reports = ctx.server_draw(Subset(ctx.clients, size), "reporting", since=first)
        loss = oracles.batch_loss(at, ctx.draw(oracles.field_law(self.batch), "xi-loss"))
        unit = ctx.own(torch.eye(ctx.clients, dtype=at.dtype, device=at.device)[..., None])
        (mean,) = ctx.average(unit * loss[:, None] * reports)
        v = ctx.clients * (ctx.clients / size) * mean[0]
        moved = project_on_simplex(weights[0] + self.local_steps * self.weight_step * v)
        return moved.expand_as(weights)
