r"""ComFedL: local plug-in steps on a composition, averaged every round."""

from __future__ import annotations

from typing import Literal, Self

from driftproof.toolkit.algorithm import Context, algorithm, descended
from driftproof.toolkit.algorithms._one_model import LETTERS, OneModel, State
from driftproof.toolkit.around import Around, Radii
from driftproof.toolkit.oracles import Composition
from driftproof.toolkit.parameters import Positive, PositiveInt, Share


@algorithm(
    name="comfedl",
    source="ComFedL, arXiv v1 and v3, Algorithm 1",
    statement=r"w^i_{s,t+1} = w^i_{s,t} - \eta\, \nabla f^i_{\mathcal{B}}(w^i_{s,t})^{\top}"
    r"\nabla g^i_{\tilde{\mathcal{B}}}(f^i_{\mathcal{B}}(w^i_{s,t})),\; "
    r"\bar w_{s+1} = \tfrac1m \sum_{i\in\mathcal{C}_s} w^i_{s,\tau}",
)
class ComFedL(OneModel):
    r"""Compositional federated learning, Algorithm 1 of ComFedL.

    The estimator u = ∇g_B̃(f_B(w))ᵀ∇f_B(w) plugs a minibatch mean into ∇g, so it is biased
    unless ∇g is affine.

    One step where F(w) = |w| − ½ beyond 1, so that w goes from 2 to 2 − 0.1:

    >>> from driftproof.synthetic.problems import BoundedComposition
    >>> from driftproof.toolkit.federation import numbers_after
    >>> numbers_after(BoundedComposition(), ComFedL(step_size=0.1), "w")
    [1.9]

    Args:
        local_steps: τ, the synchronisation gap.
        step_size: η.
        batch: b, inner samples ξ a step.
        outer_batch: b1, outer samples ζ a step (second branch).
        participation: m/n, the share of clients sampled (uniformly) each round.
        branch: "general" draws ζ (problem (1)); "special" takes the common outer function without
            noise (the first branch of arXiv v1).
        samples: "shared" computes f_B and ∇f_B from one minibatch, as printed; "independent"
            draws a minibatch for each.
    """

    local_steps: PositiveInt = 1
    step_size: Positive = 0.1
    batch: PositiveInt = 1
    outer_batch: PositiveInt = 1
    participation: Share = 1.0
    branch: Literal["general", "special"] = "general"
    samples: Literal["shared", "independent"] = "shared"

    needs = "composition"
    notation = LETTERS | {
        "b1": "outer_batch",
        "G_f": "inner_gradient_bound",
        "G_g": "outer_gradient_bound",
        "L_f": "inner_smoothness",
        "L_g": "outer_smoothness",
        "L": "objective_smoothness",
        "sigma_1": "inner_gradient_noise",
        "sigma_2": "inner_value_noise",
        "sigma_3": "outer_gradient_noise",
        "F_gap": "initial_gap",
    }

    @classmethod
    def examples(cls) -> list[Self]:
        """Return a member for each branch, kind of sampling and participation."""
        return [
            cls(local_steps=3, step_size=0.05),
            cls(local_steps=2, step_size=0.05, branch="special", batch=2),
            cls(local_steps=2, step_size=0.05, samples="independent", participation=0.5),
        ]

    def radii(self, around: Around) -> Radii:
        """A direction is no larger than G_fG_g, of whichever minibatch."""
        return around.bounded(self.step_size, "w", "u")

    def step(self, ctx: Context, oracles: Composition, state: State) -> State:
        """One local step (lines 8–14); the last of a round is followed by line 18's average."""
        cohort = ctx.cohort(self.cohort_size(ctx.clients), since=ctx.t - ctx.t % self.local_steps)
        inner_law = oracles.inner_law(self.batch)
        y, pullback = oracles.inner(state.w, ctx.draw(inner_law, "xi"))
        if self.samples == "independent":
            _, pullback = oracles.inner(state.w, ctx.draw(inner_law, "xi-jacobian"))
        outer_law = oracles.outer_law(self.outer_batch) if self.branch == "general" else None
        u = pullback(oracles.outer_grad(y, ctx.draw(outer_law, "zeta")))
        w = descended(state.w, u, self.step_size)
        ctx.mark("y", y)
        ctx.mark("u", u)
        ctx.mark("w", w)
        if (ctx.t + 1) % self.local_steps == 0:
            (w,) = cohort.average(w)
        return State(w)
