r"""SCAFFOLD: local steps that control variates correct for what sets a client apart."""

from __future__ import annotations

from itertools import count
from typing import Literal, NamedTuple

import torch
from torch import Tensor

from driftproof.toolkit.algorithm import Algorithm, Context, algorithm, descended
from driftproof.toolkit.around import Around, Radii
from driftproof.toolkit.draws import Subset
from driftproof.toolkit.oracles import GradientField
from driftproof.toolkit.parameters import Positive, PositiveInt, Share


class State(NamedTuple):
    """What each client holds, [clients, dim, replicates] each.

    Attributes:
        y: its own model; as a round begins, the server's.
        x: the server's model.
        own_control: its own control variate c_i, near its gradient.
        control: the server's control variate c, near the mean gradient.
    """

    y: Tensor
    x: Tensor
    own_control: Tensor
    control: Tensor


@algorithm(
    name="scaffold",
    source="Karimireddy, Kale, Mohri, Reddi, Stich & Suresh 2020 (SCAFFOLD), Algorithm 1",
    statement=r"y_i \leftarrow y_i - \eta_l\big(g_i(y_i) - c_i + c\big), \quad c_i^+ = g_i(x)"
    r"\text{ or } c_i - c + \tfrac{1}{K\eta_l}(x - y_i), \quad x \leftarrow x + \tfrac{\eta_g}{|S|}"
    r"\sum_{i\in S}(y_i - x), \quad c \leftarrow c + \tfrac1N\sum_{i\in S}(c_i^+ - c_i)",
)
class Scaffold(Algorithm):
    r"""Stochastic controlled averaging, Algorithm 1 of its paper.

    Each local step adds c − c_i, the mean gradient less the client's own as they were when last
    seen. So a point where Σ ∇f_i = 0 is a fixed point (with c_i = ∇f_i there, c = 0), however much
    the clients differ; FedAvg's depends on it. All control variates start at 0, so that c stays
    the mean of the c_i, and the first round is FedAvg's if η_g = 1.

    A client that is not sampled keeps its c_i. One message a client and round: its move y_i − x and
    its c_i^+ − c_i, 2d reals.

    Two steps from (2, 0), where client 1 has the field (x/10 − 3y/2, y − 3/2 + 3x/2) and client 2
    (x/10 − y/2, y − 1/2 + x/2). Client 1 meets (0.2, 1.5), then (0.423, 1.32) at (1.98, −0.15), and
    by option II c_1 is their mean:

    >>> from driftproof.synthetic.problems import QuadraticMinimax
    >>> from driftproof.toolkit.federation import numbers_after
    >>> problem = QuadraticMinimax(dim=1, distance=2.0, heterogeneity=0.5)
    >>> numbers_after(problem, Scaffold(local_steps=2, step_size=0.1), "own_control")
    [0.3115, 1.41]

    Args:
        local_steps: K.
        step_size: η_l, of a local step.
        server_step_size: η_g, what the server multiplies the mean move by.
        control: c_i^+ is "gradient" g_i(x), of a minibatch of its own (option I), or
            "steps", the mean of the gradients that the local steps met (option II).
        batch: samples a gradient.
        participation: |S|/N, the share of clients sampled (uniformly) each round.
    """

    local_steps: PositiveInt = 1
    step_size: Positive = 0.1
    server_step_size: Positive = 1.0
    control: Literal["gradient", "steps"] = "steps"
    batch: PositiveInt = 1
    participation: Share = 1.0

    iterate = "y"
    limits = {"own": "gradient"}
    notation = {
        "K": "local_steps",
        "eta_l": "step_size",
        "eta_g": "server_step_size",
        "N": "clients",
        "S": "cohort_size",
        "R": "rounds",
        "b": "batch",
        "beta": "objective_smoothness",
        "mu": "strong_convexity",
        "sigma": "field_gradient_noise",
        "F_gap": "initial_gap",
    }
    in_mean = True

    @classmethod
    def examples(cls) -> list[Scaffold]:
        """Return members of both options, with all clients and with some."""
        return [
            cls(local_steps=3, step_size=0.05),
            cls(local_steps=2, step_size=0.05, control="gradient", server_step_size=1.5),
            cls(local_steps=2, step_size=0.05, participation=0.5, batch=2),
        ]

    def init(self, ctx: Context, oracles: GradientField, start: Tensor) -> State:
        """Every client starts at the same point, with control variates of 0."""
        x = ctx.everywhere(start)
        none = torch.zeros_like(x)
        return State(x, x, none, none)

    def anywhere(self, ctx: Context, oracles: GradientField, start: Tensor, own: Tensor) -> State:
        """As a round begins, c is the mean of the c_i, whatever these are."""
        x = ctx.everywhere(start)
        (control,) = ctx.average(own)
        return State(x, x, own, control)

    def radii(self, around: Around) -> Radii:
        r"""Local steps have ``drifted``: let each c_i be within d of G_i(z), c is the mean of all.

        So ‖G_i(x) − c_i + c‖ ≤ ‖Ḡ(z)‖ + ℓ‖x − z‖ + 2d. A new c_i, of either option, is a mean of
        gradients that the round met; the first is 0; a client that is left out keeps its own.
        x moves by η_g times the mean move. If all take part, c_i and c cancel in it: it is a step
        of η_gη_lK along Ḡ(x), off by η_gη_l Σ_k ‖G_i(y_k) − G_i(x)‖. Its noise is a mean of the
        steps' own, each of mean 0 whatever came before: it is one sample's at most, and new.
        """
        shared, eta, of_server = around.shared, self.step_size, self.server_step_size
        x, far, error = around.start, around.start, around.slope
        for t in count():
            yield {
                "y": far,
                "x": x + around.size,
                "own_control": min(around.slope + error, around.largest),
                "control": min(shared.slope + error, around.largest),
            }
            if t % self.local_steps == 0:
                push = shared.slope + shared.rise(x) + 2 * error
                apart = total = 0.0
            total, met = total + apart, 0.0 if self.control == "gradient" else apart
            apart = shared.drifted(apart, eta, push)
            far = x + apart
            if (t + 1) % self.local_steps == 0:
                new = shared.rise(x + met) + shared.noise
                error = new if self.participation == 1 else max(new, error)
                after = x + of_server * apart
                if self.participation == 1:
                    along = shared.stepped(x, of_server * eta * self.local_steps)
                    after = min(after, along + of_server * eta * shared.rise(total))
                x, far = after, max(after, far)

    def step(self, ctx: Context, oracles: GradientField, state: State) -> State:
        """One local step; the last of a round is followed by the server's."""
        first = ctx.t - ctx.t % self.local_steps
        size, law = self.cohort_size(ctx.clients), oracles.field_law(self.batch)
        cohort = ctx.cohort(size, since=first)
        gradient = oracles.field_grad(state.y, ctx.draw(law, "xi"))
        corrected = gradient - state.own_control + state.control
        y = descended(state.y, corrected, self.step_size)
        ctx.mark("y", y)
        if (ctx.t + 1) % self.local_steps:
            return state._replace(y=y)
        if self.control == "gradient":
            new_control = oracles.field_grad(state.x, ctx.draw(law, "xi-control"))
        else:  # divided twice: a product of the two would be rounded
            met = (state.x - y) / self.step_size / self.local_steps
            new_control = state.own_control - state.control + met
        moved, changed = cohort.average(y - state.x, new_control - state.own_control)
        if size < ctx.clients:  # the cohort's own draw: its members alone have a new c_i
            chosen = ctx.own(ctx.server_draw(Subset(ctx.clients, size), "cohort", since=first))
            new_control = torch.where(chosen[:, None] > 0, new_control, state.own_control)
        x = state.x + self.server_step_size * moved
        return State(x, x, new_control, state.control + changed * size / ctx.clients)
