"""CIFAR-100: 60,000 colour images of 32 × 32 pixels, 100 classes in 20 groups of five."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from driftproof.toolkit.dataset import Data, DataSet, Split, dataset
from driftproof.toolkit.datasets._cifar import FULL, SHAPE, read_records, sample_records
from driftproof.toolkit.file_reader import wrong_at

FINE = 100
COARSE = (
    "aquatic mammals", "fish", "flowers", "food containers", "fruit and vegetables",
    "household electrical devices", "household furniture", "insects", "large carnivores",
    "large man-made outdoor things", "large natural outdoor scenes",
    "large omnivores and herbivores", "medium-sized mammals", "non-insect invertebrates",
    "people", "reptiles", "small mammals", "trees", "vehicles 1", "vehicles 2",
)  # fmt: skip
"""The groups, in the order of their numbers."""
MOST_IMAGES = 50_000
"""Images of a file."""


@dataset(
    name="cifar-100",
    source="Krizhevsky 2009, https://www.cs.toronto.edu/~kriz/cifar.html, binary version",
    statement="50,000 (and 10,000) images of 3 × 32 × 32 levels scaled to [0, 1], 100 classes in "
    "20 groups",
)
class CIFAR100(DataSet):
    """A file for training, one more for the test; labels are fine classes, groups coarse ones."""

    files = ("train.bin",)
    optional = ("test.bin",)

    def read(self, paths: Mapping[str, Path]) -> Data:
        """Return the images, a row each, with their classes and groups."""
        splits = {name.removesuffix(".bin"): _split(path) for name, path in paths.items()}
        return Data("CIFAR-100", FINE, SHAPE, splits, group_names=COARSE)

    def sample(self, folder: Path) -> None:
        """Write seven images a file."""
        for seed, name in enumerate((*self.files, *self.optional)):
            (folder / name).write_bytes(sample_records((len(COARSE), FINE), 7, seed))


def _split(path: Path) -> Split:
    records = read_records([path], (len(COARSE), FINE), MOST_IMAGES)
    coarse, fine = records[:, :2].astype(np.int64).T
    group_of = np.empty(FINE, np.int64)
    group_of[fine[::-1]] = coarse[::-1]  # the last that is written stays: each class's first image
    wrong = np.flatnonzero(group_of[fine] != coarse)
    if len(wrong):
        at = int(wrong[0])
        raise wrong_at(
            path,
            at * records.shape[1],
            f"coarse label {coarse[at]} of the fine label {fine[at]}",
            f"{group_of[fine[at]]}, as at its first image",
        )
    return Split(records[:, 2:], fine, FULL, coarse)
