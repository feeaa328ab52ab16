"""CIFAR10-ST over clients: few images of half of the classes, dealt equally; and a balanced test.

Printed: "unbalanced versions of CIFAR10 and CIFAR100" (section 6), "we use 8 clients … and split
the (unbalanced) dataset equally". How they are made is not printed: ``ReducedClasses`` says what is
chosen. Not printed either, and chosen: pixels are normalised by the mean and the deviation of each
colour over the images that were dealt; no image is moved or mirrored; which images train, which
choose learning rates and which are the test (``Data.apart``), before the rare classes are made.
"""

from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from driftproof.synthetic.network_problems.samples import ClientData
from driftproof.toolkit.dataset import Data, Split, read
from driftproof.toolkit.heterogeneity import Heterogeneity, heterogeneity
from driftproof.toolkit.splits.reduced_classes import ReducedClasses

CLIENTS = 8
SHARE = 0.02
"""What is kept of a rare class."""


class Dealt(NamedTuple):
    """What the clients hold, and what models are tested on.

    Attributes:
        train: the clients' images and classes.
        inputs, classes: of the test, [images, channels, height, width] and [images].
        rare: how many classes are rare: those numbered below.
        of: the data set.
        unlike: the measured heterogeneity.
    """

    train: ClientData
    inputs: np.ndarray
    classes: np.ndarray
    rare: int
    of: Data
    unlike: Heterogeneity


@lru_cache(maxsize=1)
def dealt(folder: Path | None, side: int, seed: int, choosing: bool = False) -> Dealt:
    """Deal a data set.

    Args:
        folder: of the data set; None for scikit-learn's digits.
        side: images with more pixels a side are halved, by means over 2 × 2 pixels.
        seed: of the partition.
        choosing: whether the test images are those of a search, which judge nothing.

    Raises:
        DriftproofError: the examples are no images.
    """
    data = read(folder)
    train, *others = data.apart
    test = others[0 if choosing else 1]
    labels, random = train.labels, np.random.Generator(np.random.Philox(key=seed))
    parts = ReducedClasses(share=SHARE).parts(labels, CLIENTS, random)
    images = [_images(data, train, part, side) for part in parts]
    together = np.concatenate(images)
    mean, deviation = (
        of(together, axis=(0, 2, 3), keepdims=True, dtype=np.float64).astype(np.float32)
        for of in (np.mean, np.std)
    )
    deviation = np.maximum(deviation, np.float32(1e-6))
    held_out = random.permutation(len(test.labels))
    inputs = _images(data, test, held_out, side)
    return Dealt(
        ClientData([(part - mean) / deviation for part in images], [labels[p] for p in parts]),
        (inputs - mean) / deviation,
        test.labels[held_out],
        data.classes // 2,
        data,
        heterogeneity(labels, parts, data.classes),
    )


def _images(data: Data, split: Split, rows: np.ndarray, side: int) -> np.ndarray:
    """Return images in [0, 1], [images, channels, height, width], halved while they are larger."""
    channels, height, width = data.picture
    images = split.scaled(rows).astype(np.float32).reshape(len(rows), channels, height, width)
    while min(height, width) > side:
        height, width = height // 2, width // 2
        images = images[:, :, : 2 * height, : 2 * width]
        images = images.reshape(len(rows), channels, height, 2, width, 2).mean((3, 5))
    return images
