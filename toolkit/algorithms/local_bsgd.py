r"""Local-BSGD: biased local gradient steps on a composition, models averaged every p steps."""

from __future__ import annotations

from typing import NamedTuple

from torch import Tensor

from driftproof.toolkit.algorithm import Context, algorithm
from driftproof.toolkit.algorithms._samples import Samples, outer_draw
from driftproof.toolkit.algorithms._tasks import LETTERS, TaskSampling
from driftproof.toolkit.around import Around, Radii
from driftproof.toolkit.oracles import Composition
from driftproof.toolkit.parameters import Positive, PositiveInt


class State(NamedTuple):
    """Each client's model, [clients, dim, replicates]."""

    x: Tensor


@algorithm(
    name="local-bsgd",
    source="Huang et al. 2021, as compared with in Local-SCGDM sections 2.2 and 5.1",
    statement=r"z_t^{(k)} = \nabla g^{(k)}(x_t^{(k)};\xi)^{\top}"
    r"\nabla f^{(k)}(g^{(k)}(x_t^{(k)};\xi);\zeta), \quad "
    r"x_{t+1}^{(k)} = x_t^{(k)} - \eta z_t^{(k)}, \quad "
    r"x_{t+1}^{(k)} = \bar x_{t+1} \text{ if } p \mid t+1",
)
class LocalBSGD(TaskSampling):
    r"""Local biased SGD, which the Local-SCGDM paper also calls Local-MAML: (2) with γ = 1.

    One minibatch gives g and ∇g, as (2) prints; z is biased unless ∇f is affine in y and g's value
    and Jacobian are uncorrelated. That paper ascribes it to Huang et al. (2021), whose ComFedL
    with all clients and the "general" branch it is, step for step; here in Local-SCGDM's letters.

    One step of size 0.1 at x = ¼: (2g_1 − g_2)/2 = ⅛ for g_1 = 2x and g_2 = 1 − x, f'(y) = y:

    >>> from driftproof.synthetic.problems import BiasAmplification
    >>> from driftproof.toolkit.federation import numbers_after
    >>> numbers_after(BiasAmplification(), LocalBSGD(step_size=0.1), "x")
    [0.2375]

    Args:
        local_steps: p, local steps a round.
        step_size: η.
        batch: inner samples ξ a step.
        outer_batch: outer samples ζ a step.
        task_blocks, sampled_tasks: each client's tasks, and how many of them take part in a step
            (``toolkit.algorithms._tasks``); section 5.1 has 5 and 3.
        samples: "two" draws ζ on its own; "one" takes what belongs to ξ, the query images of ξ's
            task say, as meta-learning with new tasks each time needs; ``outer_batch`` then says
            nothing.
    """

    local_steps: PositiveInt = 1
    step_size: Positive = 0.1
    batch: PositiveInt = 1
    outer_batch: PositiveInt = 1
    samples: Samples = "two"

    notation = LETTERS | {"L_F": "objective_smoothness"}

    @classmethod
    def examples(cls) -> list[LocalBSGD]:
        """Return members with one sample a step, with several, with tasks, with a common sample."""
        return [
            cls(local_steps=3, step_size=0.05),
            cls(local_steps=2, step_size=0.05, batch=2, outer_batch=3),
            cls(local_steps=2, step_size=0.05, task_blocks=2, sampled_tasks=1),
            cls(local_steps=2, step_size=0.05, samples="one"),
        ]

    def init(self, ctx: Context, oracles: Composition, start: Tensor) -> State:
        """Every client starts at the same point."""
        return State(ctx.everywhere(start))

    def radii(self, around: Around) -> Radii:
        """As of Local-SCGD, whose estimate may be any u."""
        return around.bounded(self.step_size, "x", "z", self.inflation)

    def step(self, ctx: Context, oracles: Composition, state: State) -> State:
        """One local step; the last of a round is followed by the average."""
        xi = ctx.draw(oracles.inner_law(self.batch), "xi")
        u, pullback = oracles.inner(state.x, xi)
        zeta = outer_draw(ctx, oracles, self.samples, xi, self.outer_batch)
        sampled = self.taking_part(ctx, u)
        z = pullback(self.of_sampled(oracles.outer_grad(u, zeta), sampled))
        x = state.x - self.step_size * z
        ctx.mark("u", u)
        ctx.mark("z", z)
        ctx.mark("x", x)
        if (ctx.t + 1) % self.local_steps == 0:
            (x,) = ctx.average(x)
        return State(x)
