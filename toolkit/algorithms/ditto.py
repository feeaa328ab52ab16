r"""Ditto: a common model by FedAvg, and a personal one of each client that is drawn towards it."""

from __future__ import annotations

from typing import NamedTuple

from torch import Tensor

from driftproof.toolkit.algorithm import Algorithm, Context, algorithm, descended
from driftproof.toolkit.oracles import GradientField
from driftproof.toolkit.parameters import NonNegative, Positive, PositiveInt


class State(NamedTuple):
    """What each client holds, [clients, dim, replicates] each.

    Attributes:
        w: its copy of the common model.
        v: its personal model.
        anchor: the common model as the round began.
    """

    w: Tensor
    v: Tensor
    anchor: Tensor


@algorithm(
    name="ditto",
    source="Li, Hu, Beirami & Smith 2021 (Ditto), Algorithm 1; as compared with in ComFedL's "
    "journal version, section 5.2",
    statement=r"w_k \leftarrow w_k - \eta\nabla F_k(w_k), \quad v_k \leftarrow v_k - \eta_v\big("
    r"\nabla F_k(v_k) + \lambda(v_k - w^t)\big), \quad w^{t+1} = \tfrac1{|S_t|}\sum_{k\in S_t} w_k",
)
class Ditto(Algorithm):
    r"""Personalised learning by a proximal term: h_k(v; w) = F_k(v) + (λ/2)‖v − w‖².

    The common model is FedAvg's, draw for draw; w^t is what the server sent as the round began.
    The print makes s steps on v_k after the local steps on w_k; neither sees the other, so that
    each local step here is followed by one of them: s = τ. All clients take part.

    One step from (2, 0) along the field (x/10 − y, y − 1 + x). v starts at w^t, where the proximal
    term is 0:

    >>> from driftproof.synthetic.problems import QuadraticMinimax
    >>> from driftproof.toolkit.federation import numbers_after
    >>> problem = QuadraticMinimax(dim=1, distance=2.0)
    >>> numbers_after(problem, Ditto(personal_step_size=0.2), "w", "v")
    [1.98, -0.1, 1.96, -0.2]

    Args:
        local_steps: τ, local steps a round on w_k.
        step_size: η, of w_k.
        personal_step_size: η_v, of v_k.
        proximity: λ; with 0 every client trains alone.
        batch: samples a step, drawn apart for w_k and v_k.
    """

    local_steps: PositiveInt = 1
    step_size: Positive = 0.1
    personal_step_size: Positive = 0.1
    proximity: NonNegative = 0.1
    batch: PositiveInt = 1

    notation = {
        "tau": "local_steps",
        "eta": "step_size",
        "eta_v": "personal_step_size",
        "b": "batch",
        "lambda_": "proximity",
        "K": "clients",
        "T": "rounds",
    }

    @classmethod
    def examples(cls) -> list[Ditto]:
        """Return a weak and a strong proximal term."""
        return [
            cls(local_steps=3, step_size=0.05),
            cls(local_steps=2, step_size=0.05, batch=2, proximity=1.0),
        ]

    def init(self, ctx: Context, oracles: GradientField, start: Tensor) -> State:
        """Every model starts at the same point."""
        w = ctx.everywhere(start)
        return State(w, w, w)

    def step(self, ctx: Context, oracles: GradientField, state: State) -> State:
        """One local step on w_k and one on v_k; the last of a round is followed by the mean."""
        law = oracles.field_law(self.batch)
        w = descended(state.w, oracles.field_grad(state.w, ctx.draw(law, "xi")), self.step_size)
        xi = ctx.draw(law, "xi-personal-0")
        away = oracles.field_grad(state.v, xi) + self.proximity * (state.v - state.anchor)
        v = descended(state.v, away, self.personal_step_size)
        ctx.mark("w", w)
        ctx.mark("v", v)
        if (ctx.t + 1) % self.local_steps:
            return State(w, v, state.anchor)
        (w,) = ctx.average(w)
        return State(w, v, w)
