"""MNIST: 60,000 handwritten digits to train on, and 10,000 to test on if their files are there."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from driftproof.toolkit.dataset import Data, DataSet, Split, dataset
from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.file_reader import wrong_at
from driftproof.toolkit.idx import as_idx, read_idx

CLASSES = 10


@dataset(
    name="mnist",
    source="LeCun, Cortes, Burges, http://yann.lecun.com/exdb/mnist",
    statement="60,000 (and 10,000) images of 28 × 28 grey levels scaled to [0, 1], ten digits",
)
class MNIST(DataSet):
    """Two IDX files for training, two more for the test."""

    files = ("train-images-idx3-ubyte", "train-labels-idx1-ubyte")
    optional = ("t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte")

    def read(self, paths: Mapping[str, Path]) -> Data:
        """Return the images, a row each, with their labels."""
        shape, train = _split(*(paths[name] for name in self.files))
        splits = {"train": train}
        if all(name in paths for name in self.optional):
            splits["test"] = _split(*(paths[name] for name in self.optional))[1]
        return Data("MNIST", CLASSES, shape, splits)

    def sample(self, folder: Path) -> None:
        """Write 20 images of 3 × 4 to train on and 10 for the test."""
        random = np.random.Generator(np.random.Philox(key=0))
        for names, count in ((self.files, 20), (self.optional, 10)):
            images = random.integers(0, 256, (count, 3, 4))
            for name, array in zip(names, (images, np.arange(count) % CLASSES), strict=True):
                (folder / name).write_bytes(as_idx(array))


def _split(images: Path, labels: Path) -> tuple[tuple[int, ...], Split]:
    pixels, classes = read_idx(images, 3), read_idx(labels, 1)
    if len(pixels) != len(classes):
        raise DriftproofError(
            f"{images.parent}: {len(pixels)} images and {len(classes)} labels",
            "as many labels as images",
            "take both files from one copy of the data set",
        )
    if not pixels.size:
        raise wrong_at(images, 4, f"sizes {pixels.shape}", "some images of some pixels")
    wrong = np.flatnonzero(classes >= CLASSES)
    if len(wrong):
        raise wrong_at(labels, 8 + int(wrong[0]), f"label {classes[wrong[0]]}", "0 to 9")
    rows = pixels.reshape(len(pixels), -1)
    return pixels.shape[1:], Split(rows, classes.astype(np.int64), 255.0)
