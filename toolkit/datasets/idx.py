"""IDX files, the format of MNIST (http://yann.lecun.com/exdb/mnist): plain or gzipped.

Layout: bytes 0–1 are 0, byte 2 is the type (8: unsigned byte), byte 3 the number of dimensions,
then one big-endian 32-bit size a dimension, then the data, last dimension fastest.
"""

from __future__ import annotations

import gzip
import zlib
from math import prod
from pathlib import Path

import numpy as np

from toolkit.datasets import Images
from toolkit.errors import DriftproofError, MissingError

UNSIGNED_BYTE = 8
GZIP = b"\x1f\x8b"


def read_idx(path: Path, dimensions: int) -> np.ndarray:
    """Return the array of an IDX file of unsigned bytes.

    Args:
        path: the file; gzip is told by its content, not by its name.
        dimensions: how many dimensions it must have (3 for images, 1 for labels).

    Raises:
        DriftproofError: the file is not what it should be; names the offset.
    """
    data = _content(path)
    if len(data) < 4:
        raise _wrong(path, 0, f"{len(data)} bytes", "a header of at least 4 bytes")
    if data[:2] != b"\0\0":
        raise _wrong(path, 0, f"bytes {data[:2].hex(' ')}", "bytes 00 00: an IDX file")
    if data[2] != UNSIGNED_BYTE:
        raise _wrong(path, 2, f"type {data[2]:#04x}", "type 0x08, unsigned bytes")
    if data[3] != dimensions:
        raise _wrong(path, 3, f"{data[3]} dimensions", f"{dimensions}")
    start = 4 + 4 * dimensions
    if len(data) < start:
        raise _wrong(path, len(data), "the end of the file", f"sizes up to offset {start}")
    sizes = np.frombuffer(data, dtype=">u4", count=dimensions, offset=4).astype(int).tolist()
    wanted = start + prod(sizes)
    if len(data) != wanted:
        what = "the end of the file" if len(data) < wanted else f"{len(data) - wanted} bytes more"
        at = min(len(data), wanted)
        raise _wrong(path, at, what, f"{wanted} bytes for sizes {sizes}")
    return np.frombuffer(data, dtype=np.uint8, offset=start).reshape(sizes)


def mnist(folder: Path) -> Images:
    """Return MNIST's training images and labels from a folder, with or without ``.gz``."""
    pixels = read_idx(_find(folder, "train-images-idx3-ubyte"), 3)
    labels = read_idx(_find(folder, "train-labels-idx1-ubyte"), 1)
    if len(pixels) != len(labels):
        raise DriftproofError(
            f"{folder}: {len(pixels)} images and {len(labels)} labels",
            "as many labels as images",
            "take both files from one copy of the data set",
        )
    if not len(labels):
        raise DriftproofError(
            f"{folder}: no images", "MNIST's 60,000", "take both files from a copy of the data set"
        )
    if labels.max() > 9:
        at = int(np.argmax(labels > 9))
        raise _wrong(
            _find(folder, "train-labels-idx1-ubyte"), 8 + at, f"label {labels[at]}", "0 to 9"
        )
    return Images("MNIST", pixels.reshape(len(pixels), -1) / 255.0, labels.astype(np.int64))


def _find(folder: Path, name: str) -> Path:
    for path in (folder / name, folder / f"{name}.gz"):
        if path.is_file():
            return path
    raise MissingError(
        f"no {name} (or {name}.gz) in {folder}",
        "MNIST's train-images-idx3-ubyte and train-labels-idx1-ubyte, plain or gzipped",
        "put both files there, or leave out --data to use scikit-learn's digits",
    )


def _content(path: Path) -> bytes:
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise DriftproofError(
            f"{path}: {error.strerror}", "a readable file", "check its permissions"
        ) from error
    if not raw.startswith(GZIP):
        return raw
    try:
        return gzip.decompress(raw)
    except (OSError, EOFError, zlib.error) as error:
        raise _wrong(path, len(raw), f"a broken gzip stream ({error})", "a whole one") from error


def _wrong(path: Path, offset: int, got: str, wanted: str) -> DriftproofError:
    return DriftproofError(
        f"{path}, offset {offset}: {got}", wanted, "download or copy the file again"
    )
