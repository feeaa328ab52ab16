r"""Local-SCGD: a moving average of the inner value, averaged with the models every p steps."""

from __future__ import annotations

from typing import Literal, NamedTuple

from torch import Tensor

from driftproof.toolkit.algorithm import Context, algorithm
from driftproof.toolkit.algorithms._samples import Samples, outer_draw
from driftproof.toolkit.algorithms._tasks import LETTERS, TaskSampling
from driftproof.toolkit.around import Around, Radii
from driftproof.toolkit.oracles import Composition
from driftproof.toolkit.parameters import Positive, PositiveInt, Share


class State(NamedTuple):
    """Each client's model and estimate of its inner value, [clients, …, replicates]."""

    x: Tensor
    u: Tensor


@algorithm(
    name="local-scgd",
    source="Local-SCGDM (2022), (2) and section 5.1, after Wang, Fang & Liu 2017",
    statement=r"u_{t+1}^{(k)} = (1-\gamma)u_t^{(k)} + \gamma g^{(k)}(x_t^{(k)};\xi), \quad "
    r"z_t^{(k)} = \nabla g^{(k)}(x_t^{(k)};\xi)^{\top}\nabla f^{(k)}(u_t^{(k)};\zeta), \quad "
    r"x_{t+1}^{(k)} = x_t^{(k)} - \eta z_t^{(k)},\; "
    r"(x_{t+1}^{(k)}, u_{t+1}^{(k)}) = (\bar x_{t+1}, \bar u_{t+1}) \text{ if } p \mid t+1",
)
class LocalSCGD(TaskSampling):
    r"""Federated SCGD: local steps (2) of the Local-SCGDM paper; x and u are averaged every p.

    It is described in two places: (2) gives the step, section 5.1 says that "we average the model
    states and inner states u every p local iterations". x and u go in one message. Where it starts
    is not said: here u_0 = g(x_0; ξ), a sample of its own.

    Two steps where f' = 1, from x = 2: u is 2, then the mean of 2 and 1.9:

    >>> from driftproof.synthetic.problems import BoundedComposition
    >>> from driftproof.toolkit.federation import numbers_after
    >>> numbers_after(BoundedComposition(), LocalSCGD(step_size=0.1), "x", "u", rounds=2)
    [1.8, 1.95]

    Args:
        local_steps: p, local steps a round.
        step_size: η.
        inner_momentum: γ, the weight of the new sample; (2) has γ < 1, and γ = 1 keeps no memory.
        batch: inner samples ξ a step, the same for g and ∇g, as printed.
        outer_batch: outer samples ζ a step.
        evaluate_at: where ∇f is taken. "before" is u_t, as (2) prints, so that the newest sample of
            g waits a step; "after" is u_{t+1}, as in Wang, Fang & Liu 2017 and in line 8 of
            Local-SCGDM's Algorithm 1.
        task_blocks, sampled_tasks: each client's tasks, and how many of them take part in a step
            (``toolkit.algorithms._tasks``); section 5.1 has 5 and 3. u_0 covers all tasks. The
            average of u is over the clients' i-th tasks, whichever these are.
        samples: "two" draws ζ on its own; "one" takes what belongs to ξ, the query images of ξ's
            task say, as meta-learning with new tasks each time needs; ``outer_batch`` then says
            nothing.
    """

    local_steps: PositiveInt = 1
    step_size: Positive = 0.1
    inner_momentum: Share = 0.5
    batch: PositiveInt = 1
    outer_batch: PositiveInt = 1
    evaluate_at: Literal["before", "after"] = "before"
    samples: Samples = "two"

    notation = LETTERS | {"L_F": "objective_smoothness", "gamma": "inner_momentum"}

    @classmethod
    def examples(cls) -> list[LocalSCGD]:
        """Return a member for each reading of ∇f's place and sample, and one that samples tasks."""
        return [
            cls(local_steps=3, step_size=0.05),
            cls(
                local_steps=2,
                step_size=0.05,
                inner_momentum=0.8,
                evaluate_at="after",
                outer_batch=2,
            ),
            cls(local_steps=2, step_size=0.05, task_blocks=2, sampled_tasks=1),
            cls(local_steps=2, step_size=0.05, samples="one"),
        ]

    def init(self, ctx: Context, oracles: Composition, start: Tensor) -> State:
        """Every client starts at the same point, with a first sample of its inner value."""
        x = ctx.everywhere(start)
        u, _ = oracles.inner(x, ctx.draw(oracles.inner_law(self.batch), "xi-start"))
        return State(x, u)

    def radii(self, around: Around) -> Radii:
        """Each z is at most C_gC_f (times n/|S|, of sampled tasks), at whichever estimate u."""
        return around.bounded(self.step_size, "x", "z", self.inflation)

    def step(self, ctx: Context, oracles: Composition, state: State) -> State:
        """One local step of (2); the last of a round is followed by the averages."""
        xi = ctx.draw(oracles.inner_law(self.batch), "xi")
        value, pullback = oracles.inner(state.x, xi)
        sampled = self.taking_part(ctx, value)
        u = (1 - self.inner_momentum) * state.u + self.inner_momentum * value
        u = self.moved(state.u, u, sampled)
        zeta = outer_draw(ctx, oracles, self.samples, xi, self.outer_batch)
        slope = oracles.outer_grad(state.u if self.evaluate_at == "before" else u, zeta)
        z = pullback(self.of_sampled(slope, sampled))
        x = state.x - self.step_size * z
        ctx.mark("u", u)
        ctx.mark("z", z)
        ctx.mark("x", x)
        if (ctx.t + 1) % self.local_steps == 0:
            x, u = ctx.average(x, u)
        return State(x, u)
