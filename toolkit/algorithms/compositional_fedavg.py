r"""FedAvg for compositions: models shared every I steps, embeddings never, then too, or always."""

from __future__ import annotations

from typing import Literal, NamedTuple

from torch import Tensor

from driftproof.toolkit.algorithm import Algorithm, Context, algorithm
from driftproof.toolkit.oracles import Composition
from driftproof.toolkit.parameters import NonNegative, Positive, PositiveInt


class State(NamedTuple):
    """Model and embedding of each client, [clients, …, replicates] each."""

    x: Tensor
    y: Tensor


@algorithm(
    name="compositional-fedavg",
    source="FedDRO (2023), Algorithm 1 and Theorem 4.2",
    statement=r"x_k^{t+1} = x_k^t - \eta^t\nabla g_k(x_k^t)\nabla f(y_k^t),\quad "
    r"y_k^{t+1} = g_k(x_k^{t+1})",
)
class CompositionalFedAvg(Algorithm):
    r"""Vanilla FedAvg for compositions, Algorithm 1 of FedDRO, and its modification in Theorem 4.2.

    The oracles are asked for expectations: FedDRO states the algorithm without noise.

    One step of size 0.1 at x = ¼, g_1 = 2x, g_2 = 1 − x, f'(y) = y. With ȳ shared it is along
    Φ' = (x + 1)/4 = 0.3125; "case-1" goes along (2g_1 − g_2)/2 = ⅛, to 0.2375:

    >>> from driftproof.synthetic.problems import BiasAmplification
    >>> from driftproof.toolkit.federation import numbers_after
    >>> numbers_after(BiasAmplification(), CompositionalFedAvg(local_steps=1), "x")
    [0.21875]

    Args:
        local_steps: I.
        step_size: η^t at t = 0, I, 2I …, and elsewhere too unless ``decay`` says otherwise.
        sharing: "case-1" shares x every I steps; "case-2" shares x and the embeddings y_k = g_k(x̄)
            then; "every-step" shares the embeddings at each step (Theorem 4.2).
        decay: 0: one step size. Above 0: η^t = step_size/(1 + t)^decay at the steps between
            synchronisations, and step_size at each first step after one.
    """

    local_steps: PositiveInt = 2
    step_size: Positive = 0.1
    sharing: Literal["case-1", "case-2", "every-step"] = "case-2"
    decay: NonNegative = 0.0

    needs = "composition"
    iterate = "x"
    notation = {
        "I": "local_steps",
        "eta": "step_size",
        "K": "clients",
        "T": "steps",
        "B_g": "inner_gradient_moment",
        "B_f": "outer_gradient_bound",
        "L_g": "inner_mean_smoothness",
        "L_f": "outer_smoothness",
        "Delta_g": "inner_gradient_heterogeneity",
        "L_Phi": "objective_smoothness",
        "Phi_gap": "initial_gap",
    }

    @classmethod
    def examples(cls) -> list[CompositionalFedAvg]:
        """Return a member for each way of sharing, and one with decaying steps."""
        return [
            cls(local_steps=3, sharing="case-1"),
            cls(local_steps=3, decay=1.0),
            cls(local_steps=3, sharing="every-step"),
        ]

    def step_size_at(self, t: int) -> float:
        """Return η^t."""
        if not self.decay or t % self.local_steps == 0:
            return self.step_size
        slower: float = (1 + t) ** self.decay
        return self.step_size / slower

    def init(self, ctx: Context, oracles: Composition, start: Tensor) -> State:
        """x_k⁰ = x̄⁰, and y_k⁰ = g_k(x̄⁰), averaged in the first step if embeddings are shared."""
        x = ctx.everywhere(start)
        y, _ = oracles.inner(x, None)
        return State(x, y)

    def step(self, ctx: Context, oracles: Composition, state: State) -> State:
        """Lines 4–10: y_k⁰ = ȳ⁰ is shared before the first step."""
        y = state.y
        if self.sharing == "every-step" or (ctx.t == 0 and self.sharing == "case-2"):
            (y,) = ctx.average(y)
        _, pullback = oracles.inner(state.x, None)
        u = pullback(oracles.outer_grad(y, None))
        x = state.x - self.step_size_at(ctx.t) * u
        ctx.mark("y", y)
        ctx.mark("u", u)
        ctx.mark("x", x)
        synchronise = (ctx.t + 1) % self.local_steps == 0
        if synchronise:
            (x,) = ctx.average(x)
        y, _ = oracles.inner(x, None)
        if synchronise and self.sharing == "case-2":
            (y,) = ctx.average(y)
        return State(x, y)
