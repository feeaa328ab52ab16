r"""SGDA: stochastic gradient descent-ascent on one machine."""

from __future__ import annotations

from typing import Annotated, Self

from driftproof.toolkit.algorithm import Context, algorithm
from driftproof.toolkit.algorithms.fedavg_s import FedAvgS, State
from driftproof.toolkit.oracles import Bilevel
from driftproof.toolkit.parameters import Constraint


@algorithm(
    name="sgda",
    source="Lin et al. 2020, Algorithm 2 (SGDA); a reference of FedNest",
    statement=r"x^{k+1} = x^k - \alpha\nabla_x f(x^k, y^k;\xi^k),\; "
    r"y^{k+1} = y^k + \beta\nabla_y f(x^k, y^k;\xi^k), \quad f = \tfrac1m\sum_i f_i",
)
class SGDA(FedAvgS):
    r"""SGDA on the mean of all clients' functions: what one machine with all data does.

    The clients' gradients are averaged at every step, so the rounds that are counted are what it
    would cost a federation to follow this machine; ``local_steps`` and ``participation`` are 1.

    From (2, 0), ∇_y f = 1 − y − x = −1 and ∇_x f = x/10 − y = 0.2:

    >>> from driftproof.synthetic.problems import QuadraticMinimax
    >>> from driftproof.toolkit.federation import run, sampled_context
    >>> problem = QuadraticMinimax(dim=1, distance=2.0)
    >>> ctx = sampled_context(problem, ("doc",), replicates=1)
    >>> made = run(problem, SGDA(), ctx, rounds=1).state
    >>> round(made.x[0].item(), 5), round(made.y[0].item(), 5)
    (1.98, -0.1)
    """

    local_steps: Annotated[int, Constraint(1, 1, integer=True, why="there is one machine")] = 1
    participation: Annotated[float, Constraint(1, 1, why="there is one machine")] = 1.0

    @classmethod
    def examples(cls) -> list[Self]:
        """Return a member for each order."""
        return [cls(), cls(order="alternating", batch=2)]

    def step(self, ctx: Context, oracles: Bilevel, state: State) -> State:
        """One step of both along the mean gradients."""
        xi = ctx.draw(oracles.upper_law(self.batch), "xi")
        if self.order == "simultaneous":
            of_x = oracles.upper_grad_x(state.x, state.y, xi)
            of_x, of_y = ctx.average(of_x, oracles.upper_grad_y(state.x, state.y, xi))
            y = state.y + self.inner_step_size * of_y
        else:
            (of_y,) = ctx.average(oracles.upper_grad_y(state.x, state.y, xi))
            y = state.y + self.inner_step_size * of_y
            (of_x,) = ctx.average(oracles.upper_grad_x(state.x, y, xi))
        return State(state.x - self.outer_step_size * of_x, y)
