"""CIFAR-10: 60,000 colour images of 32 × 32 pixels, ten classes, in up to six files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from driftproof.toolkit.dataset import Data, DataSet, Split, dataset
from driftproof.toolkit.datasets._cifar import FULL, SHAPE, read_records, sample_records

CLASSES = 10
MOST_IMAGES = 10_000
"""Images of a file."""
ALL_IMAGES = 50_000


@dataset(
    name="cifar-10",
    source="Krizhevsky 2009, https://www.cs.toronto.edu/~kriz/cifar.html, binary version",
    statement="50,000 (and 10,000) images of 3 × 32 × 32 levels scaled to [0, 1], ten classes",
)
class CIFAR10(DataSet):
    """Five files for training, of which those that are there are read; one more for the test."""

    some = tuple(f"data_batch_{number}.bin" for number in range(1, 6))
    optional = ("test_batch.bin",)

    def read(self, paths: Mapping[str, Path]) -> Data:
        """Return the images, a row each, with their classes."""
        splits = {
            split: _split([paths[name] for name in names if name in paths])
            for split, names in (("train", self.some), ("test", self.optional))
            if any(name in paths for name in names)
        }
        count = len(splits["train"].labels)
        part = "" if count == ALL_IMAGES else f", {count:,} of {ALL_IMAGES:,} training images"
        return Data(f"CIFAR-10{part}", CLASSES, SHAPE, splits)

    def sample(self, folder: Path) -> None:
        """Write four images a file."""
        for seed, name in enumerate((*self.some, *self.optional)):
            (folder / name).write_bytes(sample_records((CLASSES,), 4, seed))


def _split(paths: list[Path]) -> Split:
    records = read_records(paths, (CLASSES,), MOST_IMAGES)
    return Split(records[:, 1:], records[:, 0].astype(np.int64), FULL)
