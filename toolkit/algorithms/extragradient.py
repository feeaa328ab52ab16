r"""The extragradient method, for operators and saddle points, on one machine."""

from __future__ import annotations

from typing import NamedTuple, Self

from torch import Tensor

from driftproof.toolkit.algorithm import Algorithm, Context, algorithm
from driftproof.toolkit.oracles import GradientField
from driftproof.toolkit.parameters import One, Positive, PositiveInt


class State(NamedTuple):
    """The point, of a saddle problem (x, y), [clients, dim, replicates]."""

    w: Tensor


@algorithm(
    name="extragradient",
    source="Korpelevich 1976",
    statement=r"z_{k+1/2} = z_k - \eta A(z_k),\; z_{k+1} = z_k - \eta A(z_{k+1/2})",
)
class Extragradient(Algorithm):
    r"""Each step goes along the operator at a point that a first step finds.

    On A = (x/10 − y, y − 1 + x) from (2, 0): the first step leads to (1.98, −0.1), where A is
    (0.298, 0.88).

    >>> from driftproof.synthetic.problems import QuadraticMinimax
    >>> from driftproof.toolkit.federation import run, sampled_context
    >>> problem = QuadraticMinimax(dim=1, distance=2.0)
    >>> ctx = sampled_context(problem, ("doc",), replicates=1)
    >>> made = run(problem, Extragradient(), ctx, rounds=1).state
    >>> [round(z, 4) for z in made.w[0].flatten().tolist()]
    [1.9702, -0.088]

    Args:
        step_size: η.
        batch: samples of each of the two.
    """

    local_steps: One = 1
    step_size: Positive = 0.1
    batch: PositiveInt = 1

    notation = {
        "eta": "step_size", "n": "clients", "T": "rounds", "L": "field_smoothness",
    }  # fmt: skip

    @classmethod
    def examples(cls) -> list[Self]:
        """Return members with one sample and with two."""
        return [cls(), cls(batch=2)]

    def init(self, ctx: Context, oracles: GradientField, start: Tensor) -> State:
        """Every client starts at the same point."""
        return State(ctx.everywhere(start))

    def step(self, ctx: Context, oracles: GradientField, state: State) -> State:
        """Two steps from one point, each along the mean over the clients."""
        law = oracles.field_law(self.batch)
        (first,) = ctx.average(oracles.field_grad(state.w, ctx.draw(law, "xi")))
        between = state.w - self.step_size * first
        (second,) = ctx.average(oracles.field_grad(between, ctx.draw(law, "zeta")))
        return State(state.w - self.step_size * second)
