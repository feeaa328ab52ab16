"""Softmax regression on one large and some small clients, as in ComFedL's experiments."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch

from driftproof.synthetic.certificates.cone import frank_wolfe_gap, minimise_on_ball
from driftproof.synthetic.certificates.smooth import minimise_smooth_on_ball
from driftproof.synthetic.oracles.dro import DROOracles, robust_weights
from driftproof.synthetic.pieces.linear_model import LinearModel
from driftproof.synthetic.pieces.losses import LOSSES
from driftproof.synthetic.problems.kl_dro import DROProblem
from driftproof.toolkit.dataset import read
from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.problem import Solution
from driftproof.toolkit.split import cut
from driftproof.toolkit.splits.one_large import OneLarge

CONE_LIMIT = 500_000
"""Samples × classes × features up to which the conic solver is asked.

On MNIST's 4·10⁷ it gives up after a minute and a half, on some deals of 800,000 too."""


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
        ball: the radius within which the optimum is certified.
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
    ball: float = 30.0

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
        data = read(self.data)
        train, choosing, judging = data.apart
        other = choosing if self.choosing else judging
        random = np.random.Generator(np.random.Philox(key=self.partition))
        sizes = OneLarge(large=self.large, small=self.small).sizes(self.clients)
        each = min(self.validation, len(choosing.labels) // self.clients)
        wanted = [each if self.choosing else self.validation] * self.clients
        dealt: list[list[np.ndarray]] = []
        for split, parts in ((train, sizes), (other, wanted)):
            count = len(split.labels)
            if sum(parts) > count:
                raise DriftproofError(
                    f"{data.title} has {count} images for this",
                    f"{sum(parts)} of them for {self.clients} clients",
                    "use the whole data set, or a smaller profile",
                )
            order = random.permutation(count)[: sum(parts)]
            features = np.hstack([split.scaled(order), np.ones((len(order), 1))])
            dealt.append([features[part] for part in cut(np.arange(len(order)), parts)])
            dealt.append([split.labels[part] for part in cut(order, parts)])
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
            features, labels, LOSSES["softmax"], sizes=[len(part) for part in self.parts[1]],
            outputs=self.classes, dtype=dtype, device=device,
        )  # fmt: skip
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

    def value_and_gradient(self, w: np.ndarray) -> tuple[float, np.ndarray]:
        """Return the objective and its gradient at one point."""
        at = torch.from_numpy(w)[:, None]
        return float(self.objective(at)), self.gradient(at)[:, 0].numpy()

    @cached_property
    def solution(self) -> Solution:
        """The optimum of form (5) on the ball, certified by the Frank–Wolfe gap."""
        features, labels = self.parts[:2]
        cones = self.classes * sum(part.size for part in features)
        certificate: dict[str, Any]
        if cones <= CONE_LIMIT:
            point, certificate = minimise_on_ball(
                features, labels, outputs=self.classes, radius=self.ball,
                temperature=self.temperature,
            )  # fmt: skip
            point = point.reshape(self.classes, -1).ravel()
        else:
            point, certificate = minimise_smooth_on_ball(
                self.value_and_gradient, self.start(), self.ball
            )
        value, gradient = self.value_and_gradient(point)
        gap = frank_wolfe_gap(point, gradient, self.ball)
        return Solution(value - gap, value, point, certificate | {"frank_wolfe_gap": gap})
