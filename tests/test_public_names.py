"""What a user imports: its three lists agree, and each name is there."""

from __future__ import annotations

import pytest

import driftproof
from driftproof.toolkit.discover import leaves


def test_every_name_is_imported_from_where_it_is_said_to_be():
    assert set(driftproof.__all__) <= set(dir(driftproof))
    assert "run" in driftproof.__all__
    assert "TYPE_CHECKING" not in driftproof.__all__


@pytest.mark.parametrize("name", driftproof.__all__)
def test_every_name_is_there(name):
    assert getattr(driftproof, name) is not None


@pytest.mark.parametrize("part", ["datasets", "experiments", "networks"])
def test_what_leaves_are_written_with_is_there(part):
    offered = getattr(driftproof, part)
    assert len(set(offered.__all__)) == len(offered.__all__)
    assert all(getattr(offered, name) is not None for name in offered.__all__)


def test_a_name_that_is_not_there_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'clam'"):
        driftproof.clam  # noqa: B018


@pytest.mark.parametrize("kind", ["problem", "algorithm", "network", "split"])
def test_leaves_are_given_by_their_class_names(kind):
    offered = getattr(driftproof, f"{kind}s")
    for leaf in leaves(kind).values():
        assert leaf.symbol in dir(offered)
    some = next(iter(leaves(kind).values()))
    assert getattr(offered, some.symbol) is some.load()
