r"""FedDRO: low-dimensional embeddings shared every step, models every I steps."""

from __future__ import annotations

from typing import Literal, NamedTuple, Self

from torch import Tensor

from driftproof.toolkit.algorithm import Algorithm, Context, algorithm
from driftproof.toolkit.around import Around, Radii
from driftproof.toolkit.oracles import Composition
from driftproof.toolkit.parameters import NonNegative, Positive, PositiveInt, Share


class State(NamedTuple):
    """Model, previous model and shared embedding, [clients, …, replicates] each."""

    x: Tensor
    x_previous: Tensor
    y: Tensor


@algorithm(
    name="feddro",
    source="FedDRO (2023), Algorithm 2",
    statement=r"y_k^t = (1-\beta)\big(\bar y^{t-1} - g_k(x_k^{t-1};b_g)\big) + g_k(x_k^t;b_g),"
    r"\quad \bar y^t = \tfrac1K\sum_k y_k^t, \quad x_k^{t+1} = x_k^t - \eta\big(\nabla h_k(x_k^t;"
    r"b_h) + \nabla g_k(x_k^t;b_g)\nabla f(\bar y^t)\big)",
)
class FedDRO(Algorithm):
    r"""FedDRO, Algorithm 2 of its paper: a STORM-like estimate of g, averaged every step.

    Two collectives: the embedding ȳ every step (T rounds of d_g reals) and the model every
    ``local_steps`` steps (⌊T/I⌋ rounds of d reals).

    One step of size 0.1 at x = ¼ for g_1 = 2x, g_2 = 1 − x, f'(y) = y: Φ' = (x + 1)/4 = 0.3125:

    >>> from driftproof.synthetic.problems import BiasAmplification
    >>> from driftproof.toolkit.federation import numbers_after
    >>> numbers_after(BiasAmplification(), FedDRO(step_size=0.1), "x")
    [0.21875]

    Args:
        local_steps: I, steps between model averages.
        step_size: η.
        momentum: β.
        batch: |b|, samples of g and of h a step.
        first_step: at t = 0 the paper gives ȳ⁰ and also tells to compute y⁰ by (8), which needs
            y^{-1}. "given" keeps the given ȳ⁰; "computed" applies (8) with y^{-1} = ȳ⁰ (with
            x^{-1} = x⁰ this is ȳ⁰ − β(ȳ⁰ − g(x⁰))). Either way ȳ⁰ is averaged in step 0's own
            round, so that T steps cost T + ⌊T/I⌋ rounds.
        embedding: "sampled" starts with ȳ⁰ = mean g_k(x⁰; b); "given" with ȳ⁰ = g(x⁰) + error·e,
            e the first unit vector: the paper leaves ȳ⁰ free.
        embedding_error: the error of a given ȳ⁰.
    """

    local_steps: PositiveInt = 1
    step_size: Positive = 0.1
    momentum: Share = 0.5
    batch: PositiveInt = 1
    first_step: Literal["given", "computed"] = "given"
    embedding: Literal["sampled", "given"] = "sampled"
    embedding_error: NonNegative = 0.0

    needs = "composition"
    iterate = "x"
    notation = {
        "I": "local_steps", "eta": "step_size", "beta": "momentum", "b": "batch", "K": "clients",
        "T": "steps", "B_g": "inner_gradient_moment", "B_f": "outer_gradient_bound",
        "L_g": "inner_mean_smoothness", "L_f": "outer_smoothness",
        "L_Phi": "objective_smoothness", "Phi_gap": "initial_gap", "e_0": "embedding_error",
        "sigma_h": "plain_gradient_noise", "Delta_h": "plain_gradient_heterogeneity",
        "Delta_g": "inner_gradient_heterogeneity", "L_h": "plain_smoothness",
        "sigma_g1": "inner_gradient_noise", "sigma_g0": "inner_value_noise",
        "B_h": "plain_gradient_bound",
    }  # fmt: skip

    def validate(self) -> None:
        """Refuse what the algorithm cannot run with."""
        given = self.embedding == "given" or self.embedding_error == 0
        self.require("embedding_error", '0 unless embedding="given"', given)

    @classmethod
    def examples(cls) -> list[Self]:
        """Return a member for each reading of the first step."""
        return [
            cls(local_steps=3, step_size=0.05),
            cls(local_steps=2, step_size=0.05, first_step="computed"),
            cls(local_steps=2, step_size=0.05, embedding="given", embedding_error=0.4),
        ]

    def init(self, ctx: Context, oracles: Composition, start: Tensor) -> State:
        """x^{-1} = x⁰ = x̄⁰, and y⁰: a first minibatch of g at x⁰, or its mean with an error."""
        x = ctx.everywhere(start)
        if self.embedding == "given":
            y, _ = oracles.inner(x, None)
            moved = y.clone()
            moved[:, 0] += self.embedding_error
            return State(x, x, moved)
        y, _ = oracles.inner(x, ctx.draw(oracles.inner_law(self.batch), "zeta-start"))
        return State(x, x, y)

    def radii(self, around: Around) -> Radii:
        """A direction is at most G_h + G_gG_f, at whichever estimate y."""
        return around.bounded(self.step_size, "x", "u")

    def step(self, ctx: Context, oracles: Composition, state: State) -> State:
        """Lines 5–9: share the embedding, step, and every I steps share the model."""
        zeta = ctx.draw(oracles.inner_law(self.batch), "zeta")
        value, pullback = oracles.inner(state.x, zeta)
        y = state.y
        if ctx.t > 0 or self.first_step == "computed":
            previous, _ = oracles.inner(state.x_previous, zeta)
            y = (1 - self.momentum) * (state.y - previous) + value
        (y,) = ctx.average(y)
        xi = ctx.draw(oracles.plain_law(self.batch), "xi")
        u = oracles.plain_grad(state.x, xi) + pullback(oracles.outer_grad(y, None))
        x = state.x - self.step_size * u
        ctx.mark("y", y)
        ctx.mark("u", u)
        ctx.mark("x", x)
        if (ctx.t + 1) % self.local_steps == 0:
            (x,) = ctx.average(x)
        return State(x, state.x, y)
