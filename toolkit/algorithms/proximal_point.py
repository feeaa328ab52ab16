r"""The proximal point method: implicit steps."""

from __future__ import annotations

from driftproof.toolkit.algorithm import Context, algorithm
from driftproof.toolkit.algorithms._one_model import OneModel, State
from driftproof.toolkit.oracles import Proximal
from driftproof.toolkit.parameters import One, Positive


@algorithm(
    name="proximal-point",
    source="Rockafellar 1976, with a constant step",
    statement=r"x_{k+1} = \arg\min_z F(z) + \tfrac1{2\eta}\|z - x_k\|^2",
)
class ProximalPoint(OneModel):
    r"""Each client's own implicit step, and the mean of these: with one client it is Rockafellar's.

    With several it is FedProx whose local problems are solved exactly (Li et al. 2020), every
    client taking part.

    >>> from driftproof.classes import convex, over, start_within
    >>> len(over([convex(), start_within(R=1)], ProximalPoint(), rounds=2, clients=1))
    1

    Args:
        step_size: η.
    """

    local_steps: One = 1
    step_size: Positive = 0.1

    needs = "implicit"
    notation = {
        "eta": "step_size",
        "n": "clients",
        "T": "rounds",
        "mu": "strong_convexity",
        "F_gap": "initial_gap",
    }

    def step(self, ctx: Context, oracles: Proximal, state: State) -> State:
        """One implicit step, then the mean."""
        return State(*ctx.average(oracles.prox(state.w, self.step_size)))
