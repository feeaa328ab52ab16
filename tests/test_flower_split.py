"""Flower's partitioners deal as splits do; without Flower, one message says what to install."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from driftproof.toolkit.errors import DriftproofError, MissingError
from driftproof.toolkit.flower_split import from_flower
from driftproof.toolkit.heterogeneity import heterogeneity

LABELS = np.random.Generator(np.random.Philox(key=1)).permutation(np.arange(600) % 6)
GROUPS = np.random.Generator(np.random.Philox(key=2)).permutation(np.arange(600) % 4)


def generator(seed=0):
    return np.random.Generator(np.random.Philox(key=seed))


class NoPartitioner:
    num_partitions = 3

    def load_partition(self, number):
        raise AssertionError("nobody comes so far")


def test_without_flower_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(MissingError, match=r"pip install 'driftproof\[flower\]'") as told:
        from_flower(NoPartitioner()).parts(LABELS, None, 3, generator())
    assert told.value.exit_code == 3


def test_what_is_no_partitioner_is_refused():
    with pytest.raises(DriftproofError, match="a partitioner of flwr_datasets"):
        from_flower("dirichlet")


@pytest.fixture
def flower():
    """Flower's partitioners, where the extra is installed."""
    pytest.importorskip("datasets")
    return pytest.importorskip("flwr_datasets.partitioner")


def every(flower):
    return {
        "iid": flower.IidPartitioner(5),
        "dirichlet": flower.DirichletPartitioner(5, "label", alpha=0.5, min_partition_size=1),
        "shards": flower.ShardPartitioner(5, "label", num_shards_per_partition=2),
        "pathological": flower.PathologicalPartitioner(5, "label", num_classes_per_partition=2),
        "linear": flower.LinearPartitioner(5),
        "sizes": flower.SizePartitioner([500, 25, 25, 25, 25]),
    }


@pytest.mark.filterwarnings("ignore")  # of Hugging Face's, on old interfaces
@pytest.mark.parametrize("name", ["iid", "dirichlet", "shards", "pathological", "linear", "sizes"])
def test_a_partitioner_deals_each_example_once(flower, name):
    split = from_flower(every(flower)[name])
    parts = split.parts(LABELS, None, 5, generator())
    dealt = np.concatenate(parts)
    assert len(set(dealt.tolist())) == len(dealt)
    assert len(dealt) == 600 or name == "pathological"  # a class may be at no client
    again, other = (split.parts(LABELS, None, 5, generator(seed)) for seed in (0, 1))
    assert all(map(np.array_equal, parts, again))
    assert not all(map(np.array_equal, parts, other))
    if name == "pathological":  # so the numbers are those of the labels' rows
        assert max(len(set(LABELS[part])) for part in parts) == 2
    if name == "shards":  # Flower sorts them by class; a part is in random order here
        assert any((np.diff(LABELS[part]) < 0).any() for part in parts)
    if name == "sizes":
        assert [len(part) for part in parts] == [500, 25, 25, 25, 25]


@pytest.mark.filterwarnings("ignore")
def test_groups_and_seeds_reach_the_partitioner(flower):
    parts = from_flower(flower.NaturalIdPartitioner("group")).parts(LABELS, GROUPS, 4, generator())
    assert sorted(set(GROUPS[part]) == {GROUPS[part[0]]} for part in parts) == [True] * 4

    def seeded(seed):
        return flower.DirichletPartitioner(5, "label", 0.5, min_partition_size=1, seed=seed)

    def shares(rule, seed):
        return heterogeneity(LABELS, rule.parts(LABELS, None, 5, generator(seed)), 6).sizes

    assert shares(from_flower(seeded), 0) == shares(from_flower(seeded), 0)
    assert shares(from_flower(seeded), 0) != shares(from_flower(seeded), 1)
    assert shares(from_flower(seeded(3)), 0) == shares(from_flower(seeded(3)), 1)  # its own seed


@pytest.mark.filterwarnings("ignore")
def test_what_flower_refuses_is_told_once(flower):
    with pytest.raises(DriftproofError, match="num_partitions=4"):
        from_flower(flower.IidPartitioner(5)).parts(LABELS, None, 4, generator())
    with pytest.raises(DriftproofError, match="Flower's NaturalIdPartitioner"):
        from_flower(flower.NaturalIdPartitioner("group")).parts(LABELS, None, 4, generator())
    with pytest.raises(DriftproofError, match="Flower's SizePartitioner"):
        from_flower(flower.SizePartitioner([700, 1])).parts(LABELS, None, 2, generator())
    few = flower.DirichletPartitioner(5, "label", 1e-3, min_partition_size=0)
    with pytest.raises(DriftproofError, match="without an example"):
        from_flower(few).parts(LABELS[:20], None, 5, generator())
