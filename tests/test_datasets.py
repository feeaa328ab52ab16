"""Laws of all data sets: what is written is read, and what is broken is told, file and offset."""

from __future__ import annotations

import gzip
import tracemalloc
from math import prod
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from tests.commands import driftproof
from toolkit.dataset import Data, Split, read
from toolkit.discover import find, leaves
from toolkit.errors import DriftproofError, MissingError
from toolkit.file_reader import CHUNK, opened
from toolkit.idx import MOST, as_idx, read_idx

ROOT = Path(__file__).parents[1]


def documented():
    """Return the data set that docs/datasets.md writes out."""
    text = (ROOT / "docs" / "datasets.md").read_text(encoding="utf-8")
    names = {}
    exec(text.split("```python\n")[1].split("```")[0], names)
    return names["CIFAR10"]


EVERY = [pytest.param(leaf.load(), id=leaf.name) for leaf in leaves("dataset").values()]
EVERY.append(pytest.param(documented(), id="docs"))
IN_FILES = [each for each in EVERY if each.values[0].files]
MNIST = find("dataset", "mnist").load()


@pytest.mark.parametrize("dataset", EVERY)
def test_a_data_set_is_what_it_says(dataset, tmp_path):
    dataset.sample(tmp_path)
    data = dataset.load(tmp_path)  # a record checks shapes, types, ranges and labels itself
    assert isinstance(data, Data)
    assert data.title
    assert all(split.features.shape[1] == prod(data.shape) for split in data.splits.values())
    assert dataset.source
    assert dataset.statement
    labels = np.concatenate([split.labels for split in data.splits.values()])
    assert set(labels.tolist()) <= set(range(data.classes))
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {*dataset.files, *dataset.optional}


@pytest.mark.parametrize("dataset", IN_FILES)
def test_gzipped_files_give_the_same(dataset, tmp_path):
    dataset.sample(tmp_path)
    plain = dataset.load(tmp_path)
    for path in list(tmp_path.iterdir()):
        (tmp_path / f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes()))
        path.unlink()
    packed = dataset.load(tmp_path)
    for name, split in plain.splits.items():
        np.testing.assert_array_equal(packed.splits[name].features, split.features)
        np.testing.assert_array_equal(packed.splits[name].labels, split.labels)


@pytest.mark.parametrize("dataset", IN_FILES)
def test_a_file_that_is_missing_cut_or_longer_is_told(dataset, tmp_path):
    for name in (*dataset.files, *dataset.optional):
        dataset.sample(tmp_path)
        path = tmp_path / name
        whole = path.read_bytes()
        for data in (b"", whole[:1], whole[: len(whole) // 2 + 1], whole[:-1], whole + b"\0"):
            path.write_bytes(data)
            with pytest.raises(DriftproofError, match="offset") as caught:
                dataset.load(tmp_path)
            assert str(path) in str(caught.value)
        path.write_bytes(gzip.compress(whole)[:-6])
        with pytest.raises(DriftproofError, match="broken gzip"):
            dataset.load(tmp_path)
        path.unlink()
        if name in dataset.files:
            with pytest.raises(MissingError, match=name) as missing:
                dataset.load(tmp_path)
            assert missing.value.exit_code == 3


@pytest.mark.parametrize("dataset", IN_FILES)
@settings(max_examples=60)
@given(drawn=st.data())
def test_a_changed_byte_is_refused_or_harmless(dataset, tmp_path_factory, drawn):
    """Whatever a file says of itself: a lawful record or an error, in little memory."""
    folder = tmp_path_factory.mktemp("changed")
    dataset.sample(folder)
    path = folder / drawn.draw(st.sampled_from([*dataset.files, *dataset.optional]))
    data = bytearray(path.read_bytes())
    data[drawn.draw(st.integers(0, min(24, len(data) - 1)))] = drawn.draw(st.integers(0, 255))
    path.write_bytes(gzip.compress(data) if drawn.draw(st.booleans()) else data)
    tracemalloc.start()
    told = str(folder)
    try:
        dataset.load(folder)
    except DriftproofError as error:
        told = str(error)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert str(folder) in told
    assert peak < 8 * CHUNK


@given(
    shape=st.tuples(st.integers(0, 5), st.integers(1, 4), st.integers(1, 4)), packed=st.booleans()
)
def test_what_is_written_is_read(tmp_path_factory, shape, packed):
    array = np.arange(np.prod(shape)).reshape(shape) % 256
    path = tmp_path_factory.mktemp("idx") / "file"
    path.write_bytes(gzip.compress(as_idx(array)) if packed else as_idx(array))
    np.testing.assert_array_equal(read_idx(path, 3), array)


GOOD = as_idx(np.arange(12).reshape(3, 2, 2))


@pytest.mark.parametrize(
    ("data", "offset", "said"),
    [
        (b"", 0, "the end of the file"),
        (b"PK\x03\x04" + GOOD, 0, "byte 50"),
        (GOOD[:2] + b"\x0d" + GOOD[3:], 2, "byte 0d"),
        (GOOD[:3] + b"\x01" + GOOD[4:], 3, "byte 01"),
        (GOOD[:9], 9, "the end of the file"),
        (GOOD[:4] + b"\xff" * 12 + GOOD[16:], 4, f"at most {MOST:,} bytes"),
        (GOOD[:-5], len(GOOD) - 5, "the end of the file"),
        (GOOD + b"xy", len(GOOD), "more bytes"),
    ],
)
def test_a_broken_idx_file_is_told_with_its_offset(tmp_path, data, offset, said):
    path = tmp_path / "images"
    path.write_bytes(data)
    with pytest.raises(DriftproofError) as caught:
        read_idx(path, 3)
    assert f"{path}, offset {offset}:" in str(caught.value)
    assert said in str(caught.value)


def test_a_gzip_stream_is_read_no_further_than_asked(tmp_path):
    """64 MiB of zeros in 64 KiB."""
    path = tmp_path / "bomb"
    path.write_bytes(gzip.compress(bytes(2**26)))
    tracemalloc.start()
    with opened(path) as file:
        assert file.take(3) == bytes(3)
        with pytest.raises(DriftproofError, match="offset 3: more bytes"):
            file.end()
    assert tracemalloc.get_traced_memory()[1] < 4 * CHUNK
    tracemalloc.stop()


def test_records_are_whole_and_not_too_many(tmp_path):
    path = tmp_path / "records"
    path.write_bytes(bytes(12))
    with opened(path) as file:
        assert len(file.records(4, 3)) == 12
    with opened(path) as file, pytest.raises(DriftproofError, match="at most 2 records"):
        file.records(4, 2)


def test_mnist_has_a_label_of_ten_for_every_image(tmp_path):
    MNIST.sample(tmp_path)
    images, labels = (tmp_path / name for name in MNIST.files)
    images.write_bytes(GOOD)
    labels.write_bytes(as_idx(np.array([1, 2])))
    with pytest.raises(DriftproofError, match="3 images and 2 labels"):
        MNIST.load(tmp_path)
    labels.write_bytes(as_idx(np.array([1, 2, 17])))
    with pytest.raises(DriftproofError, match="offset 10: label 17"):
        MNIST.load(tmp_path)
    labels.write_bytes(as_idx(np.array([1, 2, 9])))
    for name in MNIST.optional:
        (tmp_path / name).unlink()
    assert MNIST.load(tmp_path).train.scaled().max() == 11 / 255
    assert "test" not in MNIST.load(tmp_path).splits


def test_a_folder_is_known_by_its_files(tmp_path):
    with pytest.raises(MissingError, match="no data set") as caught:
        read(tmp_path)
    assert MNIST.files[0] in str(caught.value)
    MNIST.sample(tmp_path)
    assert read(tmp_path).title == "MNIST"
    assert read(None).train.features.shape == (1797, 64)
    assert set(read(None).train.labels.tolist()) == set(range(10))


ROWS, LABELS = np.array([[0.0, 1.0]]), np.array([1])
LEVELS = np.array([[0, 5]], np.uint8)


@pytest.mark.parametrize(
    ("splits", "said"),
    [
        ({"test": Split(ROWS, LABELS)}, "one called train"),
        ({"train": Split(ROWS, LABELS), "test": Split(ROWS[:, :1], LABELS)}, "rows of length 2"),
        ({"train": Split(ROWS.astype(np.float32), LABELS)}, "float64 or uint8, and int64"),
        ({"train": Split(ROWS, LABELS, 255.0)}, "1 for doubles"),
        ({"train": Split(LEVELS, LABELS, 0.0)}, "a positive level for bytes"),
        ({"train": Split(LEVELS, LABELS, 4.0)}, "features from 0 to 1.25"),
        ({"train": Split(ROWS, LABELS, groups=LABELS)}, "both or neither"),
        ({"train": Split(ROWS[:0], LABELS[:0])}, "some examples"),
        ({"train": Split(ROWS, np.array([1, 1]))}, "a label each"),
        ({"train": Split(ROWS * np.nan, LABELS)}, "features from nan"),
        ({"train": Split(ROWS * 2, LABELS)}, "features from 0 to 2"),
        ({"train": Split(ROWS, LABELS * 2)}, "labels from 2 to 2"),
    ],
)
def test_an_unlawful_record_is_refused(splits, said):
    with pytest.raises(DriftproofError, match=said):
        Data("mine", 2, (2,), splits)


@pytest.mark.parametrize(
    ("groups", "said"),
    [
        (None, "no groups, and 2 names"),
        (LABELS.astype(np.int32), "int64"),
        (np.array([0, 1]), "a group each"),
        (LABELS * 2, "groups from 2 to 2"),
        (LABELS * -1, "groups from -1 to -1"),
    ],
)
def test_unlawful_groups_are_refused(groups, said):
    with pytest.raises(DriftproofError, match=said):
        Data("m", 2, (2,), {"train": Split(ROWS, LABELS, groups=groups)}, group_names=("a", "b"))


def test_a_protected_group_is_a_union_of_groups():
    names = ("Female, White", "Female, Black", "Male, White")
    rows, groups = np.zeros((3, 2)), np.array([2, 0, 1])
    train = Split(rows, np.array([0, 1, 1]), groups=groups)
    data = Data("mine", 2, (2,), {"train": train}, group_names=names)
    assert data.groups_of("Female") == (0, 1)
    assert data.groups_of("White") == (0, 2)
    assert np.isin(groups, data.groups_of("Female")).tolist() == [False, True, True]
    with pytest.raises(DriftproofError, match="did you mean Female"):
        data.groups_of("female")


@given(
    levels=arrays(np.uint8, st.tuples(st.integers(1, 5), st.integers(1, 4))),
    full=st.sampled_from([1.0, 16.0, 255.0]),
)
def test_levels_are_scaled_by_division(levels, full):
    """To the bit the quotient in doubles; whichever rows are asked for, they are those rows."""
    split = Split(levels, np.zeros(len(levels), np.int64), full)
    expected = [[int(level) / full for level in row] for row in levels]
    assert split.scaled().tolist() == expected
    assert split.scaled().dtype == np.float64
    rows = np.arange(len(levels))[::-1].reshape(1, -1)
    assert split.scaled(rows).tolist() == [expected[::-1]]
    assert split.unit == 1 / full


def test_data_sets_are_listed_and_shown():
    listed = driftproof("list", "datasets")
    assert "mnist" in listed.stdout
    assert "digits" in listed.stdout
    shown = driftproof("show", "mnist")
    assert shown.returncode == 0, shown.stderr
    assert "train-images-idx3-ubyte" in shown.stdout
