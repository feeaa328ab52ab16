"""Tables of a user's own: CSV, ARFF and libsvm files, one column of which is the class.

Columns of numbers are scaled to [0, 1] by their own range, as the features of all data sets are; a
column of words becomes one feature a word, in alphabetical order. A line is one example. A file is
not believed: what is wrong is told with its place, and no more than ``MOST_NUMBERS`` are read.
"""

import csv
import math
import re
from pathlib import Path

import numpy as np

from driftproof.toolkit.errors import DriftproofError, unknown_name
from driftproof.toolkit.file_reader import FileReader, opened, wrong_at

SUFFIXES = (".csv", ".arff", ".libsvm", ".svm")
LINE_BYTES, MOST_NUMBERS, MOST_WORDS = 2**20, 2**26, 1000
"""Bytes of a line, numbers of a table, and different words of a column."""
MISSING = ("", "?", "na", "nan")
ATTRIBUTE = re.compile(r"@attribute\s+('[^']*'|\"[^\"]*\"|\S+)", re.I)


def is_table(path: Path) -> bool:
    """Say whether a path is called as a table that can be read; it may be gzipped.

    >>> is_table(Path("a.csv.gz")), is_table(Path("mnist"))
    (True, False)
    """
    return path.name.removesuffix(".gz").endswith(SUFFIXES)


def read_table(path: Path, label: str) -> tuple[np.ndarray, np.ndarray, int]:
    """Return features in [0, 1], [examples, features], classes 0, 1, …, and how many there are.

    Args:
        label: the column of the classes; of a libsvm file "": its lines begin with the class.

    Raises:
        DriftproofError: the file is not what it should be; with the line, or the column.
    """
    if path.name.removesuffix(".gz").endswith(SUFFIXES[2:]):
        values, label = _libsvm(path), "class"
        names, lines = [label, *map(str, range(1, values.shape[1]))], [*range(1, len(values) + 1)]
        columns = dict(zip(names, values.T, strict=True))
    else:
        with opened(path) as file:
            names, lines, rows = _rows(file, arff=".arff" in path.suffixes)
        columns = {
            name: np.array(of) for name, of in zip(names, zip(*rows, strict=True), strict=True)
        }
    if not label:
        raise DriftproofError(
            f"{path.name} without --label",
            f"the column of the classes, of {', '.join(names[:20])}",
            f"add --label {names[-1]}, say",
        )
    if label not in columns:
        raise unknown_name(
            f"column of {path.name} (--label names that of the classes)", label, names
        )
    known, labels = np.unique(columns.pop(label), return_inverse=True)
    if not 2 <= len(known) <= MOST_WORDS or not columns:
        wanted = f"2 to {MOST_WORDS} classes, and a column beside them"
        raise wrong_at(path, f"column {label!r}", f"{len(known)} different values", wanted)
    features = [_features(path, name, column, lines) for name, column in columns.items()]
    return np.hstack(features), labels.astype(np.int64), len(known)


def _rows(file: FileReader, *, arff: bool) -> tuple[list[str], list[int], list[list[str]]]:
    """Return the names of the columns, the numbers of the lines with examples, and their fields."""
    names, lines, rows = list[str](), list[int](), list[list[str]]()
    data, mark = not arff, ","
    for number, raw in file.lines(LINE_BYTES, open_end=True):
        try:
            line = raw.decode("utf-8-sig").strip()
            if not line or (arff and line.startswith("%")):
                continue
            if not data:
                names += [x.strip("'\"") for x in ATTRIBUTE.findall(line)]
                data = line.lower() == "@data"
                continue
            mark = mark if names else max(",;\t", key=line.count)
            (fields,) = csv.reader(
                [line],
                delimiter=mark,
                quotechar="'" if arff else '"',
                strict=True,
                skipinitialspace=True,
            )
        except (UnicodeDecodeError, csv.Error) as error:
            wanted = "a line of UTF-8, its fields between commas"
            raise file.wrong(str(error), wanted, f"line {number}") from error
        if not names:
            names = fields
        elif len(fields) != len(names) or len(rows) * len(names) > MOST_NUMBERS:
            wanted = f"{len(names)}, one for each name, and {MOST_NUMBERS:,} in all at most"
            raise file.wrong(f"{len(fields)} columns", wanted, f"line {number}")
        else:
            lines.append(number)
            rows.append([field.strip() for field in fields])
    if not rows or len(set(names)) < len(names):
        raise file.wrong(
            f"{len(rows)} examples of {', '.join(names)}", "examples, and a name for each column"
        )
    return names, lines, rows


def _libsvm(path: Path) -> np.ndarray:
    """Return the class and the features of each line."""
    from sklearn.datasets import load_svmlight_file

    try:
        features, classes = load_svmlight_file(str(path))
    except (ValueError, OverflowError, OSError, EOFError) as error:
        raise wrong_at(path, "one of its lines", str(error), "class index:value …") from error
    if math.prod(features.shape) > MOST_NUMBERS:
        got = f"{features.shape[0]:,} examples of {features.shape[1]:,} features"
        raise wrong_at(path, "its end", got, f"{MOST_NUMBERS:,} numbers at most")
    return np.column_stack([classes, features.toarray()])


def _features(path: Path, name: str, column: np.ndarray, lines: list[int]) -> np.ndarray:
    """Return a column scaled to [0, 1], [examples, 1], or a feature for each of its words."""
    missing = np.array([str(word).lower() in MISSING for word in column])
    try:
        values = np.where(missing, "0", column).astype(float)
        numbers = bool(np.isfinite(values).all())
    except ValueError:
        numbers = False
    if not numbers:
        words = np.unique(column)
        if len(words) > MOST_WORDS:
            wanted = f"{MOST_WORDS} at most, or numbers alone"
            raise wrong_at(path, f"column {name!r}", f"{len(words):,} different words", wanted)
        return np.asarray(column[:, None] == words, np.float64)
    if missing.any():
        at = f"line {lines[int(missing.argmax())]}, column {name!r}"
        raise wrong_at(path, at, "no value among numbers", "a number in each line")
    low, high = values.min(), values.max()
    return np.asarray(((values - low) / ((high - low) or 1.0))[:, None])
