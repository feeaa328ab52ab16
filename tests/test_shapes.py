"""Law: a shape that an annotation names is checked, in whichever package, in the first calls."""

from __future__ import annotations

from types import ModuleType

import pytest
import torch
from jaxtyping import Float, TypeCheckError
from torch import Tensor

from driftproof.synthetic.problems import OpposedClients
from tests import shapes

PAIR = Float[Tensor, "clients dim"]


def module(**functions):
    made = ModuleType("made")
    for name, function in functions.items():
        function.__module__ = "made"
        function.__globals__.setdefault("PAIR", PAIR)
        setattr(made, name, function)
    shapes.check(made)
    return made


def summed(one: PAIR, other: PAIR, unknown: Nowhere = None) -> Float[Tensor, " dim"]:  # noqa: F821
    return (one + other).sum(0)


def wrong(one: PAIR) -> Float[Tensor, " clients"]:
    return one[0]


def test_shapes_are_checked_in_the_first_calls(monkeypatch):
    monkeypatch.setattr(shapes, "CALLS", 3)
    made = module(summed=summed, wrong=wrong, free=lambda one: one)
    assert made.summed(torch.ones(2, 3), torch.ones(2, 3)).shape == (3,)
    with pytest.raises(TypeCheckError):
        made.summed(torch.ones(2, 3), torch.ones(1, 3))
    with pytest.raises(TypeCheckError):
        made.wrong(torch.ones(2, 3))
    made.summed(torch.ones(2, 3), torch.ones(2, 3))
    made.summed(torch.ones(2, 3), torch.ones(1, 3))  # the fourth call is not checked
    assert made.free(1) == 1


def test_leaves_are_checked_too(monkeypatch):
    monkeypatch.setattr(shapes, "CALLS", 10**9)  # other tests have made the first calls
    names = [
        name for name in shapes.checked if name.startswith("driftproof.synthetic.problems.opposed")
    ]
    assert names
    oracles = OpposedClients().oracles(torch.float64)
    with pytest.raises(TypeCheckError):
        oracles.outer_value(torch.ones(3))
