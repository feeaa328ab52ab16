"""How unlike the clients of a federated split are: sizes and class shares, measured."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from driftproof.toolkit.errors import DriftproofError


@dataclass(frozen=True)
class Heterogeneity:
    """What was measured of the parts of all clients.

    Attributes:
        sizes: examples of each client.
        mean_variation, largest_variation: over the clients, the total variation ½ Σ_c |q_c − p_c|
            of a client's class shares q from the shares p of all that was dealt: from 0, alike, to
            1, nothing in common. A small client counts as much as a large one.
        effective_classes: exp(−Σ_c q_c log q_c), the mean over the clients: C if its classes are
            equally frequent, 1 if it has one class.
        effective_classes_of_all: the same of p.
    """

    sizes: tuple[int, ...]
    mean_variation: float
    largest_variation: float
    effective_classes: float
    effective_classes_of_all: float

    def __str__(self) -> str:
        few, many = min(self.sizes), max(self.sizes)
        sizes = f"{few:,}" if few == many else f"{few:,}–{many:,}"
        return (
            f"label total variation {self.mean_variation:.2g} on average, "
            f"{self.largest_variation:.2g} at most; {sizes} examples a client; "
            f"{self.effective_classes:.3g} effective classes a client, "
            f"{self.effective_classes_of_all:.3g} in all"
        )


def heterogeneity(labels: np.ndarray, parts: Sequence[np.ndarray], classes: int) -> Heterogeneity:
    """Measure the parts of a split.

    >>> print(heterogeneity(np.array([0, 0, 1, 1]), [np.array([0, 1, 2]), np.array([3])], 2))
    label total variation 0.33 on average, 0.5 at most; 1–3 examples a client; \
1.44 effective classes a client, 2 in all

    Args:
        labels: class numbers of all examples, [examples].
        parts: the numbers of each client's examples.
        classes: C.

    Raises:
        DriftproofError: a client has no example, or a label is not below C.
    """
    if not len(parts) or not all(len(part) for part in parts) or labels.max() >= classes:
        raise DriftproofError(
            f"parts of {[len(part) for part in parts]} examples, labels up to {labels.max()}",
            f"some examples of each client, and labels from 0 to {classes - 1}",
            "pass what parts() of a split returned, and the data set's number of classes",
        )
    counts = np.stack([np.bincount(labels[part], minlength=classes) for part in parts])
    shares = counts / counts.sum(1, keepdims=True)
    of_all = counts.sum(0) / counts.sum()
    variation = np.abs(shares - of_all).sum(1) / 2
    return Heterogeneity(
        sizes=tuple(counts.sum(1).tolist()),
        mean_variation=float(variation.mean()),
        largest_variation=float(variation.max()),
        effective_classes=float(_effective(shares).mean()),
        effective_classes_of_all=float(_effective(of_all)),
    )


def _effective(shares: np.ndarray) -> np.ndarray:
    """Return the exponential of the entropy of shares [..., classes]."""
    logs = np.log(shares, where=shares > 0, out=np.zeros_like(shares))
    return np.asarray(np.exp(-(shares * logs).sum(-1)))
