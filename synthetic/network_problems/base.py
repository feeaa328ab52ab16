"""What problems on networks share: a model, the clients' data, a start; nothing that is proven."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch
from torch import Tensor

from synthetic.network_problems.losses import loss_called
from synthetic.network_problems.means import PerSample, SampleMeans
from synthetic.network_problems.samples import Source
from toolkit.errors import DriftproofError
from toolkit.network import Model
from toolkit.problem import Problem, Solution


class Held(Protocol):
    """Data of a federation, of which a process holds the tensors of some clients."""

    @property
    def clients(self) -> int:
        """How many clients the federation has."""

    def held(self, dtype: torch.dtype, device: str, clients: range | None) -> Source:
        """Return the samples of some clients (None: all)."""


@dataclass(frozen=True, eq=False, kw_only=True)
class NetworkProblem(Problem):
    """Base of problems on networks. They have no constants: experiments run, they do not claim.

    Args:
        model: the network.
        data: what each client holds.
        loss: "cross-entropy", "logistic", "half-square" or "square".
        seed: of the model's start.
        starts: seeds of each replicate's own start; (): all have that of ``seed``.
        clients, dim: set from the data and the model.
    """

    model: Model
    data: Held
    loss: str = "cross-entropy"
    seed: int = 0
    starts: Sequence[int] = ()
    clients: int = 0
    dim: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "clients", self.data.clients)
        object.__setattr__(self, "dim", self.model.dim)
        loss_called(self.loss)
        super().__post_init__()

    def __str__(self) -> str:
        return f"{type(self).__name__}({self.model.title}, {self.clients} clients)"

    @property
    def constants(self) -> Mapping[str, float]:
        """None is proven for a network."""
        return {}

    @property
    def solution(self) -> Solution:
        """There is no certified optimum.

        Raises:
            DriftproofError: always.
        """
        raise DriftproofError(
            f"the optimum of {self}",
            "a problem whose optimum is certified",
            "compare the runs with each other, or take a synthetic problem",
        )

    def start(self) -> np.ndarray:
        """Return the model's start, [dim] or [dim, replicates]."""
        if not self.starts:
            return self.model.start(self.seed)
        return np.stack([self.model.start(seed) for seed in self.starts], 1)

    def losses_of_samples(self) -> PerSample:
        """Return (outputs, targets) ↦ the loss of each sample, [batch, 1]."""
        loss = loss_called(self.loss)

        def losses(outputs: Tensor, targets: Tensor) -> Tensor:
            return loss(outputs, targets)[:, None]

        return losses

    def means(
        self, source: Source, device: str, function: PerSample | None = None, outputs: int = 1
    ) -> SampleMeans:
        """Return the means of a function (default: the loss) over a source's samples."""
        return SampleMeans(
            source,
            self.model,
            function or self.losses_of_samples(),
            outputs=outputs,
            one_by_one=self.model.convolutional and device == "cpu",
        )
