"""IDX files: what is written is read, and what is broken is told with file and offset."""

from __future__ import annotations

import gzip
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolkit.datasets import images
from toolkit.datasets.idx import mnist, read_idx
from toolkit.errors import DriftproofError, MissingError


def idx(array: np.ndarray) -> bytes:
    header = struct.pack(">HBB", 0, 8, array.ndim) + struct.pack(f">{array.ndim}I", *array.shape)
    return header + array.astype(np.uint8).tobytes()


@given(
    shape=st.tuples(st.integers(0, 5), st.integers(1, 4), st.integers(1, 4)), packed=st.booleans()
)
def test_what_is_written_is_read(tmp_path_factory, shape, packed):
    array = np.arange(np.prod(shape)).reshape(shape) % 256
    path = tmp_path_factory.mktemp("idx") / "file"
    path.write_bytes(gzip.compress(idx(array)) if packed else idx(array))
    np.testing.assert_array_equal(read_idx(path, 3), array)


def test_a_folder_of_mnist_is_read(tmp_path):
    pixels, labels = np.full((4, 2, 2), 255), np.array([3, 1, 9, 0])
    (tmp_path / "train-images-idx3-ubyte").write_bytes(idx(pixels))
    (tmp_path / "train-labels-idx1-ubyte.gz").write_bytes(gzip.compress(idx(labels)))
    made = images(tmp_path)
    assert made.pixels.shape == (4, 4)
    assert made.pixels.max() == 1.0
    np.testing.assert_array_equal(made.labels, labels)


GOOD = idx(np.arange(12).reshape(3, 2, 2))


@pytest.mark.parametrize(
    ("data", "offset", "said"),
    [
        (b"", 0, "0 bytes"),
        (b"PK\x03\x04" + GOOD, 0, "bytes 50 4b"),
        (GOOD[:2] + b"\x0d" + GOOD[3:], 2, "type 0x0d"),
        (GOOD[:3] + b"\x01" + GOOD[4:], 3, "1 dimensions"),
        (GOOD[:9], 9, "the end of the file"),
        (GOOD[:-5], len(GOOD) - 5, "the end of the file"),
        (GOOD + b"xy", len(GOOD), "2 bytes more"),
        (gzip.compress(GOOD)[:-6], None, "broken gzip"),
    ],
)
def test_a_broken_file_is_told_with_its_offset(tmp_path, data, offset, said):
    path = tmp_path / "images"
    path.write_bytes(data)
    with pytest.raises(DriftproofError) as caught:
        read_idx(path, 3)
    text = str(caught.value)
    assert str(path) in text
    assert said in text
    if offset is not None:
        assert f"offset {offset}:" in text


def test_what_is_missing_or_does_not_fit_is_told(tmp_path):
    with pytest.raises(MissingError, match="train-images-idx3-ubyte") as caught:
        mnist(tmp_path)
    assert caught.value.exit_code == 3
    (tmp_path / "train-images-idx3-ubyte").write_bytes(GOOD)
    (tmp_path / "train-labels-idx1-ubyte").write_bytes(idx(np.array([1, 2])))
    with pytest.raises(DriftproofError, match="3 images and 2 labels"):
        mnist(tmp_path)
    (tmp_path / "train-labels-idx1-ubyte").write_bytes(idx(np.array([1, 2, 17])))
    with pytest.raises(DriftproofError, match="offset 10: label 17"):
        mnist(tmp_path)


def test_digits_are_in_the_installed_package():
    made = images(None)
    assert made.pixels.shape == (1797, 64)
    assert set(made.labels.tolist()) == set(range(10))
