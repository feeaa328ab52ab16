"""Softmax regression on one large and some small clients, as in ComFedL's experiments."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import torch

from driftproof.synthetic.building_blocks.linear_model import LinearModel
from driftproof.synthetic.building_blocks.losses import LOSSES
from driftproof.synthetic.oracles.dro import DROOracles, robust_weights
from driftproof.synthetic.problems.kl_dro import DROProblem
from driftproof.toolkit.dataset import read
from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.problem import Solution
from driftproof.toolkit.split import cut
from driftproof.toolkit.splits.one_large import OneLarge


@dataclass(frozen=True, kw_only=True)
class ImbalancedImages(DROProblem):
    """Softmax regression; client 0 has ``large`` training images, the others ``small`` each.

    Args:
        clients: n.
        dim: pixels + 1 (set from the data; the model has dim × classes parameters).
        data: folder of a data set, or None for scikit-learn's digits.
        large, small: training images of client 0 and of each other client.
        validation: validation images of each client, of those that judge (``Data.apart``).
        choosing: whether they are of those by which settings are chosen instead.
        form: "exp" (6), "log" (5) or "average".
        temperature: γ.
        partition: which random partition (the seed of the experiment's run).
    """

    clients: int = 10
    dim: int = 0
    data: Path | None = None
    large: int = 1000
    small: int = 20
    validation: int = 25
    choosing: bool = False
    form: str = "exp"
    temperature: float = 0.5
    partition: int = 0

    leaf_name = "imbalanced-images"

    @property
    def constants(self) -> Mapping[str, float]:
        """None: experiments run, they do not claim."""
        return {}

    @cached_property
    def parts(
        self,
    ) -> tuple[list[np.ndarray], list[np.ndarray], list[np.ndarray], list[np.ndarray]]:
        """Training features and labels, validation features and labels, of each client."""
        train, choosing, judging = read(self.data).apart
        pixels = train.features.shape[1]
        other = choosing if self.choosing else judging
        random = np.random.Generator(np.random.Philox(key=self.partition))
        sizes = OneLarge(large=self.large, small=self.small).sizes(self.clients)
        each = min(self.validation, len(choosing.labels) // self.clients)
        wanted = [each if self.choosing else self.validation] * self.clients
        dealt: list[list[np.ndarray]] = []
        for split, parts in ((train, sizes), (other, wanted)):
            own = cut(random.permutation(len(split.labels)), parts)
            dealt.append([np.insert(split.scaled(part), pixels, 1.0, 1) for part in own])
            dealt.append([split.labels[part] for part in own])
        return dealt[0], dealt[1], dealt[2], dealt[3]

    @property
    def classes(self) -> int:
        """How many classes the model tells apart."""
        return read(self.data).classes

    def start(self) -> np.ndarray:
        """Return 0."""
        return np.zeros(self.parts[0][0].shape[1] * self.classes)

    def oracles(
        self, dtype: torch.dtype, device: str = "cpu", clients: range | None = None
    ) -> DROOracles:
        """Return the oracles of some clients."""
        chosen = clients or range(self.clients)
        features, labels = ([part[k] for k in chosen] for part in self.parts[:2])
        model = LinearModel(
            features,
            labels,
            LOSSES["softmax"],
            sizes=[len(part) for part in self.parts[1]],
            outputs=self.classes,
            dtype=dtype,
            device=device,
        )
        return DROOracles(model, form=self.form, temperature=self.temperature)

    def accuracy(self, models: np.ndarray, *, validation: bool) -> np.ndarray:
        """Return accuracies [clients, models] of models [classes·features, models]."""
        count = models.shape[1]
        columns = torch.from_numpy(models).reshape(self.classes, -1, count)
        columns = columns.permute(1, 0, 2).reshape(-1, self.classes * count)
        features, labels = self.parts[2:] if validation else self.parts[:2]
        shares = []
        for part, label in zip(features, labels, strict=True):
            scores = (torch.from_numpy(part) @ columns).reshape(len(part), self.classes, count)
            right = scores.argmax(1) == torch.from_numpy(label)[:, None]
            shares.append(right.double().mean(0).numpy())
        return np.stack(shares)

    def robust_weights_at(self, w: np.ndarray) -> np.ndarray:
        """Return the r that maximises (4) at the model w, [clients]."""
        every = torch.from_numpy(w).expand(self.clients, 1, len(w)).mT
        losses = self.oracles(torch.float64).model(every, None)[0][:, 0]
        return robust_weights(losses, self.temperature)[:, 0].numpy()

    @property
    def solution(self) -> Solution:
        """None is certified."""
        raise DriftproofError(
            "the optimum on images",
            "a problem whose optimum is certified",
            "compare the runs with each other, or take kl-dro",
        )
