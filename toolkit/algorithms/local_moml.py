r"""Local-MOML: each client keeps the inner states of its tasks; only models are averaged."""

from __future__ import annotations

from typing import NamedTuple

from torch import Tensor

from driftproof.toolkit.algorithm import Context, algorithm
from driftproof.toolkit.algorithms._tasks import LETTERS, TaskSampling
from driftproof.toolkit.around import Around, Radii
from driftproof.toolkit.oracles import Composition
from driftproof.toolkit.parameters import Positive, PositiveInt, Share


class State(NamedTuple):
    """Each client's model and the memory of its tasks, [clients, …, replicates]."""

    x: Tensor
    u: Tensor


@algorithm(
    name="local-moml",
    source="Wang, Yuan, Ying & Yang 2021, as compared with in Local-SCGDM sections 2.2 and 5.1",
    statement=r"u_{t+1}^{(k)} = (1-\beta)u_t^{(k)} + \beta g^{(k)}(x_t^{(k)};\xi), \quad "
    r"z_t^{(k)} = \nabla g^{(k)}(x_t^{(k)};\xi)^{\top}\nabla f^{(k)}(u_{t+1}^{(k)};\zeta), \quad "
    r"x_{t+1}^{(k)} = x_t^{(k)} - \eta z_t^{(k)}, \quad "
    r"x_{t+1}^{(k)} = \bar x_{t+1} \text{ if } p \mid t+1",
)
class LocalMOML(TaskSampling):
    r"""Memory-based meta-learning: SCGD at the new u, whose u never leaves its client.

    In meta-learning a client's inner state is one adapted model a task. A problem with several
    tasks stacks them in its inner map, so one u covers them all. One minibatch gives g and ∇g.
    u is kept over the rounds, as the Local-SCGDM paper says ("requires to maintain an inner state
    u_t for each task"); the authors' published code begins every round with a new sample of g.
    Where that code differentiates through the average, its z has a further factor β; here
    that factor is left to the step size.

    Two steps where f' = 1, from x = 2: u is 2, then the mean of 2 and 1.9:

    >>> from driftproof.synthetic.problems import BoundedComposition
    >>> from driftproof.toolkit.federation import numbers_after
    >>> numbers_after(BoundedComposition(), LocalMOML(step_size=0.1), "x", "u", rounds=2)
    [1.8, 1.95]

    Args:
        local_steps: p, local steps a round.
        step_size: η.
        inner_momentum: β, the weight of the new sample.
        batch: inner samples ξ a step.
        outer_batch: outer samples ζ a step.
        task_blocks, sampled_tasks: each client's tasks, and how many of them take part in a step
            (``toolkit.algorithms._tasks``); the Local-SCGDM paper has 5 and 3. Where u begins, it
            covers all tasks.
    """

    local_steps: PositiveInt = 1
    step_size: Positive = 0.1
    inner_momentum: Share = 0.5
    batch: PositiveInt = 1
    outer_batch: PositiveInt = 1

    notation = LETTERS | {"L_F": "objective_smoothness", "beta": "inner_momentum"}

    @classmethod
    def examples(cls) -> list[LocalMOML]:
        """Return members with one sample and with several, and one that samples tasks."""
        return [
            cls(local_steps=3, step_size=0.05),
            cls(local_steps=2, step_size=0.05, inner_momentum=0.7, batch=2),
            cls(local_steps=2, step_size=0.05, task_blocks=2, sampled_tasks=1),
        ]

    def init(self, ctx: Context, oracles: Composition, start: Tensor) -> State:
        """Every client starts at the same point, with a first sample of its inner value."""
        x = ctx.everywhere(start)
        u, _ = oracles.inner(x, ctx.draw(oracles.inner_law(self.batch), "xi-start"))
        return State(x, u)

    def radii(self, around: Around) -> Radii:
        """As of Local-SCGD: each z is at most C_gC_f (times n/|S|), at whichever estimate u."""
        return around.bounded(self.step_size, "x", "z", self.inflation)

    def step(self, ctx: Context, oracles: Composition, state: State) -> State:
        """One local step; the last of a round is followed by the average of the models."""
        value, pullback = oracles.inner(state.x, ctx.draw(oracles.inner_law(self.batch), "xi"))
        sampled = self.taking_part(ctx, value)
        u = (1 - self.inner_momentum) * state.u + self.inner_momentum * value
        u = self.moved(state.u, u, sampled)
        zeta = ctx.draw(oracles.outer_law(self.outer_batch), "zeta")
        z = pullback(self.of_sampled(oracles.outer_grad(u, zeta), sampled))
        x = state.x - self.step_size * z
        ctx.mark("u", u)
        ctx.mark("z", z)
        ctx.mark("x", x)
        if (ctx.t + 1) % self.local_steps == 0:
            (x,) = ctx.average(x)
        return State(x, u)
