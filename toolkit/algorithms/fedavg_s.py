r"""FedAvg-S: local steps of descent in x and ascent in y, averaged every round."""

from __future__ import annotations

from typing import Literal, NamedTuple, Self

from torch import Tensor

from driftproof.toolkit.algorithm import Algorithm, Context, algorithm
from driftproof.toolkit.algorithms._nested import levels
from driftproof.toolkit.around import Around, Radii
from driftproof.toolkit.oracles import Bilevel
from driftproof.toolkit.parameters import Positive, PositiveInt, Share


class State(NamedTuple):
    """Each client's x and y, [clients, …, replicates]."""

    x: Tensor
    y: Tensor


@algorithm(
    name="fedavg-s",
    source="Hou et al. 2021, as compared with in FedNest",
    statement=r"y_{i,\nu+1} = y_{i,\nu} + \beta\nabla_y f_i(x_{i,\nu}, y_{i,\nu}),\; "
    r"x_{i,\nu+1} = x_{i,\nu} - \alpha\nabla_x f_i(x_{i,\nu}, y_{i,\nu})",
)
class FedAvgS(Algorithm):
    r"""FedAvg for saddle points: local descent-ascent on a minimax problem, one round a k.

    From (2, 0), ∇_y f = 1 − y − x = −1, then ∇_x f = x/10 − y = 0.3 at the new y:

    >>> from driftproof.synthetic.problems import QuadraticMinimax
    >>> from driftproof.toolkit.federation import numbers_after
    >>> problem = QuadraticMinimax(dim=1, distance=2.0)
    >>> numbers_after(problem, FedAvgS(order="alternating"), "x", "y")
    [1.97, -0.1]

    Args:
        local_steps: τ, steps of both variables between averages.
        inner_step_size, outer_step_size: β and α.
        order: "simultaneous" takes both gradients at one point; with "alternating" y moves first,
            and x's gradient is taken at the new y, as in the public notebook of FedNest.
        batch: samples a step.
        participation: the share of clients sampled (uniformly) each round.
    """

    local_steps: PositiveInt = 1
    inner_step_size: Positive = 0.1
    outer_step_size: Positive = 0.1
    order: Literal["simultaneous", "alternating"] = "simultaneous"
    batch: PositiveInt = 1
    participation: Share = 1.0

    needs = "minimax"
    iterate = "x"
    notation = {
        "tau": "local_steps",
        "beta": "inner_step_size",
        "alpha": "outer_step_size",
        "b": "batch",
        "m": "clients",
        "S": "cohort_size",
        "K": "rounds",
        "L": "objective_smoothness",
        "F_gap": "initial_gap",
    }
    in_mean = True

    @classmethod
    def examples(cls) -> list[Self]:
        """Return a member for each order."""
        return [
            cls(local_steps=3),
            cls(local_steps=2, order="alternating", participation=0.5, batch=2),
        ]

    def init(self, ctx: Context, oracles: Bilevel, start: Tensor) -> State:
        """Every client starts at the same (x⁰, y⁰)."""
        return State(*levels(ctx, oracles, start))

    def anywhere(self, ctx: Context, oracles: Bilevel, start: Tensor, own: Tensor) -> State:
        """Begin anywhere: a round leaves nothing but (x, y)."""
        return self.init(ctx, oracles, start)

    def radii(self, around: Around) -> Radii:
        """Bound ‖(x, y) − z‖ by both parts' lengths; a step of one field by ``stepped``.

        x's part is taken at (x, y) or at (x, y⁺), which is β‖g‖ farther.
        """
        alpha, beta, z = self.outer_step_size, self.inner_step_size, around.start
        together = self.order == "simultaneous" and alpha == beta
        while True:
            yield {"x": z, "y": z}
            moved = beta * around.longest(z)
            far = z + moved + alpha * around.longest(z + moved)
            z = min(far, around.stepped(z, alpha)) if together else far

    def step(self, ctx: Context, oracles: Bilevel, state: State) -> State:
        """One local step of both; the last of a round is followed by the average."""
        nu = ctx.t % self.local_steps
        cohort = ctx.cohort(self.cohort_size(ctx.clients), since=ctx.t - nu)
        xi = ctx.draw(oracles.upper_law(self.batch), "xi")
        y = state.y + self.inner_step_size * oracles.upper_grad_y(state.x, state.y, xi)
        at = y if self.order == "alternating" else state.y
        x = state.x - self.outer_step_size * oracles.upper_grad_x(state.x, at, xi)
        ctx.mark("x", x)
        ctx.mark("y", y)
        if nu == self.local_steps - 1:
            x, y = cohort.average(x, y)
        return State(x, y)
