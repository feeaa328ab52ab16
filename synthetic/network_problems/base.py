"""What problems on networks share: a model, the clients' data, a start; nothing that is proven."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch
from torch import Tensor

from driftproof.synthetic.network_problems.losses import loss_called
from driftproof.synthetic.network_problems.means import PerSample, SampleMeans
from driftproof.synthetic.network_problems.samples import ClientData, Source
from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.network import Model
from driftproof.toolkit.problem import Problem, Solution

CLASSES_OF = {"cross-entropy": 0, "logistic": 2}
"""Losses whose targets are class numbers → how many classes; 0: as many as outputs."""


class Held(Protocol):
    """Data of a federation, of which a process holds the tensors of some clients."""

    @property
    def clients(self) -> int:
        """How many clients the federation has."""

    def held(self, dtype: torch.dtype, device: str, clients: range | None) -> Source:
        """Return the samples of some clients (None: all)."""


def _check_fits(model: Model, data: ClientData, loss: str) -> None:
    """Raise DriftproofError unless a model takes the examples and the loss takes the targets."""
    if model.example != data.example:
        raise DriftproofError(
            f"{model.title} for examples of shape {model.example}, on data of {data.example}",
            "a model bound to the shape of the data's examples",
            f"build it with example={data.example}",
        )
    if loss not in CLASSES_OF:
        return
    classes = CLASSES_OF[loss] or model.outputs
    if (loss == "logistic" and model.outputs != 1) or (loss != "logistic" and model.outputs < 2):
        raise DriftproofError(
            f"the loss {loss} of a model with {model.outputs} outputs",
            "one output for logistic, one for each class for cross-entropy",
            "change outputs, or the loss",
        )
    for client, targets in enumerate(data.targets):
        whole = targets.dtype.kind in "iu" and targets.dtype != np.uint8
        if not whole or targets.min() < 0 or targets.max() >= classes:
            raise DriftproofError(
                f"client {client}: targets of type {targets.dtype}, from {targets.min()} to "
                f"{targets.max()}",
                f"class numbers 0 to {classes - 1}, 64-bit integers",
                "number the classes from 0, and write targets.astype(np.int64)",
            )


@dataclass(frozen=True, eq=False, kw_only=True)
class NetworkProblem(Problem):
    """Base of problems on networks. They have no constants: experiments run, they do not claim.

    Args:
        model: the network.
        data: what each client holds.
        loss: "cross-entropy", "logistic" or "square".
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
        if isinstance(self.data, ClientData):
            _check_fits(self.model, self.data, self.loss)
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
