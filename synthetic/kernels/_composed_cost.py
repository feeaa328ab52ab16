r"""What a client's step asks of a machine, in the formulas of ``synthetic.oracles.composed``.

Operations are counted as the formulas stand, an elementary function, a root and a quotient as one;
numbers that stay the same over a run are taken as known. Of the state, each round reads and writes
every field once. Words are what the draws of so many replicates take: 64 signs are one word.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import torch

from toolkit.draws import BLOCK, Law
from toolkit.kernels.registry import Cost

STEP_BY_STEP = 1024.0
"""Units by which a round may differ: one a step (sums in another order, sines off by a unit of a
term, which a step size makes small), over the 1,000 local steps of the longest rounds."""


class Counted:
    """The operations and words of one client's step, for one member of the family.

    Args:
        problem: any whose oracles are ``BoundedOracles``.
        replicates: how many run.
    """

    def __init__(self, problem: Any, replicates: int) -> None:
        self.oracles = problem.oracles(torch.float64)
        self.of = self.oracles.parts
        self.replicates = replicates
        self.rank = min(self.of.dim, self.of.inner_dim)

    def value(self) -> int:
        """g_k(x; ξ): s[(1 − c)u + (c/k) sin ku], the offset, vξ and aξ sin x₁."""
        of = self.of
        flops: int = (5 if of.share else 1) * self.rank + int(any(of.offsets))
        flops += 2 * (of.value_noise > 0) + 4 * (of.gradient_noise > 0)
        return flops

    def slope(self) -> int:
        """∇g_k(x; ξ) beside the value: s[1 − c + c cos ku] and aξ cos x₁."""
        flops: int = 3 * self.rank * (self.of.share > 0) + 3 * (self.of.gradient_noise > 0)
        return flops

    def outer(self) -> int:
        """∇f_k(y; ζ): a Huber function's min(L, G/‖z‖)·z, one more if clients are opposed."""
        of = self.of
        opposed = self.huber(of.inner_dim) + of.inner_dim + 1 if of.opposition_slope else 0
        flops: int = self.huber(of.inner_dim) + 1 + opposed + 2 * (of.outer_noise > 0)
        return flops

    def plain(self) -> int:
        """∇h_k(x; ξ)."""
        of = self.of
        bent = self.huber(of.dim) if of.plain_slope else 0
        flops: int = bent + int(any(of.tilts)) + 2 * (of.plain_noise > 0)
        return flops

    @staticmethod
    def huber(dim: int) -> int:
        """‖z‖, a quotient, a comparison, and z times the smaller."""
        return 3 * dim + 2

    def words(self, law: Law | None) -> float:
        """Return the words of one client's draw."""
        if law is None:
            return 0.0
        elements = prod(law.shape)
        return float(elements if law.words < elements * BLOCK else elements * self.replicates)

    def round(
        self, algorithm: Any, step: int, words: float, fields: Sequence[int], sent: int, real: int
    ) -> Cost:
        """Return the cost of a round.

        Args:
            step, words: operations of a client's step in one replicate, and its words.
            fields: the rows of each field of the state.
            sent: rows that a client averages in a round; each is added, and the sum divided.
        """
        copies = self.of.clients * self.replicates
        return Cost(
            flops=copies * (algorithm.local_steps * step + sent),
            bytes=2.0 * real * copies * sum(fields),
            words=self.of.clients * algorithm.local_steps * words,
        )
