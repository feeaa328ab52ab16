"""What a process contributes to an average, and the header that announces it."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

AVERAGE, END, NOT_FINITE = 0, 1, 2
"""What a header announces: a payload, the end of the run, a state that is not finite."""


@dataclass(frozen=True)
class Message:
    """What one process contributes to an average.

    Attributes:
        number: of the round of communication, from 1.
        uploads: how many of its clients take part.
        sums: Σ share·x over them, [size, replicates].
        weight: Σ share over them, [replicates].
        culprit: a client whose x is not finite (−1: none is known).
        kind: what its header announces.
    """

    number: int
    uploads: int
    sums: Tensor
    weight: Tensor
    culprit: int = -1
    kind: int = AVERAGE

    @property
    def header(self) -> Tensor:
        """Kind, number, size, uploads, culprit and weights, [5 + replicates]."""
        numbers = [self.kind, self.number, self.sums.shape[0], self.uploads, self.culprit]
        return torch.cat([torch.tensor(numbers, dtype=torch.float64), self.weight.double().cpu()])


def announced(kind: int, number: int, size: int) -> str:
    """Say what a header announces."""
    if kind == AVERAGE:
        return f"average {number}, of {size} reals a replicate"
    return f"the end of the run after {number - 1} averages"
