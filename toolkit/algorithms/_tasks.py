r"""What methods with an inner estimate a task share: which tasks take part in a step.

A client that has several tasks stacks their inner values: its y is ``task_blocks`` blocks of equal
length. Its outer function is their mean, f(y) = (1/n) Σ_i f_i(y_i), so ∇f has the blocks ∇f_i/n.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor

from driftproof.toolkit.algorithm import Algorithm, Context
from driftproof.toolkit.draws import Subset
from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.parameters import NonNegativeInt, PositiveInt

LETTERS = {
    "p": "local_steps",
    "eta": "step_size",
    "K": "clients",
    "T": "steps",
    "C_g": "inner_gradient_moment",
    "C_f": "outer_gradient_moment",
    "L_g": "inner_mean_smoothness",
    "L_f": "outer_mean_smoothness",
    "sigma_g": "inner_gradient_noise",
    "delta_g": "inner_value_noise",
    "sigma_f": "outer_gradient_noise",
    "F_gap": "initial_gap",
}
"""The letters of the Local-SCGDM paper that all of these methods have."""


@dataclass(frozen=True, kw_only=True)
class TaskSampling(Algorithm):
    r"""Methods of which every client samples some of its tasks in each step.

    With S the sampled tasks, |S| = ``sampled_tasks``, only the blocks of S of the estimate u move,
    and z takes (n/|S|)∇f in these blocks and 0 in the others. Where f is the mean over tasks, that
    is (1/|S|) Σ_{i∈S} of the tasks' gradients, whose expectation is the gradient of f.

    Args:
        task_blocks: n, the blocks of equal length of a client's inner value.
        sampled_tasks: how many of them each client draws in a step, uniformly and without
            replacement; 0: all.
    """

    task_blocks: PositiveInt = 1
    sampled_tasks: NonNegativeInt = 0

    needs = "composition"
    iterate = "x"
    fitted: ClassVar[frozenset[str]] = frozenset({"task_blocks", "sampled_tasks"})

    def validate(self) -> None:
        """Refuse more tasks than there are."""
        fewer = self.sampled_tasks <= self.task_blocks
        self.require("sampled_tasks", f"at most task_blocks = {self.task_blocks}", fewer)

    @property
    def inflation(self) -> float:
        """n/|S|, what a direction of the sampled tasks is multiplied by (1: all take part)."""
        every = self.sampled_tasks in (0, self.task_blocks)
        return 1.0 if every else self.task_blocks / self.sampled_tasks

    def taking_part(self, ctx: Context, value: Tensor) -> Tensor | None:
        """Return 1 in the rows of an inner value whose tasks are sampled, else 0 (None: all are).

        Raises:
            DriftproofError: the inner value is not of so many blocks of equal length.
        """
        if self.sampled_tasks in (0, self.task_blocks):
            return None
        length, rest = divmod(value.shape[1], self.task_blocks)
        if rest:
            raise DriftproofError(
                f"{type(self).__name__}: task_blocks = {self.task_blocks}, of an inner value of "
                f"{value.shape[1]} rows",
                "as many blocks of equal length as there are tasks",
                "set task_blocks to the number of tasks that the problem stacks in its inner value",
            )
        drawn = ctx.draw(Subset(self.task_blocks, self.sampled_tasks), "tasks")
        return None if drawn is None else drawn.repeat_interleave(length, 1)

    def moved(self, estimate: Tensor, new: Tensor, sampled: Tensor | None) -> Tensor:
        """Return the new estimate, and the old one in the blocks of tasks that are not sampled."""
        return new if sampled is None else sampled * new + (1 - sampled) * estimate

    def of_sampled(self, outer_grad: Tensor, sampled: Tensor | None) -> Tensor:
        """Return (n/|S|)∇f in the blocks of sampled tasks, 0 in the others."""
        if sampled is None:
            return outer_grad
        return self.task_blocks * (sampled * outer_grad) / self.sampled_tasks
