"""Data sets: readers of standard formats, and small data that comes inside an installed package."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np


@dataclass(frozen=True)
class Images:
    """Labelled images.

    Attributes:
        name: of the data set.
        pixels: [images, pixels], in [0, 1].
        labels: class numbers, [images].
        classes: how many classes there are.
    """

    name: str
    pixels: np.ndarray
    labels: np.ndarray
    classes: int = 10


def images(folder: Path | None) -> Images:
    """Return MNIST from a folder of IDX files, or scikit-learn's digits if there is none."""
    if folder is None:
        from toolkit.datasets.digits import digits

        return digits()
    from toolkit.datasets.idx import mnist

    return mnist(folder)
