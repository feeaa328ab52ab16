"""scikit-learn's handwritten digits: 1,797 images of 8 × 8, inside the installed package."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from driftproof.toolkit.dataset import Data, DataSet, Split, dataset


@dataset(
    name="digits",
    source="Alpaydin, Kaynak 1998, the test set of the UCI repository; scikit-learn, load_digits",
    statement="1,797 images of 8 × 8 pixels, 17 grey levels scaled to [0, 1], ten digits",
)
class Digits(DataSet):
    """No files: the images are in scikit-learn.

    >>> Digits.load(None).train.features.shape
    (1797, 64)
    """

    def read(self, paths: Mapping[str, Path]) -> Data:
        """Return the digits."""
        from sklearn.datasets import load_digits

        pixels, labels = load_digits(return_X_y=True)
        split = Split(pixels.astype(np.uint8), labels.astype(np.int64), 16.0)
        return Data("scikit-learn digits", 10, (8, 8), {"train": split})

    def sample(self, folder: Path) -> None:
        """Write nothing: there are no files."""
