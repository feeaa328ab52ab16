r"""What a client's step asks of a machine, in the formulas of ``synthetic.oracles.composed``.

Operations are counted as the formulas stand, numbers that stay the same over a run taken as known.
Sines and cosines are counted by themselves, and so are roots with the quotient by them, and signs
made of bits: a machine does them at rates of their own. Of the state, each round reads and writes
every field once. Words are what the draws of so many replicates take: 64 signs are one word.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, NamedTuple

import torch

from driftproof.toolkit.draws import BLOCK, Law
from driftproof.toolkit.kernels.registry import Cost

STEP_BY_STEP = 1024.0
"""Units by which a round may differ: one a step (sums in another order, sines off by a unit of a
term, which a step size makes small), over the 1,000 local steps of the longest rounds."""


class Work(NamedTuple):
    """Operations of one kind and another: flops, sines and cosines, roots."""

    flops: int
    sines: int = 0
    roots: int = 0

    def plus(self, *others: Work | int) -> Work:
        """Return the sum; a number counts flops."""
        each = (self, *(Work(one) if isinstance(one, int) else one for one in others))
        return Work(*map(sum, zip(*each, strict=True)))


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

    def value(self) -> Work:
        """g_k(x; ξ): s[(1 − c)u + (c/k) sin ku], the offset, vξ and aξ sin x₁."""
        of = self.of
        bent, noisy = of.share > 0, of.gradient_noise > 0
        flops = (4 if bent else 1) * self.rank + int(any(of.offsets))
        return Work(flops + 2 * (of.value_noise > 0) + 3 * noisy, bent * self.rank + noisy)

    def slope(self) -> Work:
        """∇g_k(x; ξ) beside the value: s[1 − c + c cos ku] and aξ cos x₁."""
        cosines = self.rank * (self.of.share > 0) + (self.of.gradient_noise > 0)
        return Work(2 * cosines, cosines)

    def outer(self) -> Work:
        """∇f_k(y; ζ): a Huber function's min(L, G/‖z‖)·z, one more if clients are opposed."""
        of, one = self.of, self.huber(self.of.inner_dim)
        opposed = one.plus(of.inner_dim + 1) if of.opposition_slope else 0
        return one.plus(1, opposed, 2 * (of.outer_noise > 0))

    def plain(self) -> Work:
        """∇h_k(x; ξ)."""
        of = self.of
        bent = self.huber(of.dim) if of.plain_slope else Work(0)
        return bent.plus(int(any(of.tilts)), 2 * (of.plain_noise > 0))

    @staticmethod
    def huber(dim: int) -> Work:
        """‖z‖² (2·dim − 1), a root and a quotient, a comparison, and z times the smaller."""
        return Work(3 * dim, roots=1)

    def signs(self, *laws: Law | None) -> int:
        """Return the reals that one client's draws of single signs are made into."""
        return sum(prod(law.shape) for law in laws if law is not None and self.single(law))

    @staticmethod
    def single(law: Law) -> bool:
        """Whether a word has a bit for each replicate."""
        return law.words < prod(law.shape) * BLOCK

    def words(self, law: Law | None) -> float:
        """Return the words of one client's draw."""
        if law is None:
            return 0.0
        elements = prod(law.shape)
        return float(elements if self.single(law) else elements * self.replicates)

    def round(
        self,
        algorithm: Any,
        step: Work,
        laws: Sequence[Law | None],
        fields: Sequence[int],
        sent: int,
        real: int,
    ) -> Cost:
        """Return the cost of a round.

        Args:
            step: operations of a client's step in one replicate.
            laws: what a client draws in a step.
            fields: the rows of each field of the state.
            sent: rows that a client averages in a round; each is added, and the sum divided.
        """
        copies, steps = self.of.clients * self.replicates, algorithm.local_steps
        return Cost(
            flops=copies * (steps * step.flops + sent),
            bytes=2.0 * real * copies * sum(fields),
            words=self.of.clients * steps * sum(self.words(law) for law in laws),
            sines=copies * steps * step.sines,
            roots=copies * steps * step.roots,
            signs=copies * steps * self.signs(*laws),
        )
