r"""FedProx: local gradient steps that a proximal term draws back to the round's start."""

from __future__ import annotations

from itertools import count
from typing import Literal

from torch import Tensor

from driftproof.toolkit.algorithm import Context, algorithm, descended
from driftproof.toolkit.algorithms._one_model import Anchored, WithAnchor
from driftproof.toolkit.algorithms.fedavg import FedAvg
from driftproof.toolkit.around import Around, Radii
from driftproof.toolkit.oracles import GradientField
from driftproof.toolkit.parameters import NonNegative, Positive, PositiveInt, Share


@algorithm(
    name="fedprox",
    source="Li, Sahu, Zaheer, Sanjabi, Talwalkar & Smith 2020 (FedProx), Algorithm 2, its inexact "
    "local solutions by gradient steps",
    statement=r"w_k \leftarrow w_k - \eta\big(\nabla F_k(w_k) + \mu(w_k - w^t)\big),\quad "
    r"w^{t+1} = \tfrac1{|S_t|}\sum_{k\in S_t} w_k",
)
class FedProx(WithAnchor):
    r"""Local SGD with a proximal term that draws back to the round's start, then an average.

    Its steps are on h_k(w; w^t) = F_k(w) + (μ/2)‖w − w^t‖², w^t being the start of round t.
    The paper asks for any γ-inexact minimiser of h_k, its experiments for E epochs of SGD: here τ
    steps. The norm is squared. With μ = 0, or one local step, it is FedAvg, draw for draw.

    Two steps of 1/10 from (2, 0) along the field (x/10 − y, y − 1 + x), with μ = 1. At the second,
    from (1.98, −0.1), the field is (0.298, 0.88) and the proximal term adds (−0.02, −0.1):

    >>> from driftproof.synthetic.problems import QuadraticMinimax
    >>> from driftproof.toolkit.federation import numbers_after
    >>> problem = QuadraticMinimax(dim=1, distance=2.0)
    >>> numbers_after(problem, FedProx(local_steps=2, proximity=1.0), "w")
    [1.9522, -0.178]

    Args:
        local_steps: τ, local steps a round.
        step_size: η.
        proximity: μ, the weight of the proximal term.
        batch: b, samples a step.
        participation: |S_t|/n, the share of clients sampled (uniformly) each round.
        weighting: "uniform", or "samples" (a client's share is that of its number of samples).
    """

    local_steps: PositiveInt = 1
    step_size: Positive = 0.1
    proximity: NonNegative = 0.1
    batch: PositiveInt = 1
    participation: Share = 1.0
    weighting: Literal["uniform", "samples"] = "uniform"

    notation = {**FedAvg.notation, "mu": "proximity"}
    in_mean = True

    @classmethod
    def examples(cls) -> list[FedProx]:
        """Return a weak and a strong proximal term, with all clients and with some."""
        return [
            cls(local_steps=3, step_size=0.05),
            cls(local_steps=2, step_size=0.05, proximity=2.0, participation=0.5, batch=2),
        ]

    def anywhere(
        self, ctx: Context, oracles: GradientField, start: Tensor, own: Tensor
    ) -> Anchored:
        """Every client has the same point as a round begins."""
        return self.init(ctx, oracles, start)

    def radii(self, around: Around) -> Radii:
        """Let h = ημ: w − ηg − h(w − w^t) is (1 − h)(w − ηg/(1 − h)) + hw^t if h < 1.

        So it is between a longer step along the client's field and the round's start.
        """
        eta, h = self.step_size, self.step_size * self.proximity
        w = anchor = around.start
        for t in count(1):
            yield {"w": w, "anchor": anchor + around.size}
            after = around.stepped(w, eta) + h * (w + anchor)
            if h < 1:
                after = min(after, (1 - h) * around.stepped(w, eta / (1 - h)) + h * anchor)
            w = after
            if t % self.local_steps == 0:
                anchor = w

    def step(self, ctx: Context, oracles: GradientField, state: Anchored) -> Anchored:
        """One local step; the last of a round is followed by the average."""
        cohort = ctx.cohort(self.cohort_size(ctx.clients), since=ctx.t - ctx.t % self.local_steps)
        xi = ctx.draw(oracles.field_law(self.batch), "xi")
        pull = self.proximity * (state.w - state.anchor)
        w = descended(state.w, oracles.field_grad(state.w, xi) + pull, self.step_size)
        ctx.mark("w", w)
        if (ctx.t + 1) % self.local_steps:
            return Anchored(w, state.anchor)
        weights = oracles.client_weights if self.weighting == "samples" else None
        (w,) = cohort.average(w, weights=weights)
        return Anchored(w, w)
