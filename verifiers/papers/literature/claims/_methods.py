"""Methods of the statements that the library of algorithms does not have."""

from typing import NamedTuple

from torch import Tensor

from driftproof.toolkit.algorithm import Algorithm, Context, algorithm
from driftproof.toolkit.algorithms._one_model import OneModel, State
from driftproof.toolkit.oracles import GradientField, Proximal
from driftproof.toolkit.parameters import One, Positive


class Anchored(NamedTuple):
    """The iterate and the start."""

    w: Tensor
    start: Tensor


@algorithm(
    name="contractive-halpern",
    source="Park & Ryu 2022, γ = 2",
    statement=r"x_{t+1} = (1-\tfrac1{\varphi_{t+1}})A x_t + \tfrac1{\varphi_{t+1}}x_0",
)
class ContractiveHalpern(Algorithm):
    """Of an operator A that halves distances, known by x − A(x): φ_k = 1 + 4 + … + 4^k."""

    local_steps: One = 1
    notation = {"T": "rounds"}

    def init(self, ctx: Context, oracles: GradientField, start: Tensor) -> Anchored:
        """Remember the start."""
        return Anchored(ctx.everywhere(start), ctx.everywhere(start))

    def step(self, ctx: Context, oracles: GradientField, state: Anchored) -> Anchored:
        """Go to A(x), drawn towards the start."""
        share = 3 / (4 ** (ctx.t + 2) - 1)
        image = state.w - oracles.field_grad(state.w, None)
        return state._replace(w=share * state.start + (1 - share) * image)


@algorithm(
    name="peaceman-rachford",
    source="Lions & Mercier 1979",
    statement=r"z_{k+1} = R_g R_f z_k,\; R_f = 2\,\mathrm{prox}_{\eta f} - I",
)
class PeacemanRachford(OneModel):
    """Two reflections, without the average that Douglas and Rachford take.

    Args:
        step_size: η.
    """

    local_steps: One = 1
    step_size: Positive = 1.0
    needs = "online"
    notation = {"eta": "step_size", "T": "rounds"}

    def step(self, ctx: Context, oracles: Proximal, state: State) -> State:
        """Reflect at f, the function of client 0, then at g, that of client 1."""
        first = 2 * oracles.at(0).prox(state.w, self.step_size) - state.w
        return State(2 * oracles.at(1).prox(first, self.step_size) - first)


@algorithm(
    name="decaying-subgradient",
    source="Zamani & Glineur 2023, N = 3",
    statement=r"x_{k+1} = x_k - \eta(N+1-k)g_k,\; k = 1..N",
)
class Decaying(OneModel):
    """Subgradient steps of lengths 3η, 2η and η.

    Args:
        step_size: η, R/(B√(N + 1)³) in the source.
    """

    local_steps: One = 1
    step_size: Positive = 1.0
    notation = {"eta": "step_size", "T": "rounds", "G": "field_gradient_bound"}

    def step(self, ctx: Context, oracles: GradientField, state: State) -> State:
        """One step, shorter than the last."""
        g = oracles.field_grad(state.w, None)
        return State(state.w - (3 - ctx.t) * self.step_size * g)
