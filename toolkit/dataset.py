"""What a data set is: files of a known format, read into one typed record.

A data set is a leaf, one file in ``toolkit/datasets/``: a class under ``@dataset`` with the names
of its ``files``, a ``read`` of them and a small ``sample``, which tests read and break. Nothing is
downloaded and nothing is unpickled. A reader checks what a file says of itself before it believes
it, and names the file and the offset of what is wrong.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from hashlib import blake2b
from math import prod
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from driftproof.toolkit.discover import find, leaves, leaves_in
from driftproof.toolkit.errors import DriftproofError, MissingError, unknown_name
from driftproof.toolkit.tables import is_table, read_table

REMEDY = "put the files there, or leave out --data to use scikit-learn's digits"
PACKAGED = "digits"
"""What is read where no folder is named; it is inside an installed package."""


@dataclass(frozen=True, eq=False)
class Split:
    """Examples with their classes, as the files have them: bytes stay bytes.

    CIFAR-10's 60,000 images take 184 MB so, and eight times as much in doubles. ``scaled`` gives
    the rows that are computed with.

    Attributes:
        features: [examples, features], a flat row each: doubles, or levels 0, 1, … in bytes.
        labels: class numbers, [examples], 64-bit.
        full: the level that stands for 1; 1.0 where the features are doubles.
        groups: the group of each example (its alphabet, its protected group), [examples], 64-bit;
            None where the data set has none.
    """

    features: np.ndarray
    labels: np.ndarray
    full: float = 1.0
    groups: np.ndarray | None = None

    def of(self, rows: np.ndarray) -> Split:
        """Return some of the examples."""
        groups = None if self.groups is None else self.groups[rows]
        return Split(self.features[rows], self.labels[rows], self.full, groups)

    @property
    def unit(self) -> float:
        """What one level is worth, 1/255 say."""
        return 1.0 / self.full

    def scaled(self, rows: Any = None) -> np.ndarray:
        """Return features / full in doubles.

        Args:
            rows: numbers of examples, of any shape, or a slice or mask; None for all.

        Returns:
            [examples, features], or […, features] for numbers of shape […]; a copy.

        >>> Split(np.array([[0, 255], [51, 102]], np.uint8), np.array([0, 1]), 255.0).scaled([1])
        array([[0.2, 0.4]])
        """
        chosen = self.features if rows is None else self.features[rows]
        return np.asarray(chosen / self.full)


@dataclass(frozen=True, eq=False)
class Data:
    """A data set in memory.

    Attributes:
        title: what it is called in print.
        classes: C; labels are 0 … C − 1.
        shape: of one example: (28, 28), (3, 32, 32) or (features,); its row has them in this order.
        splits: "train", and others if the data set has them.
        low, high: the range of the scaled features.
        group_names: of the groups 0, 1, …; () where the splits have none. Where several attributes
            are protected, a group is a combination of their values, and its name lists these:
            "Female, White". Equality of opportunity compares the true positive rate of all
            examples with that of each protected group, "Female" or "White", and such groups
            overlap: each is a union of combinations (``groups_of``).

    Raises:
        DriftproofError: an array does not have the shape, type or range that it should.
    """

    title: str
    classes: int
    shape: tuple[int, ...]
    splits: Mapping[str, Split]
    low: float = 0.0
    high: float = 1.0
    group_names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if "train" not in self.splits:
            raise _unlawful(self.title, f"splits {', '.join(self.splits)}", "one called train")
        for name, split in self.splits.items():
            self._check(f"{self.title}, {name}", split)

    def _check(self, where: str, split: Split) -> None:
        features, labels = split.features, split.labels
        if features.dtype not in (np.float64, np.uint8) or labels.dtype != np.int64:
            got = f"{features.dtype} and {labels.dtype}"
            raise _unlawful(where, got, "float64 or uint8, and int64")
        if features.shape[1:] != (prod(self.shape),):
            got = f"features of shape {features.shape}"
            raise _unlawful(where, got, f"rows of length {prod(self.shape)}, of shape {self.shape}")
        if not len(features) or labels.shape != features.shape[:1]:
            got = f"{len(features)} examples and labels of shape {labels.shape}"
            raise _unlawful(where, got, "some examples, and a label each")
        if not split.full > 0 or (features.dtype == np.float64 and split.full != 1):
            got = f"{features.dtype} whose level {split.full:g} stands for 1"
            raise _unlawful(where, got, "1 for doubles, a positive level for bytes")
        # division keeps the order, so that the extremes tell of all
        low, high = float(features.min()) / split.full, float(features.max()) / split.full
        if not (self.low <= low and high <= self.high):  # also false for nan
            got = f"features from {low:g} to {high:g}"
            raise _unlawful(where, got, f"{self.low:g} to {self.high:g}")
        if labels.min() < 0 or labels.max() >= self.classes:
            got = f"labels from {labels.min()} to {labels.max()}"
            raise _unlawful(where, got, f"0 to {self.classes - 1}")
        self._check_groups(where, split)

    def _check_groups(self, where: str, split: Split) -> None:
        groups, names = split.groups, self.group_names
        if (groups is None) != (not names):
            got = f"{'no' if groups is None else 'some'} groups, and {len(names)} names of groups"
            raise _unlawful(where, got, "both or neither")
        if groups is None:
            return
        if groups.dtype != np.int64 or groups.shape != split.labels.shape:
            got = f"groups of shape {groups.shape}, {groups.dtype}"
            raise _unlawful(where, got, "a group each, int64")
        if groups.min() < 0 or groups.max() >= len(names):
            got = f"groups from {groups.min()} to {groups.max()}"
            raise _unlawful(where, got, f"0 to {len(names) - 1}")

    def groups_of(self, value: str) -> tuple[int, ...]:
        """Return the numbers of the groups whose name lists a value.

        ``np.isin(split.groups, data.groups_of("Female"))`` tells who is in a protected group.

        Raises:
            DriftproofError: no name lists it.
        """
        values = [name.split(", ") for name in self.group_names]
        found = tuple(number for number, listed in enumerate(values) if value in listed)
        if not found:
            known = dict.fromkeys(each for listed in values for each in listed)
            raise unknown_name("group", value, known)
        return found

    @property
    def picture(self) -> tuple[int, int, int]:
        """Channels, height and width of an example.

        Raises:
            DriftproofError: the examples are no images.
        """
        if len(self.shape) < 2:
            raise DriftproofError(
                f"{self.title}, whose examples have shape {self.shape}",
                "images",
                "name a folder with images by --data, or leave it out to use scikit-learn's digits",
            )
        channels, height, width = (1, *self.shape)[-3:]
        return channels, height, width

    @property
    def train(self) -> Split:
        """The examples to train on."""
        return self.splits["train"]

    @cached_property
    def apart(self) -> tuple[Split, Split, Split]:
        """Examples to train on, to choose settings by, and to judge by.

        The files' test examples judge, or every fifth where there are none. Every tenth of the
        others is for the choice of settings, and judges nothing.
        """
        rows = np.arange(len(self.train.labels))
        judging = self.splits.get("test")
        if judging is None:
            judging, rows = self.train.of(rows[::5]), np.delete(rows, np.s_[::5])
        choosing = self.train.of(rows[::10])
        return self.train.of(np.delete(rows, np.s_[::10])), choosing, judging


class DataSet(ABC):
    """A leaf under ``@dataset``.

    Attributes:
        name, source, statement: as the decorator has them.
        files: names in the data set's folder that have to be there; () with ``some`` = () if the
            data are inside an installed package.
        some: names of which one or more have to be there; those that are there are read.
        optional: names of files that are read if they are there.
        stored: how each may lie there, in words; ``candidates`` says where.
    """

    name: str
    source: str
    statement: str
    files: ClassVar[tuple[str, ...]] = ()
    some: ClassVar[tuple[str, ...]] = ()
    optional: ClassVar[tuple[str, ...]] = ()
    stored: ClassVar[str] = "plain or gzipped"

    @abstractmethod
    def read(self, paths: Mapping[str, Path]) -> Data:
        """Return the data of the files, whose paths are given by name."""

    @abstractmethod
    def sample(self, folder: Path) -> None:
        """Write a small data set of the same format to a folder: what tests read and break."""

    def load(self, folder: Path | None) -> Data:
        """Return the data set of a folder.

        Raises:
            MissingError: a file is not there.
            DriftproofError: a file is not what it should be; names the file and the place: the
                offset, the line and column, or the member of a zip archive.
        """
        paths = {} if folder is None else self.present(folder)
        missing = [name for name in self.files if name not in paths]
        if self.some and not any(name in paths for name in self.some):
            missing.append(f"{self.some[0]} or another of its files")
        if missing:
            raise MissingError(f"no {missing[0]} in {folder}", self.wanted, REMEDY)
        return self.read(paths)

    def present(self, folder: Path) -> dict[str, Path]:
        """Return the paths of those of its files that are in a folder, by name."""
        found = {
            name: [
                path for path in self.candidates(folder, name) if path.is_file() or path.is_dir()
            ]
            for name in (*self.files, *self.some, *self.optional)
        }
        return {name: paths[0] for name, paths in found.items() if paths}

    def candidates(self, folder: Path, name: str) -> Sequence[Path]:
        """Return where a file of this name may lie; the first that exists is read."""
        return folder / name, folder / f"{name}.gz"

    @property
    def wanted(self) -> str:
        """What a folder of it must have, in words."""
        some = f"one or more of {', '.join(self.some)}"
        needed = [*self.files, *([some] if self.some else [])]
        return f"{self.name}'s {' and '.join(needed)}, {self.stored}"


def dataset(*, name: str, source: str, statement: str) -> Callable[[type[DataSet]], DataSet]:
    """Make a class a data set.

    Args:
        name: as ``driftproof list datasets`` shows it.
        source: who made it, and where it is.
        statement: how many examples of what.
    """

    def decorate(of: type[DataSet]) -> DataSet:
        leaf = of()
        leaf.name, leaf.source, leaf.statement = name, source, statement
        return leaf

    return decorate


def named(data: Path) -> tuple[Path, str]:
    """Return a file and what is named of it: the column of a table, or a data set's folder.

    >>> [str(part) for part in named(Path("mine.csv::class"))]
    ['mine.csv', 'class']
    """
    file, _, what = str(data).partition("::")
    return Path(file), what


@cache
def digest(data: Path) -> str:
    """Return a digest of the files of a data set, names and contents: results rest on them.

    They are read once a process; of what is no data set it is empty.
    """
    file, what = named(data)
    made, roots = blake2b(digest_size=16), [file, *([Path(what)] if file.suffix == ".py" else [])]
    every = [(path, root) for root in roots for path in (root, *root.rglob("*")) if path.is_file()]
    for path, root in sorted(every):
        made.update(str(path.relative_to(root)).encode())
        with path.open("rb") as opened:
            while part := opened.read(2**20):
                made.update(part)
    return made.hexdigest() if every else ""


@cache
def read(folder: Path | None) -> Data:
    """Return the data set whose files are in a folder, or scikit-learn's digits without one.

    It is read once a process. ``mine.csv::COLUMN`` is a table with that column as its classes,
    ``mine.py::FOLDER`` the data set that a file of one's own declares, read from a folder.

    Raises:
        MissingError: no data set has its files there.
        DriftproofError: a file is not what it should be.
    """
    if folder is None:
        packaged: DataSet = find("dataset", PACKAGED).load()
        return packaged.load(None)
    file, what = named(folder)
    if is_table(file):
        features, labels, classes = read_table(file, what)
        split = Split(features, labels)
        return Data(file.name, classes, features.shape[1:], {"train": split})
    if file.suffix == ".py":
        for leaf in leaves_in(file, "dataset"):
            own: DataSet = leaf.load()
            return own.load(Path(what))
        raise MissingError(f"no data set in {file}", "a class under @dataset in it", REMEDY)
    known: list[DataSet] = [leaf.load() for leaf in leaves("dataset").values()]
    with_files = [each for each in known if each.files or each.some]
    for each in with_files:
        if each.present(folder):
            return each.load(folder)
    inside = sorted(path for path in folder.glob("*/") if any(e.present(path) for e in with_files))
    raise MissingError(
        f"no data set in {folder}",
        "; or ".join(each.wanted for each in with_files),
        f"name the folder with the files: {inside[0]}" if inside else REMEDY,
    )


def _unlawful(where: str, got: str, wanted: str) -> DriftproofError:
    return DriftproofError(f"{where}: {got}", wanted, "mend the reader, or copy the files again")
