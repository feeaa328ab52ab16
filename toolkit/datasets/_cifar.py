"""Records of the CIFAR files: label bytes, then 3,072 levels. Nothing else is in a file."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from driftproof.toolkit.file_reader import opened

SHAPE = (3, 32, 32)
"""Red, green and blue; each is 32 rows of 32 pixels."""
PIXELS = 3 * 32 * 32
FULL = 255.0


def read_records(paths: Iterable[Path], classes: Sequence[int], most: int) -> np.ndarray:
    """Return the records of some files, [images, label bytes + pixels], bytes.

    Args:
        paths: the files, in their order.
        classes: of each label byte, how many classes there are.
        most: images of a file.

    Raises:
        DriftproofError: a file is empty, cut or too long, or a label is none; with the offset.
    """
    size = len(classes) + PIXELS
    whole = bytearray()
    for path in paths:
        data = _checked(path, classes, most)
        if whole:
            whole += data
        else:  # not copied: 50,000 images of one file take 154 MB
            whole = data
    return np.frombuffer(whole, np.uint8).reshape(-1, size)


def _checked(path: Path, classes: Sequence[int], most: int) -> bytearray:
    size = len(classes) + PIXELS
    with opened(path) as file:
        data = file.records(size, most)
        labels = np.frombuffer(data, np.uint8).reshape(-1, size)[:, : len(classes)]
        wrong = np.argwhere(labels >= np.array(classes))
        if len(wrong):
            image, byte = wrong[0].tolist()
            raise file.wrong(
                f"label {labels[image, byte]}", f"0 to {classes[byte] - 1}", image * size + byte
            )
    return data


def sample_records(classes: Sequence[int], images: int, seed: int) -> bytes:
    """Return records of drawn images; their labels count up.

    The last label counts up; one before it is the share of the classes that the last has come to,
    so that a fine class lies in one coarse class.
    """
    random = np.random.Generator(np.random.Philox(key=seed))
    records = random.integers(0, 256, (images, len(classes) + PIXELS), np.uint8)
    for byte, count in enumerate(classes):
        records[:, byte] = np.arange(images) % classes[-1] * count // classes[-1]
    return records.tobytes()
