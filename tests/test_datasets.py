"""Laws of all data sets: what is written is read, and what is broken is told, file and offset."""

import gzip
import re
import struct
import tracemalloc
import zlib
from math import prod
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from matplotlib import pyplot

from driftproof.toolkit.dataset import Data, Split, read
from driftproof.toolkit.datasets import adult
from driftproof.toolkit.discover import find, leaves
from driftproof.toolkit.errors import DriftproofError, MissingError
from driftproof.toolkit.file_reader import CHUNK, opened
from driftproof.toolkit.idx import MOST_BYTES, as_idx, read_idx
from driftproof.toolkit.zip_reader import members

ROOT = Path(__file__).parents[1]


def documented():
    """Return the data set that docs/datasets.md writes out."""
    text = (ROOT / "docs" / "datasets.md").read_text(encoding="utf-8")
    names = {}
    exec(text.split("```python\n")[1].split("```")[0], names)
    return names["EMNISTLetters"]


EVERY = [pytest.param(leaf.load(), id=leaf.name) for leaf in leaves("dataset").values()]
EVERY.append(pytest.param(documented(), id="docs"))
MNIST, CIFAR10, CIFAR100, ADULT, OMNIGLOT = (
    find("dataset", name).load() for name in ("mnist", "cifar-10", "cifar-100", "adult", "omniglot")
)
PLACE = r", (offset \d+|line \d+|member '|list of members)"
"""What an error says beside the file's name."""


def names_of(dataset):
    """Return the names of all files that a data set may have."""
    return (*dataset.files, *dataset.some, *dataset.optional)


def same(one, other):
    """Tell whether two data sets are the same to the bit."""
    return one.splits.keys() == other.splits.keys() and all(
        np.array_equal(getattr(split, part), getattr(other.splits[name], part))
        for name, split in one.splits.items()
        for part in ("features", "labels", "groups")
    )


def told(action):
    """Return the message of the error that an action ends in."""
    with pytest.raises(DriftproofError) as caught:
        action()
    return str(caught.value)


def gzipped(dataset, name):
    """Tell whether a file of a data set may be gzipped."""
    return any(path.suffix == ".gz" for path in dataset.candidates(Path(), name))


IN_FILES = [each for each in EVERY if names_of(each.values[0])]


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
    assert names == set(names_of(dataset))


@pytest.mark.parametrize("dataset", IN_FILES)
def test_gzipped_files_give_the_same(dataset, tmp_path):
    dataset.sample(tmp_path)
    plain = dataset.load(tmp_path)
    for path in list(tmp_path.iterdir()):
        if gzipped(dataset, path.name):
            (tmp_path / f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes()))
            path.unlink()
    assert same(dataset.load(tmp_path), plain)


@pytest.mark.parametrize("dataset", IN_FILES)
def test_a_file_that_is_missing_cut_or_longer_is_told(dataset, tmp_path):
    for name in names_of(dataset):
        dataset.sample(tmp_path)
        path = tmp_path / name
        whole = path.read_bytes()
        for data in (b"", whole[:1], whole[: len(whole) // 2 + 1], whole[:-1], whole + b"\0"):
            path.write_bytes(data)
            assert re.search(re.escape(str(path)) + PLACE, told(lambda: dataset.load(tmp_path)))
        if gzipped(dataset, name):
            path.write_bytes(gzip.compress(whole)[:-6])
            assert "broken gzip" in told(lambda: dataset.load(tmp_path))
        path.unlink()
        if name in dataset.files:
            with pytest.raises(MissingError, match=name) as missing:
                dataset.load(tmp_path)
            assert missing.value.exit_code == 3
        else:
            assert dataset.load(tmp_path).train
    for name in dataset.some:
        (tmp_path / name).unlink(missing_ok=True)
    if dataset.some:
        with pytest.raises(MissingError, match=dataset.some[0]):
            dataset.load(tmp_path)


@pytest.mark.parametrize("dataset", IN_FILES)
@settings(max_examples=40)
@given(drawn=st.data())
def test_a_changed_byte_is_refused_or_harmless(dataset, tmp_path_factory, drawn):
    """Whatever a file says of itself: a lawful record or an error with a place, in little memory.

    What files say of themselves stands first, in an archive last.
    """
    folder = tmp_path_factory.mktemp("changed")
    dataset.sample(folder)
    path = folder / drawn.draw(st.sampled_from(names_of(dataset)))
    data = bytearray(path.read_bytes())
    near = st.integers(0, min(24, len(data) - 1))
    at = drawn.draw(near | near.map(lambda end: -1 - end) | st.integers(0, len(data) - 1))
    data[at] = drawn.draw(st.integers(0, 255))
    packed = gzipped(dataset, path.name) and drawn.draw(st.booleans())
    path.write_bytes(gzip.compress(data) if packed else data)
    tracemalloc.start()
    try:
        dataset.load(folder)
    except DriftproofError as error:
        message = str(error)
        # that two files do not fit each other has no place
        assert re.search(f"{re.escape(str(folder))}.*{PLACE}", message) or "images and" in message
        assert str(folder) in message
    finally:
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
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
        (GOOD[:4] + b"\xff" * 12 + GOOD[16:], 4, f"at most {MOST_BYTES:,} bytes"),
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


def test_cifar_10_reads_the_training_files_that_are_there(tmp_path):
    CIFAR10.sample(tmp_path)
    whole = CIFAR10.load(tmp_path)
    assert whole.title == "CIFAR-10, 20 of 50,000 training images"
    assert whole.shape == (3, 32, 32)
    assert whole.train.features.dtype == np.uint8
    third = (tmp_path / CIFAR10.some[2]).read_bytes()
    for name in CIFAR10.some:
        if name != CIFAR10.some[2]:
            (tmp_path / name).unlink()
    part = CIFAR10.load(tmp_path)
    np.testing.assert_array_equal(part.train.features, whole.train.features[8:12])
    assert part.train.features[1].tobytes() == third[3074 : 2 * 3073]
    (tmp_path / CIFAR10.some[2]).write_bytes(third[:3073] + b"\x0a" + third[3074:])
    assert f"{CIFAR10.some[2]}, offset 3073: label 10" in told(lambda: CIFAR10.load(tmp_path))


def test_a_fine_class_of_cifar_100_lies_in_one_coarse_class(tmp_path):
    CIFAR100.sample(tmp_path)
    path = tmp_path / "train.bin"
    images = [bytes([coarse, fine]) + bytes(3072) for coarse, fine in ((4, 0), (1, 1), (4, 0))]
    path.write_bytes(b"".join(images))
    train = CIFAR100.load(tmp_path).train
    assert train.labels.tolist() == [0, 1, 0]
    assert train.groups.tolist() == [4, 1, 4]
    assert CIFAR100.load(tmp_path).group_names[4] == "fruit and vegetables"
    path.write_bytes(b"".join(images) + bytes([5, 0]) + bytes(3072))
    assert "offset 9222: coarse label 5 of the fine label 0" in told(
        lambda: CIFAR100.load(tmp_path)
    )
    path.write_bytes(bytes([20, 0]) + bytes(3072))
    assert "offset 0: label 20" in told(lambda: CIFAR100.load(tmp_path))
    path.write_bytes(bytes([0, 100]) + bytes(3072))
    assert "offset 1: label 100" in told(lambda: CIFAR100.load(tmp_path))


PERSON = st.tuples(
    *(st.sampled_from(of) for of in adult.COLUMNS.values()), st.sampled_from(adult.LABELS)
)


@given(people=st.lists(PERSON, min_size=1, max_size=5), comment=st.booleans(), wide=st.booleans())
def test_adult_says_of_a_person_what_the_line_says(tmp_path_factory, people, comment, wide):
    """The way back, from features to words, by the lists of categories alone."""
    folder = tmp_path_factory.mktemp("adult")
    lines = ["|1x3 Cross validator"] * comment
    lines += [(", " if wide else ",").join(map(str, person)) for person in people]
    (folder / "adult.data").write_text("\n".join([*lines, "", ""]))
    data = ADULT.load(folder)
    train = data.train
    rows = zip(train.features, train.labels, train.groups, people, strict=True)
    for row, label, group, person in rows:
        assert data.group_names[group] == f"{person[9]}, {person[8]}"
        assert adult.LABELS[label] == person[-1]
        for of, value in zip(adult.COLUMNS.values(), person, strict=False):
            width = 1 if isinstance(of, range) else len(of)
            own, row = row[:width], row[width:]
            if isinstance(of, range):
                assert round(own[0] * (of[-1] - of[0])) + of[0] == value
            else:
                assert own.sum() == 1
                assert of[own.argmax()] == value
        assert not len(row)


LINE = (
    "39, ?, 77516, Bachelors, 13, Never-married, Adm-clerical, Not-in-family, White, Male, 2174, "
    "0, 40, United-States, <=50K\n"
)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (LINE + LINE.replace("39", "16"), "line 2, column 1: age '16'\nwanted: a whole number, 17"),
        (LINE.replace("39", "3e1"), "line 1, column 1: age '3e1'"),
        (LINE.replace("39", "9" * 99), "line 1, column 1: age '999"),
        (LINE.replace("39", "-39"), "line 1, column 1: age '-39'"),
        (LINE.replace("?", "Public"), "column 2: workclass 'Public'\nwanted: one of Private, Self"),
        (LINE.replace("Male", "?"), "line 1, column 10: sex '?'"),
        (LINE.replace("50K", "50K."), "line 1, column 15: income '<=50K.'"),
        (LINE + "\n\n39, Private\n", "line 4: 2 columns"),
        (LINE.replace("White", "Wh\xffte"), "column 9: race 'Wh\\xffte'"),
        (LINE + "|1x3 Cross validator\n", "line 2: 1 columns"),
        ("|1x3 Cross validator\n\n", "offset 22: the end of the file"),
        (LINE + " " * 600 + "\n", "line 2: 512 bytes and no end of the line"),
        (LINE[:-1], "line 1: 119 bytes and no end of the line"),
        ("\n" * (adult.MOST_LINES + 1), "line 100001: more lines"),
    ],
)
def test_a_broken_table_is_told_with_line_and_column(tmp_path, text, said):
    path = tmp_path / "adult.data"
    path.write_bytes(text.encode("latin-1"))
    assert f"{path}, " in told(lambda: ADULT.load(tmp_path))
    assert said in told(lambda: ADULT.load(tmp_path))


def test_a_test_of_adult_has_labels_with_a_dot(tmp_path):
    (tmp_path / "adult.data").write_text(LINE)
    (tmp_path / "adult.test").write_text(LINE)
    assert "adult.test, line 1, column 15: income '<=50K'" in told(lambda: ADULT.load(tmp_path))


def unpacked(folder):
    """Unpack the archives of a folder, each into a folder of its name."""
    for path in list(folder.glob("*.zip")):
        with ZipFile(path) as archive:
            archive.extractall(folder)
        path.unlink()


def test_omniglot_is_the_same_unpacked(tmp_path):
    OMNIGLOT.sample(tmp_path)
    zipped = OMNIGLOT.load(tmp_path)
    assert zipped.title == "Omniglot, 2 characters of 2 alphabets to train on"
    assert zipped.group_names == ("Greek", "Latin", "Tibetan")
    assert np.bincount(zipped.train.groups).tolist() == [20, 20]
    assert np.bincount(zipped.splits["test"].labels).tolist() == [0, 0, 20]
    unpacked(tmp_path)
    assert same(OMNIGLOT.load(tmp_path), zipped)
    inner = OMNIGLOT.load(tmp_path / "images_background_small1")
    assert inner.title == zipped.title
    np.testing.assert_array_equal(inner.train.features, zipped.train.features)
    pages = sorted((tmp_path / "images_background").rglob("*.png"))
    for page, row in zip(pages, zipped.train.features, strict=False):
        bright = pyplot.imread(page)  # the other way to read it: 1.0 is paper
        np.testing.assert_array_equal(1 - bright.ravel(), row)


def png(width=105, height=105, *, depth=1, colour=0, rows=None):
    """Return a PNG file, put together by hand: of white, or of the rows that it is given."""
    head = struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, 0)
    packed = zlib.compress(rows if rows is not None else (b"\0" + b"\xff" * 14) * 105)
    parts = [
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in ((b"IHDR", head), (b"IDAT", packed), (b"IEND", b""))
    ]
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


WHITE = png()
BOMB = png(rows=bytes(10**7))


@pytest.mark.parametrize("zipped", [True, False], ids=["zip", "folder"])
@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("Greek/character01/0001_03.png", b"", "another beginning"),
        ("Greek/character01/0001_03.png", WHITE[:-20], "a broken image"),
        ("Greek/character01/0001_03.png", WHITE[:45] + b"\0" + WHITE[46:], "a broken image"),
        ("Greek/character01/0001_03.png", png(rows=b"\0"), "a broken image"),
        ("Greek/character01/0001_03.png", png(60000, 60000), "another beginning"),
        ("Greek/character01/0001_03.png", png(depth=8), "another beginning"),
        ("Greek/character01/0001_03.png", png(colour=2), "another beginning"),
        ("Greek/character01/0001_03.png", WHITE + bytes(2**14), "at most 16,384"),
        ("Greek/character01/0001_21.png", WHITE, "21 drawings, by 1, 2, 3"),
        ("Greek/character02/0002_01.png", WHITE, "1 drawings, by 1"),
        ("Greek/character01/0002_02.png", WHITE, "another drawing than before"),
        ("Greek/character01/0001_3.png", WHITE, "an unknown file"),
        ("Greek/0001_03.png", WHITE, "an unknown file"),
        ("notes.txt", b"", "an unknown file"),
    ],
)
def test_a_broken_drawing_is_told_with_its_name(tmp_path, name, content, said, zipped):
    OMNIGLOT.sample(tmp_path)
    unpacked(tmp_path)
    folder = tmp_path / OMNIGLOT.some[0].removesuffix(".zip")
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).write_bytes(content)
    if zipped:
        with ZipFile(f"{folder}.zip", "w", ZIP_DEFLATED) as archive:
            for path in folder.rglob("*.png" if name.endswith("png") else "*.*"):
                archive.write(path, path.relative_to(tmp_path))
    message = told(lambda: OMNIGLOT.load(tmp_path))
    assert f"{folder}{'.zip' * zipped}, member '" in message
    assert name.rpartition("/")[0] in message
    assert said in message


def test_what_file_managers_leave_is_no_drawing(tmp_path):
    OMNIGLOT.sample(tmp_path)
    unpacked(tmp_path)
    (tmp_path / "images_background" / "Greek" / ".DS_Store").write_bytes(b"x")
    assert OMNIGLOT.load(tmp_path).classes == 3


def archive_of(path, *contents):
    """Write an archive of named contents, and return its bytes."""
    with ZipFile(path, "w", ZIP_DEFLATED) as archive:
        for name, content in contents:
            archive.writestr(name, content)
    return bytearray(path.read_bytes())


def test_a_zip_bomb_is_refused_in_little_memory(tmp_path):
    """64 MiB of zeros, told as such or not; a picture of 10 MB."""
    path = tmp_path / "archive.zip"
    honest = archive_of(path, ("bomb", bytes(2**26)))
    size = struct.pack("<I", 2**26)
    assert honest.count(size) == 2  # before the content, and in the list of members
    small = honest.replace(size, struct.pack("<I", 1000))
    for data, said in ((honest, "member 'bomb': more bytes"), (small, "broken (Bad CRC-32")):
        path.write_bytes(data)
        tracemalloc.start()
        assert said in told(lambda: list(members(path, 2**14)))
        assert tracemalloc.get_traced_memory()[1] < CHUNK
        tracemalloc.stop()
    assert len(BOMB) < 2**14
    archive_of(tmp_path / OMNIGLOT.some[0], ("Greek/character01/0001_01.png", BOMB))
    tracemalloc.start()
    told(lambda: OMNIGLOT.load(tmp_path))
    assert tracemalloc.get_traced_memory()[1] < 4 * CHUNK
    tracemalloc.stop()


def test_an_archive_that_zipfile_cannot_read_is_told(tmp_path):
    path = tmp_path / "archive.zip"
    plain = archive_of(path, ("a", b"x"))
    assert list(members(path, 10)) == [("a", b"x")]
    at = plain.index(b"PK\x01\x02") + 8
    path.write_bytes(plain[:at] + b"\x01" + plain[at + 1 :])  # encrypted, it says
    assert "member 'a': broken" in told(lambda: list(members(path, 10)))
    path.write_bytes(bytes(plain).replace(b"PK\x01\x02", b"PK\x01\x03"))
    assert "list of members: broken" in told(lambda: list(members(path, 10)))


def test_a_folder_is_known_by_its_files(tmp_path):
    with pytest.raises(MissingError, match="no data set") as caught:
        read(tmp_path)
    assert MNIST.files[0] in str(caught.value)
    MNIST.sample(tmp_path)
    assert read(tmp_path).title == "MNIST"
    inside = tmp_path / "data" / "adult"
    inside.mkdir(parents=True)
    ADULT.sample(inside)
    assert f"name the folder with the files: {inside}" in told(lambda: read(inside.parent))
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


def test_no_example_trains_and_chooses_or_judges():
    train, choosing, judging = read(None).apart
    every = np.concatenate([part.features for part in (train, choosing, judging)])
    whole = read(None).train.features
    assert len(every) == len(whole) == len(np.unique(every, axis=0))
    assert (len(judging.labels), len(choosing.labels)) == (360, 144)
