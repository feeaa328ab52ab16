"""The people of figure 3: UCI Adult, or a generated table, dealt to eight clients.

Without Adult's files a table is generated. A score of merit u ~ N(0, 1) is seen with noise, and one
is labelled positive above a threshold that is 0.3 for the majority and 1.2 for the minority, a
fifth of all. The best decision on what is seen asks the minority for more, so that its true
positive rate is lower: an unfairness that is in the labels.
"""

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from driftproof.synthetic.network_problems.samples import ClientData
from driftproof.toolkit.dataset import read
from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.heterogeneity import heterogeneity
from driftproof.toolkit.splits import IID, LabelShards

CLIENTS = 8
SPLITS = ("at random", "by protected group")
"""How the people are dealt to clients: the second is sorted and cut in equal parts."""
NOISE, THRESHOLDS, MINORITY = 0.5, (0.3, 1.2), 0.2
TRAIN, TEST = 1_600, 1_600
RACES = "White", "Black"
"""The protected groups are these and all others together."""


class Table(NamedTuple):
    """Some people.

    Attributes:
        inputs: [people, features].
        labels: 0 or 1, [people].
        member: who is in which protected group, [people, groups].
        sorting: the number of the group that ``by protected group`` sorts by, [people].
    """

    inputs: np.ndarray
    labels: np.ndarray
    member: np.ndarray
    sorting: np.ndarray


@dataclass(frozen=True, eq=False)
class People:
    """A table to train on and one for the test."""

    title: str
    groups: tuple[str, ...]
    train: Table
    test: Table


@lru_cache(maxsize=1)
def people(data: Path | None) -> People:
    """Return Adult, or the generated table.

    Raises:
        DriftproofError: the data are not a table with protected groups, or have no test split.
    """
    if data is None:
        random = np.random.Generator(np.random.Philox(key=0))
        train, test = (_generated(random, count) for count in (TRAIN, TEST))
        return People("a generated table", ("majority", "minority"), train, test)
    found = read(data)
    races = {name.split(", ")[-1] for name in found.group_names}
    if found.classes != 2 or not set(RACES) <= races or "test" not in found.splits:
        raise DriftproofError(
            f"{found.title}: {found.classes} classes, {len(found.group_names)} groups, splits "
            f"{', '.join(found.splits)}",
            "UCI Adult, with its test split",
            "name the folder with adult.data and adult.test, or leave out --data",
        )
    tables = {}
    for name in ("train", "test"):
        split = found.splits[name]
        assert split.groups is not None
        of_race = [np.isin(split.groups, found.groups_of(race)) for race in RACES]
        member = np.stack([*of_race, ~np.any(of_race, 0)], 1)
        inputs = split.scaled().astype(np.float32)
        tables[name] = Table(inputs, split.labels, member, split.groups)
    return People(found.title, ("white", "black", "other races"), tables["train"], tables["test"])


def _generated(random: np.random.Generator, count: int) -> Table:
    group = (random.random(count) < MINORITY).astype(np.int64)
    merit = random.normal(size=count)
    seen = merit + NOISE * random.normal(size=count)
    unrelated = random.random((count, 3))
    inputs = np.column_stack([seen, group == 0, group == 1, unrelated]).astype(np.float32)
    labels = (merit > np.array(THRESHOLDS)[group]).astype(np.int64)
    return Table(inputs, labels, np.stack([group == 0, group == 1], 1), group)


@dataclass(frozen=True, eq=False)
class Federation:
    """The training table at eight clients.

    Attributes:
        data: inputs and labels of each client.
        member: who is in which protected group, [samples, groups] of each client.
        parts: the numbers of each client's people.
        others: the numbers of those that no client has: in a search they validate.
    """

    data: ClientData
    member: list[np.ndarray]
    parts: list[np.ndarray]
    others: np.ndarray


@lru_cache(maxsize=2)
def federation(data: Path | None, split: str, seed: int, choosing: bool = False) -> Federation:
    """Deal the training table: at random, or sorted by group and cut in equal parts.

    Args:
        choosing: whether settings are chosen: a fifth of the people, at random, is left out then.
    """
    table = people(data).train
    random = np.random.Generator(np.random.Philox(key=seed))
    everybody = random.permutation(len(table.labels)) if choosing else np.arange(len(table.labels))
    others, dealt = np.split(everybody, [len(everybody) // 5 if choosing else 0])
    if split == SPLITS[0]:
        parts = IID().parts(table.labels[dealt], CLIENTS, random)
    else:  # shards of the groups in place of the labels
        parts = LabelShards(shards=1).parts(table.sorting[dealt], CLIENTS, random)
    parts = [dealt[part] for part in parts]
    held = ClientData(
        [table.inputs[part] for part in parts], [table.labels[part] for part in parts]
    )
    return Federation(held, [table.member[part] for part in parts], parts, others)


def setting(data: Path | None, seed: int) -> list[str]:
    """Say what the data are, and how unlike the clients are in labels and in groups."""
    known = people(data)
    shares = ", ".join(
        f"{name} {share:.1%}"
        for name, share in zip(known.groups, known.train.member.mean(0), strict=True)
    )
    made = "" if data else ", not UCI Adult (no --data)"
    table, lines = known.train, []
    for split in SPLITS:
        parts = federation(data, split, seed).parts
        groups = heterogeneity(table.sorting, parts, int(table.sorting.max()) + 1)
        lines.append(
            f"clients {split}: {heterogeneity(table.labels, parts, 2)}; total variation of the "
            f"groups {groups.mean_variation:.2g} on average, {groups.largest_variation:.2g} at "
            "most (first seed)"
        )
    return [
        f"data: {known.title}{made}; {len(table.labels):,} people to train on, "
        f"{len(known.test.labels):,} to test; all features, scaled; protected groups: {shares}",
        *lines,
    ]
