r"""FedAvg: local stochastic gradient steps, averaged every round."""

from __future__ import annotations

from itertools import repeat
from typing import Literal

from driftproof.toolkit.algorithm import Context, algorithm, descended
from driftproof.toolkit.algorithms._one_model import LETTERS, OF_FIELD, OneModel, State
from driftproof.toolkit.around import Around, Radii
from driftproof.toolkit.oracles import GradientField
from driftproof.toolkit.parameters import Positive, PositiveInt, Share


@algorithm(
    name="fedavg",
    source="McMahan et al. 2017, as compared with in ComFedL section 5.1",
    statement=r"w^i_{s,t+1} = w^i_{s,t} - \eta \nabla f^i_{\mathcal{B}}(w^i_{s,t}),\; "
    r"\bar w_{s+1} = \sum_{i\in\mathcal{C}_s} r_i w^i_{s,\tau}",
)
class FedAvg(OneModel):
    r"""Local SGD with a weighted average every ``local_steps`` steps.

    With ``local_steps`` = 1, every client and equal weights it is parallel minibatch SGD, the
    "unconstrained" baseline of FedDRO's figure 3.

    One step along the field (x/10 − y, y − 1 + x), from (2, 0):

    >>> from driftproof.synthetic.problems import QuadraticMinimax
    >>> from driftproof.toolkit.federation import numbers_after
    >>> numbers_after(QuadraticMinimax(dim=1, distance=2.0), FedAvg(step_size=0.1), "w")
    [1.98, -0.1]

    Args:
        local_steps: τ, local steps a round.
        step_size: η.
        batch: b, samples a step.
        participation: m/n, the share of clients sampled (uniformly) each round.
        weighting: "uniform", or "samples" (r_i proportional to a client's number of samples, as
            in FedAvg's paper; the problem's oracles say how many).
    """

    local_steps: PositiveInt = 1
    step_size: Positive = 0.1
    batch: PositiveInt = 1
    participation: Share = 1.0
    weighting: Literal["uniform", "samples"] = "uniform"

    notation = LETTERS | OF_FIELD
    in_mean = True

    @classmethod
    def examples(cls) -> list[FedAvg]:
        """Return a member for each weighting and participation."""
        return [
            cls(local_steps=3, step_size=0.05),
            cls(local_steps=2, step_size=0.05, weighting="samples", batch=2),
            cls(local_steps=2, step_size=0.05, participation=0.5),
        ]

    def radii(self, around: Around) -> Radii:
        """A client's step is one along its own field; an average is no farther than all of them."""
        return ({"w": w} for w in around.descent(repeat(self.step_size)))

    def step(self, ctx: Context, oracles: GradientField, state: State) -> State:
        """One local step; the last of a round is followed by the average."""
        cohort = ctx.cohort(self.cohort_size(ctx.clients), since=ctx.t - ctx.t % self.local_steps)
        xi = ctx.draw(oracles.field_law(self.batch), "xi")
        u = oracles.field_grad(state.w, xi)
        w = descended(state.w, u, self.step_size)
        ctx.mark("u", u)
        ctx.mark("w", w)
        if (ctx.t + 1) % self.local_steps == 0:
            weights = oracles.client_weights if self.weighting == "samples" else None
            (w,) = cohort.average(w, weights=weights)
        return State(w)
