r"""A label-imbalanced data set over clients, its loss tuned above: FedNest's experiment.

**Levels** (formulas in ``label_imbalance_oracles``): x = (Δ, l), y = W,

    f_i(y) = mean over client i's validation images of w_t ℓ(y(u), t),  w_c = (1/C) Σ_b n_b / n_c,
    g_i(x, y) = mean over client i's training images of ℓ(δ(Δ)∘y(u) + l, t) + (ν/2)‖y‖²,

so that f gives every class the same weight. ν > 0 is not in FedNest's slides; without it g is not
strongly convex in y, as their theory asks, and has no minimiser on data that can be separated.

**ℓ_{g,1}.** ∇²_yy g ≼ (max_c δ_c² λ/2 + ν)I, λ the largest eigenvalue of a client's mean of uuᵀ,
since ‖diag(p) − ppᵀ‖ ≤ 1/2. Under Δ it grows with Δ², so no constant serves every x, as the theory
asks; under the sigmoid δ ≤ 1. ``lower_smoothness`` is the bound at δ = 1 and the longest image (a
minibatch's λ), in either.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from math import prod
from pathlib import Path

import numpy as np
import torch

from driftproof.synthetic.image_problems.dealt import dealt, falling
from driftproof.synthetic.image_problems.label_imbalance_oracles import LabelImbalanceOracles
from driftproof.toolkit.bilevel import BilevelProblem
from driftproof.toolkit.dataset import read
from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.oracles import LowerVector, UpperVector
from driftproof.toolkit.parameters import Positive, PositiveInt
from driftproof.toolkit.problem import Solution


@dataclass(frozen=True, kw_only=True)
class LabelImbalance(BilevelProblem):
    """Softmax regression on imbalanced images, its loss's parameters tuned above.

    Args:
        clients: m; 1 is one machine that has all images (of the same split).
        dim: not used.
        data: folder of a data set, or None for scikit-learn's digits.
        shards: over how many clients the images are split; those are put together for clients = 1.
        alike: whether clients' images are i.i.d., or two shards of the sorted ones each.
        largest, ratio: n_0, and n_0 over the smallest class's number.
        per_class: test images of each class.
        ridge: ν.
        coded: whether δ is the sigmoid, and f divides the weights of a minibatch by their sum, as
            in the public code.
        partition: which random split.
    """

    clients: PositiveInt = 20
    dim: int = 0
    data: Path | None = None
    shards: PositiveInt = 20
    alike: bool = True
    largest: PositiveInt = 120
    ratio: Positive = 20.0
    per_class: PositiveInt = 25
    ridge: Positive = 0.01
    coded: bool = False
    partition: int = 0

    leaf_name = "label-imbalance"

    def validate(self) -> None:
        """Refuse what cannot be split."""
        self.require("clients", f"1 or shards = {self.shards}", self.clients in (1, self.shards))

    @property
    def constants(self) -> Mapping[str, float]:
        """None: experiments run, they do not claim."""
        return {}

    @property
    def upper_dim(self) -> int:
        """2C: Δ and l."""
        return 2 * self.classes

    @property
    def classes(self) -> int:
        """C."""
        return read(self.data).classes

    @cached_property
    def counts(self) -> np.ndarray:
        """n_c, [classes]."""
        return falling(self.classes, self.largest, self.ratio)

    @cached_property
    def class_weights(self) -> np.ndarray:
        """w_c; the mean of w over the images is 1."""
        return np.asarray(self.counts.sum() / (self.classes * self.counts))

    @cached_property
    def split(self) -> dict[str, tuple[np.ndarray, np.ndarray]]:
        """Features and labels: train and validation [clients, images, …], test [images, …]."""
        data = read(self.data)
        train, _, judging = data.apart
        parts = dealt(
            data,
            self.counts,
            per_class=self.per_class,
            clients=self.shards,
            alike=self.alike,
            seed=self.partition,
        )
        for name in ("train", "validation"):
            parts[name] = parts[name].reshape(self.clients, -1)
        held = {name: judging if name == "test" else train for name in parts}
        return {
            name: (np.insert(of.scaled(part), prod(data.shape), 1.0, -1), of.labels[part])
            for (name, part), of in zip(parts.items(), held.values(), strict=True)
        }

    def start(self) -> np.ndarray:
        """Return δ = 1 (1/2 under the sigmoid, as in ucr-optml/FedNest), l = 0 and W = 0."""
        delta = np.full(self.classes, 0.0 if self.coded else 1.0)
        shift_and_model = np.zeros((1 + self.split["test"][0].shape[1]) * self.classes)
        return np.concatenate([delta, shift_and_model])

    def oracles(
        self, dtype: torch.dtype, device: str = "cpu", clients: range | None = None
    ) -> LabelImbalanceOracles:
        """Return the oracles of some clients."""
        chosen = list(clients or range(self.clients))
        train, validation = self.split["train"], self.split["validation"]
        longest = float((train[0] ** 2).sum(-1).max())
        return LabelImbalanceOracles(
            train,
            validation,
            self.class_weights,
            clients=chosen,
            ridge=self.ridge,
            coded=self.coded,
            smoothness=longest / 2 + self.ridge,
            dtype=dtype,
            device=device,
        )

    def accuracy(self, models: np.ndarray) -> np.ndarray:
        """Return class-balanced test accuracies [models] of models [lower_dim, models].

        The mean over classes of the share of a class's test images that argmax y(u) finds.
        """
        features, labels = self.split["test"]
        weights = models.T.reshape(models.shape[1], -1, self.classes)
        right = (features @ weights).argmax(-1) == labels  # [models, images]
        recalls = [right[:, labels == c].mean(1) for c in range(self.classes)]
        return np.asarray(np.mean(recalls, 0))

    def validation_loss(self, models: np.ndarray) -> np.ndarray:
        """Return f, the mean over clients with the weights w, [models]."""
        features, labels = (torch.from_numpy(part) for part in self.split["validation"])
        features, labels = features.flatten(0, 1), labels.flatten()
        weights = torch.from_numpy(self.class_weights)[labels]
        model = torch.from_numpy(models.T.reshape(models.shape[1], -1, self.classes))
        losses = -torch.log_softmax(features @ model, -1)  # [models, images, classes]
        chosen = losses[:, torch.arange(len(labels)), labels]
        return np.asarray((chosen * weights).mean(1))

    def lower_solution(self, x: UpperVector) -> LowerVector:
        """None is known: y*(x) has no closed form."""
        raise DriftproofError(
            "y*(x) of label imbalance", "a closed form", "compare runs with each other"
        )

    @property
    def solution(self) -> Solution:
        """None: F is not convex in (Δ, l)."""
        raise DriftproofError(
            "the optimum of label imbalance", "a convex objective", "compare runs with each other"
        )
