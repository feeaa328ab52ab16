r"""Frank–Wolfe, the conditional gradient method, on one machine."""

from __future__ import annotations

from driftproof.toolkit.algorithm import Context, algorithm
from driftproof.toolkit.algorithms._one_model import OneModel, State
from driftproof.toolkit.oracles import Proximal
from driftproof.toolkit.parameters import One


@algorithm(
    name="frank-wolfe",
    source="Frank & Wolfe 1956, with the steps of Jaggi 2013, Algorithm 1",
    statement=r"v_k \in \arg\min_{v\in Q}\langle v, \nabla f(x_k)\rangle,\; "
    r"x_{k+1} = x_k + \tfrac{2}{k+2}(v_k - x_k)",
)
class FrankWolfe(OneModel):
    r"""Steps towards the point of the set that is least along the gradient.

    >>> from driftproof.classes import indicator, over, plus, smooth_convex
    >>> len(over([smooth_convex(1), plus(indicator(1))], FrankWolfe(), rounds=2, clients=1))
    1
    """

    local_steps: One = 1

    needs = "compact-set"
    notation = {"n": "clients", "T": "rounds", "L": "objective_smoothness", "D": "diameter"}

    def step(self, ctx: Context, oracles: Proximal, state: State) -> State:
        """One step of size 2/(k + 2)."""
        (g,) = ctx.average(oracles.field_grad(state.w, None))
        return State(state.w + 2 / (ctx.t + 2) * (oracles.linear_minimiser(g) - state.w))
