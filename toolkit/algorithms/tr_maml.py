r"""TR-MAML: meta-learning for the worst mixture of tasks, by ascent on the tasks' weights."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from driftproof.toolkit.algorithm import Algorithm, Context, algorithm, descended
from driftproof.toolkit.oracles import OuterLosses
from driftproof.toolkit.parameters import NonNegative, Positive, PositiveInt
from driftproof.toolkit.simplex import project_on_simplex


class State(NamedTuple):
    """What each client holds, replicates last.

    Attributes:
        w: its model, [clients, dim, replicates].
        loss: its task's sampled outer loss where the round began, [clients, 1, replicates].
        weights: the server's p over all tasks, [clients, clients, replicates].
    """

    w: Tensor
    loss: Tensor
    weights: Tensor


@algorithm(
    name="tr-maml",
    source="Collins, Mokhtari & Shakkottai 2020 (TR-MAML), Algorithm 1; as compared with in "
    "ComFedL's journal version, section 5.2",
    statement=r"w^{t+1} = w^t - \eta_w\sum_i p_i^t\nabla\hat F_i(w^t), \quad p^{t+1} = "
    r"\Pi_\Delta\big(p^t + \eta_p\,(\hat F_1(w^t), \dots, \hat F_n(w^t))\big)",
)
class TRMAML(Algorithm):
    r"""Stochastic descent-ascent on min_w max_p Σ p_i F_i(w), p in the simplex, a task a client.

    F_i is the loss of task i after its adaptation, the composition of the problem's outer function
    and inner map; one minibatch adapts the model and gives the Jacobian, another the outer loss
    and gradient. The loss of the same draws moves p.

    The print is for one machine. ComFedL's journal version trains it on clients with τ local steps,
    and does not say how p enters them. Chosen here: clients take plain local steps, their models
    are averaged with the weights p, and p climbs once a round, by the losses of the round's first
    step. The losses go with the models: one round of communication. With τ = 1 that is the print,
    draw for draw.

    A large η_p puts all weight on the task whose loss is larger:

    >>> from driftproof.synthetic.problems import MAML
    >>> from driftproof.toolkit.federation import numbers_after
    >>> numbers_after(MAML(dim=1), TRMAML(weight_step=10.0), "w", "weights")
    [0.049, 1.0, 0.0]

    Args:
        local_steps: τ.
        step_size: η_w.
        weight_step: η_p (8·10⁻² in ComFedL's journal version).
        batch: samples of an adaptation.
        outer_batch: samples of an outer loss.
    """

    local_steps: PositiveInt = 1
    step_size: Positive = 0.1
    weight_step: NonNegative = 0.08
    batch: PositiveInt = 1
    outer_batch: PositiveInt = 1

    needs = "outer-losses"
    notation = {
        "tau": "local_steps",
        "eta_w": "step_size",
        "eta_p": "weight_step",
        "n": "clients",
        "S": "rounds",
        "T": "steps",
    }

    @classmethod
    def examples(cls) -> list[TRMAML]:
        """Return a member with local steps, and one with minibatches."""
        return [
            cls(local_steps=3, step_size=0.05),
            cls(local_steps=2, step_size=0.05, batch=2, outer_batch=3),
        ]

    def init(self, ctx: Context, oracles: OuterLosses, start: Tensor) -> State:
        """Every client starts at the same point, and p is uniform."""
        w = ctx.everywhere(start)
        weights = ctx.everywhere(torch.full((ctx.clients,), 1.0 / ctx.clients))
        return State(w, w.new_zeros((w.shape[0], 1, w.shape[2])), weights)

    def step(self, ctx: Context, oracles: OuterLosses, state: State) -> State:
        """One local step; the last of a round is followed by the average and the step on p."""
        y, pullback = oracles.inner(state.w, ctx.draw(oracles.inner_law(self.batch), "xi"))
        zeta = ctx.draw(oracles.outer_law(self.outer_batch), "zeta")
        loss = state.loss
        if ctx.t % self.local_steps == 0:
            loss = oracles.outer_batch_value(y, zeta)[:, None]
        u = pullback(oracles.outer_grad(y, zeta))
        w = descended(state.w, u, self.step_size)
        ctx.mark("u", u)
        ctx.mark("w", w)
        if (ctx.t + 1) % self.local_steps:
            return State(w, loss, state.weights)
        unit = ctx.own(torch.eye(ctx.clients, dtype=loss.dtype, device=loss.device)[..., None])
        own = ctx.clients * (unit * state.weights).sum(1, keepdim=True)  # n·p_i
        w, losses = ctx.average(own * w, unit * loss)
        climbed = state.weights[0] + self.weight_step * ctx.clients * losses[0]
        return State(w, loss, project_on_simplex(climbed).expand_as(state.weights))
