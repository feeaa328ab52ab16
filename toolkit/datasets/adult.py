"""UCI Adult: 48,842 people of the 1994 census; does one earn more than 50,000 dollars a year?

A line is a person: 14 columns and the label, separated by commas. The first line of adult.test is
a comment that begins with "|", and its labels end in a dot.

Columns of categories become one feature a category (1 for the person's own), in the order of
adult.names. A missing value, "?", is a category of its own where the published files have one.
Columns of numbers are scaled to [0, 1] by the ranges below, which are those of both published
files together; a number outside is refused.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from itertools import product
from pathlib import Path

import numpy as np

from driftproof.toolkit.dataset import Data, DataSet, Split, dataset
from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.file_reader import FileReader, opened

SEXES = ("Female", "Male")
RACES = ("White", "Asian-Pac-Islander", "Amer-Indian-Eskimo", "Other", "Black")
COLUMNS: dict[str, range | tuple[str, ...]] = {
    "age": range(17, 91),
    "workclass": (
        "Private", "Self-emp-not-inc", "Self-emp-inc", "Federal-gov", "Local-gov", "State-gov",
        "Without-pay", "Never-worked", "?",
    ),
    "fnlwgt": range(12_285, 1_490_401),
    "education": (
        "Bachelors", "Some-college", "11th", "HS-grad", "Prof-school", "Assoc-acdm", "Assoc-voc",
        "9th", "7th-8th", "12th", "Masters", "1st-4th", "10th", "Doctorate", "5th-6th",
        "Preschool",
    ),
    "education-num": range(1, 17),
    "marital-status": (
        "Married-civ-spouse", "Divorced", "Never-married", "Separated", "Widowed",
        "Married-spouse-absent", "Married-AF-spouse",
    ),
    "occupation": (
        "Tech-support", "Craft-repair", "Other-service", "Sales", "Exec-managerial",
        "Prof-specialty", "Handlers-cleaners", "Machine-op-inspct", "Adm-clerical",
        "Farming-fishing", "Transport-moving", "Priv-house-serv", "Protective-serv",
        "Armed-Forces", "?",
    ),
    "relationship": (
        "Wife", "Own-child", "Husband", "Not-in-family", "Other-relative", "Unmarried",
    ),
    "race": RACES,
    "sex": SEXES,
    "capital-gain": range(100_000),
    "capital-loss": range(4_357),
    "hours-per-week": range(1, 100),
    "native-country": (
        "United-States", "Cambodia", "England", "Puerto-Rico", "Canada", "Germany",
        "Outlying-US(Guam-USVI-etc)", "India", "Japan", "Greece", "South", "China", "Cuba", "Iran",
        "Honduras", "Philippines", "Italy", "Poland", "Jamaica", "Vietnam", "Mexico", "Portugal",
        "Ireland", "France", "Dominican-Republic", "Laos", "Ecuador", "Taiwan", "Haiti",
        "Columbia", "Hungary", "Guatemala", "Nicaragua", "Scotland", "Thailand", "Yugoslavia",
        "El-Salvador", "Trinadad&Tobago", "Peru", "Hong", "Holand-Netherlands", "?",
    ),
}  # fmt: skip
"""The numbers, or the categories, that a column may have; as published, misspellings included."""
LABELS = ("<=50K", ">50K")
ENDS = {"adult.data": "", "adult.test": "."}
"""What follows a label."""
LINE_BYTES, MOST_LINES = 512, 100_000
"""Bytes of a line, and lines of a file; the longest published line has 158 bytes."""
NUMBER_DIGITS = 7

Known = dict[bytes, int] | range
"""What a field may be: a category, by its place in the list, or a number."""
KNOWN: list[tuple[str, Known]] = [
    (name, of if isinstance(of, range) else {each.encode(): k for k, each in enumerate(of)})
    for name, of in COLUMNS.items()
]


@dataset(
    name="adult",
    source="Becker, Kohavi 1996, https://archive.ics.uci.edu/dataset/2/adult, CC BY 4.0",
    statement="32,561 (and 16,281) people: 6 numbers scaled to [0, 1], 102 categories; income up "
    "to or above $50,000; groups by sex and race",
)
class Adult(DataSet):
    """A file of comma-separated values for training, one more for the test.

    A group is a sex and a race, ten in all. FedDRO's third figure (2023) and Haddadpour et al.
    (2022) ask for equality of opportunity "on protected classes": ``groups_of("Female")``, "Male",
    "White", "Black" are the unions to compare with everybody.
    """

    files = ("adult.data",)
    optional = ("adult.test",)

    def read(self, paths: Mapping[str, Path]) -> Data:
        """Return the people, a row each, with their income's class and their group."""
        names = {"adult.data": "train", "adult.test": "test"}
        splits = {names[name]: _split(path, ENDS[name]) for name, path in paths.items()}
        width = sum(1 if isinstance(of, range) else len(of) for of in COLUMNS.values())
        groups = tuple(f"{sex}, {race}" for sex, race in product(SEXES, RACES))
        return Data("Adult", len(LABELS), (width,), splits, group_names=groups)

    def sample(self, folder: Path) -> None:
        """Write 30 people to train on, with every category of the shorter lists, and 12 more."""
        random = np.random.Generator(np.random.Philox(key=0))
        for name, count in (("adult.data", 30), ("adult.test", 12)):
            lines = ["|1x3 Cross validator"] if name == "adult.test" else []
            for row in range(count):
                fields = [
                    str(random.integers(of[0], of[-1] + 1))
                    if isinstance(of, range)
                    else of[row % len(of)]
                    for of in COLUMNS.values()
                ]
                lines.append(", ".join([*fields, LABELS[row % 2] + ENDS[name]]))
            (folder / name).write_text("\n".join(lines) + "\n", encoding="ascii")


def _split(path: Path, end: str) -> Split:
    labels = {f"{label}{end}".encode(): k for k, label in enumerate(LABELS)}
    known = [*KNOWN, ("income", labels)]
    codes = array("q")
    with opened(path) as file:
        for number, line in file.lines(LINE_BYTES):
            if number > MOST_LINES:
                raise file.wrong("more lines", f"at most {MOST_LINES:,}", f"line {number}")
            if line and not (number == 1 and line.startswith(b"|")):
                codes.extend(_codes(file, number, line, known))
        if not codes:
            raise file.wrong("the end of the file", "a person a line, one or more")
    by_column = np.array(codes).reshape(-1, len(known)).T
    columns = {name: column for (name, _), column in zip(known, by_column, strict=True)}
    features = np.hstack([_features(columns[name], of) for name, of in COLUMNS.items()])
    groups = columns["sex"] * len(RACES) + columns["race"]
    return Split(features, columns["income"].copy(), groups=groups)


def _codes(file: FileReader, number: int, line: bytes, known: list[tuple[str, Known]]) -> list[int]:
    """Return the numbers of a line, and for a category its place in the list."""
    fields = [field.strip() for field in line.split(b",")]
    if len(fields) != len(known):
        wanted = f"{len(known)}, separated by commas"
        raise file.wrong(f"{len(fields)} columns", wanted, f"line {number}")
    codes = []
    for column, (field, (name, of)) in enumerate(zip(fields, known, strict=True), 1):
        if isinstance(of, range):
            code = int(field) if field.isdigit() and len(field) <= NUMBER_DIGITS else -1
            wrong = code not in of
        else:
            code = of.get(field, -1)
            wrong = code < 0
        if wrong:
            raise _unknown(file, f"line {number}, column {column}", field, name, of)
        codes.append(code)
    return codes


def _unknown(file: FileReader, place: str, field: bytes, name: str, of: Known) -> DriftproofError:
    if isinstance(of, range):
        wanted = f"a whole number, {of[0]:,} to {of[-1]:,}"
    else:
        wanted = f"one of {', '.join(category.decode() for category in of)}"
    return file.wrong(f"{name} '{field.decode('ascii', 'backslashreplace')}'", wanted, place)


def _features(codes: np.ndarray, of: range | tuple[str, ...]) -> np.ndarray:
    """Return the features of a column, [people, 1 or categories]."""
    if isinstance(of, range):
        return ((codes - of[0]) / (of[-1] - of[0]))[:, None]
    return np.asarray(codes[:, None] == np.arange(len(of)), np.float64)
