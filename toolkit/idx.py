"""IDX files, the format of MNIST (http://yann.lecun.com/exdb/mnist): plain or gzipped.

Layout: bytes 0–1 are 0, byte 2 is the type (8: unsigned byte), byte 3 the number of dimensions,
then one big-endian 32-bit size a dimension, then the data, last dimension fastest.
"""

from __future__ import annotations

from math import prod
from pathlib import Path

import numpy as np

from driftproof.toolkit.file_reader import opened

UNSIGNED_BYTE = 8
MOST_BYTES = 2**26
"""Bytes of data that are read; MNIST's largest file has 47 million."""


def read_idx(path: Path, dimensions: int) -> np.ndarray:
    """Return the array of an IDX file of unsigned bytes.

    Args:
        path: the file; gzip is recognised by its content, not by its name.
        dimensions: how many dimensions it must have (3 for images, 1 for labels).

    Raises:
        DriftproofError: the file is not what it should be; names the offset.
    """
    with opened(path) as file:
        head = file.take(4)
        for at, byte, wanted in (
            (0, 0, "byte 00 of an IDX file"),
            (1, 0, "byte 00 of an IDX file"),
            (2, UNSIGNED_BYTE, "type 08, unsigned bytes"),
            (3, dimensions, f"{dimensions} dimensions"),
        ):
            if head[at] != byte:
                raise file.wrong(f"byte {head[at]:02x}", wanted, at)
        sizes = np.frombuffer(file.take(4 * dimensions), dtype=">u4").tolist()
        if prod(sizes) > MOST_BYTES:
            raise file.wrong(f"sizes {sizes}", f"at most {MOST_BYTES:,} bytes of data", 4)
        data = file.take(prod(sizes))
        file.end()
    return np.frombuffer(data, dtype=np.uint8).reshape(sizes)


def as_idx(array: np.ndarray) -> bytes:
    """Return an array of numbers from 0 to 255 as an IDX file.

    >>> as_idx(np.array([3, 1])).hex(" ")
    '00 00 08 01 00 00 00 02 03 01'
    """
    head = bytes([0, 0, UNSIGNED_BYTE, array.ndim]) + np.array(array.shape, ">u4").tobytes()
    return head + array.astype(np.uint8).tobytes()
