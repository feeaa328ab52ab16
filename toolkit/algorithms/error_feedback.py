r"""Error feedback: compressed messages, with a memory of what they left out."""

from __future__ import annotations

from typing import Literal, NamedTuple, Self

import torch
from torch import Tensor

from driftproof.toolkit.algorithm import Algorithm, Context, algorithm
from driftproof.toolkit.oracles import GradientField
from driftproof.toolkit.parameters import One, Positive, PositiveInt


class State(NamedTuple):
    """The model, and what each client has not sent yet, [clients, dim, replicates] each."""

    w: Tensor
    memory: Tensor


@algorithm(
    name="error-feedback",
    source="Karimireddy, Rebjock, Stich & Jaggi 2019, EF-SGD; of several clients each has a memory "
    "of its own, as in Seide et al. 2014",
    statement=r"p_i = \gamma g_i(x_t) + e_{i,t},\quad x_{t+1} = x_t - \tfrac1n\sum_i"
    r"\mathcal C(p_i),\quad e_{i,t+1} = p_i - \mathcal C(p_i)",
)
class ErrorFeedback(Algorithm):
    r"""Stochastic gradient steps that are sent compressed; what is left out is sent later.

    The compressor is the sign, times the mean size, (‖v‖₁/d) sign(v), or it keeps the coordinates
    than which fewer than ``kept`` are larger. The virtual point x_t − (1/n) Σ e_{i,t} makes plain
    gradient steps. A message counts as d reals, as if it were not compressed.

    From 0 along the field (x/10 − y, y − 1 + x) with γ = ½: of p = (0, −½) the second is sent, and
    of (−¼, −¼) at (0, ½) both:

    >>> from driftproof.synthetic.problems import QuadraticMinimax
    >>> from driftproof.toolkit.federation import run, sampled_context
    >>> problem = QuadraticMinimax(clients=1, dim=1, distance=0.0)
    >>> ctx = sampled_context(problem, ("doc",), replicates=1)
    >>> method = ErrorFeedback(step_size=0.5, compressor="top")
    >>> run(problem, method, ctx, rounds=2).state.w.flatten().tolist()
    [0.25, 0.75]

    Args:
        step_size: γ.
        compressor: "sign" or "top".
        kept: k, the coordinates that "top" keeps.
        batch: samples a gradient.
    """

    local_steps: One = 1
    step_size: Positive = 0.1
    compressor: Literal["sign", "top"] = "sign"
    kept: PositiveInt = 1
    batch: PositiveInt = 1

    notation = {
        "gamma": "step_size", "n": "clients", "T": "rounds", "L": "objective_smoothness",
        "mu": "strong_convexity", "sigma": "field_gradient_bound", "F_gap": "initial_gap",
    }  # fmt: skip

    @classmethod
    def examples(cls) -> list[Self]:
        """Return a member of each compressor."""
        return [cls(), cls(compressor="top", batch=2)]

    def init(self, ctx: Context, oracles: GradientField, start: Tensor) -> State:
        """Nothing is left out yet."""
        w = ctx.everywhere(start)
        return State(w, torch.zeros_like(w))

    def step(self, ctx: Context, oracles: GradientField, state: State) -> State:
        """One compressed message of each client."""
        xi = ctx.draw(oracles.field_law(self.batch), "xi")
        whole = self.step_size * oracles.field_grad(state.w, xi) + state.memory
        sent = self.compressed(whole)
        (move,) = ctx.average(sent)
        return State(state.w - move, whole - sent)

    def compressed(self, v: Tensor) -> Tensor:
        """Return C(v), of v [clients, dim, replicates]."""
        size, none = v.abs(), torch.zeros_like(v)
        if self.compressor == "sign":
            mean = size.mean(1, keepdim=True).expand_as(v)
            return torch.where(v > 0, mean, torch.where(v < 0, -mean, none))
        larger = size[:, None] > size[:, :, None]
        one = torch.ones_like(v)[:, None].expand(-1, v.shape[1], -1, -1)
        return torch.where(torch.where(larger, one, one - one).sum(2) < self.kept, v, none)
