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

    The compressor is the sign, times the mean size, (‖v‖₁/d) sign(v), or it keeps the ``kept``
    coordinates that are largest (of equal ones the first). The virtual point x_t − (1/n) Σ e_{i,t}
    makes plain gradient steps. A message counts as d reals, as if it were not compressed.

    Where ∇F = (x_1 − 2, x_2 − 2) and γ = ½, from 0: of p = −(1, 1) the first is sent, and of
    −(½, 1 + 1) the second:

    >>> from driftproof.synthetic.problems import PiecewiseLosses
    >>> from driftproof.toolkit.federation import run, sampled_context
    >>> problem = PiecewiseLosses(
    ...     clients=1, dim=2, gradients=((((-9.0, -11.0), (9.0, 7.0)),) * 2,))
    >>> ctx = sampled_context(problem, ("doc",), replicates=1)
    >>> method = ErrorFeedback(step_size=0.5, compressor="top")
    >>> made = run(problem, method, ctx, rounds=2).state
    >>> made.w.flatten().tolist(), made.memory.flatten().tolist()
    ([1.0, 2.0], [-0.5, 0.0])

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
        rows = []
        for j in range(v.shape[1]):  # how many come before it, by size and then by number
            one, ahead = size[:, j : j + 1], torch.zeros_like(size[:, :1])
            for i in range(v.shape[1]):
                other = size[:, i : i + 1]
                before = other >= one if i < j else other > one
                ahead = ahead + torch.where(before, torch.ones_like(ahead), none[:, :1])
            rows.append(torch.where(ahead < self.kept, v[:, j : j + 1], none[:, :1]))
        return torch.cat(rows, 1)
