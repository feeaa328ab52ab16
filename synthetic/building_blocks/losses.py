r"""Losses of a linear model's scores, with their proven constants.

A loss takes scores [..., outputs, replicates] and labels, and gives ℓ and its derivative in the
scores. ``slope`` and ``curvature`` bound |ℓ'| and |ℓ''| (norms, for several outputs) as functions
of the largest |score|; ``range`` encloses ℓ.
"""

import math
from typing import Protocol, runtime_checkable

import torch
from torch import Tensor


@runtime_checkable
class Loss(Protocol):
    """A loss of scores; labels are ±1 for one output, class numbers for several."""

    convex: bool

    def value(self, scores: Tensor, labels: Tensor) -> Tensor:
        """Return ℓ, the scores' shape without the outputs' axis."""

    def derivative(self, scores: Tensor, labels: Tensor) -> Tensor:
        """Return ∂ℓ/∂scores, the scores' shape."""

    def slope(self, largest: float) -> float:
        """Return a bound on the derivative's norm where |score| ≤ largest."""

    def curvature(self, largest: float) -> float:
        """Return a bound on the second derivative's norm where |score| ≤ largest."""

    def range(self, largest: float) -> tuple[float, float]:
        """Return an enclosure of ℓ where |score| ≤ largest."""


class Logistic:
    """ℓ = log(1 + e^{−s}), s = label·score: convex, |ℓ'| = 1/(1 + e^s), ℓ'' ≤ 1/4."""

    convex = True

    def value(self, scores: Tensor, labels: Tensor) -> Tensor:
        """Return log(1 + e^{−s})."""
        return torch.nn.functional.softplus(-scores.squeeze(-2) * labels)

    def derivative(self, scores: Tensor, labels: Tensor) -> Tensor:
        """Return −label/(1 + e^s)."""
        label = labels.unsqueeze(-2)
        return -label * torch.sigmoid(-scores * label)

    def slope(self, largest: float) -> float:
        """Return 1/(1 + e^{−largest}), attained at s = −largest."""
        return 1.0 / (1.0 + math.exp(-largest))

    def curvature(self, largest: float) -> float:
        """Return 1/4, attained at s = 0."""
        return 0.25

    def range(self, largest: float) -> tuple[float, float]:
        """ℓ decreases in s, so it is extreme at s = ±largest; the width is ``largest``."""
        return math.log1p(math.exp(-largest)), largest + math.log1p(math.exp(-largest))


class Sigmoid:
    """ℓ = 1/(1 + e^s), s = label·score: bounded everywhere by (0, 1), not convex.

    ℓ' = −ℓ(1 − ℓ), so |ℓ'| ≤ 1/4; ℓ'' = ℓ(1 − ℓ)(1 − 2ℓ), largest at ℓ = (3 ± √3)/6: √3/18.
    """

    convex = False

    def value(self, scores: Tensor, labels: Tensor) -> Tensor:
        """Return 1/(1 + e^s)."""
        return torch.sigmoid(-scores.squeeze(-2) * labels)

    def derivative(self, scores: Tensor, labels: Tensor) -> Tensor:
        """Return −label·ℓ(1 − ℓ)."""
        label = labels.unsqueeze(-2)
        value = torch.sigmoid(-scores * label)
        return -label * value * (1.0 - value)

    def slope(self, largest: float) -> float:
        """Return 1/4, attained at s = 0."""
        return 0.25

    def curvature(self, largest: float) -> float:
        """Return √3/18."""
        return math.sqrt(3.0) / 18.0

    def range(self, largest: float) -> tuple[float, float]:
        """Return (0, 1)."""
        return 0.0, 1.0


class Softmax:
    """ℓ = log Σ_c e^{s_c} − s_label: convex, ‖∇ℓ‖ ≤ √2, ‖∇²ℓ‖ ≤ 1/2."""

    convex = True

    def value(self, scores: Tensor, labels: Tensor) -> Tensor:
        """Return log Σ_c e^{s_c} − s_label."""
        chosen = scores.gather(-2, labels.unsqueeze(-2)).squeeze(-2)
        return torch.logsumexp(scores, -2) - chosen

    def derivative(self, scores: Tensor, labels: Tensor) -> Tensor:
        """Return softmax(s) − the label's unit vector."""
        hot = torch.zeros_like(scores).scatter_(-2, labels.unsqueeze(-2), 1.0)
        return torch.softmax(scores, -2) - hot

    def slope(self, largest: float) -> float:
        """Return √2: the difference of two points of the simplex."""
        return math.sqrt(2.0)

    def curvature(self, largest: float) -> float:
        """Return 1/2: diag(p) − ppᵀ has this norm at most."""
        return 0.5

    def range(self, largest: float) -> tuple[float, float]:
        """Return (0, ∞): the number of classes, which would bound ℓ, is not known here."""
        return 0.0, math.inf


LOSSES: dict[str, Loss] = {"logistic": Logistic(), "sigmoid": Sigmoid(), "softmax": Softmax()}
