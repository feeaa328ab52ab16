r"""Images dealt to clients, fewer and fewer of each class, and minibatches of them.

Of class c, n_c = ⌈n_0 ratio^{−c/(C−1)}⌉ images are kept, as ucr-optml/FedNest does with n_0 = 6,000
and ratio 100. The test images are those that judge (``Data.apart``), equally many of every class.
The clients have equally many: drawn at random (i.i.d.), or two shards each of the images sorted by
class (not i.i.d.). Half of each client's, at random, are for validation.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from driftproof.toolkit.dataset import Data
from driftproof.toolkit.errors import DriftproofError

Parts = dict[str, np.ndarray]


def falling(classes: int, largest: int, ratio: float) -> np.ndarray:
    """Return n_c, [classes].

    >>> falling(10, 6000, 100).tolist()[::3]
    [6000, 1293, 279, 60]
    """
    exact = largest * ratio ** (-np.arange(classes) / (classes - 1))
    return np.asarray(np.ceil(exact - 1e-9).astype(int))


def dealt(
    data: Data, counts: np.ndarray, *, per_class: int, clients: int, alike: bool, seed: int
) -> Parts:
    """Return image numbers: "train" and "validation" [clients, images], "test" [images].

    The first two number the images to train on, the last those that judge.

    Args:
        counts: n_c.
        per_class: test images of each class.
        alike: whether clients draw from one distribution, or have two sorted shards each.
    """
    random = np.random.Generator(np.random.Philox(key=seed))
    train, _, judging = data.apart
    labels = train.labels
    kept = _of_each(data, labels, counts, random)
    test = _of_each(data, judging.labels, np.full(data.classes, per_class), random)
    shards = 2 * clients
    size = len(kept) // shards
    kept = random.permutation(kept)[: size * shards]
    if not alike:
        kept = kept[np.argsort(labels[kept], kind="stable")]
    own = kept.reshape(shards, size)[random.permutation(shards)].reshape(clients, -1)
    own = random.permuted(own, axis=1)
    cut = round(own.shape[1] / 2)
    return {"train": own[:, cut:], "validation": own[:, :cut], "test": test}


def _of_each(
    data: Data, labels: np.ndarray, counts: np.ndarray, random: np.random.Generator
) -> np.ndarray:
    """Return the numbers of so many random images of each class."""
    order = random.permutation(len(labels))
    by_class = [order[labels[order] == c] for c in range(data.classes)]
    for c, (numbers, count) in enumerate(zip(by_class, counts, strict=True)):
        if len(numbers) < count:
            raise DriftproofError(
                f"{data.title} has {len(numbers)} images of class {c} for this",
                f"{count}",
                "use the whole data set, or a smaller profile",
            )
    return np.concatenate([n[:count] for n, count in zip(by_class, counts, strict=True)])


class Drawn(NamedTuple):
    """A minibatch of every client, or (``Level.at(None)``) all images, [clients, replicates, …].

    Attributes:
        features: [.., batch, features].
        hot: unit vectors of the classes, [.., batch, classes].
        number: which rows of the level these are, [.., batch].
    """

    features: Tensor
    hot: Tensor
    number: Tensor


class Level:
    """One level's images of the clients held here, all with equally many.

    Attributes:
        sizes: of every client of the federation.
        weights: w of each image, client after client.
    """

    def __init__(
        self,
        part: Sequence[np.ndarray],
        class_weights: np.ndarray,
        clients: Sequence[int],
        dtype: torch.dtype,
        device: str,
    ) -> None:
        features, labels = (torch.from_numpy(whole) for whole in part)
        self.sizes = (labels.shape[1],) * len(labels)
        features, labels = features[list(clients)], labels[list(clients)]
        hot = torch.eye(len(class_weights))[labels]
        number = torch.arange(labels.numel()).view(labels.shape)[:, None]
        self._all = Drawn(
            features.to(device, dtype)[:, None], hot.to(device, dtype)[:, None], number.to(device)
        )
        self._first = self._all.number[..., :1]
        self._rows, self._hot = (part.flatten(0, 2) for part in self._all[:2])
        self.weights = torch.from_numpy(class_weights).to(device, dtype)[labels.flatten()]

    def at(self, draw: Tensor | None) -> Drawn:
        """Return the images of a draw [clients, batch, replicates] (None: all of them)."""
        if draw is None:
            return self._all
        number = draw.transpose(1, 2) + self._first
        return Drawn(self._rows[number], self._hot[number], number)
