"""Law: a shape that an annotation names is checked, in whichever package, in the first calls."""

from __future__ import annotations

import pytest
import torch
from jaxtyping import TypeCheckError

from driftproof.synthetic.problems import OpposedClients
from tests import shapes


def test_leaves_are_checked_too(monkeypatch):
    monkeypatch.setattr(shapes, "CALLS", 10**9)  # other tests have made the first calls
    names = [
        name for name in shapes.checked if name.startswith("driftproof.synthetic.problems.opposed")
    ]
    assert names
    oracles = OpposedClients().oracles(torch.float64)
    with pytest.raises(TypeCheckError):
        oracles.outer_value(torch.ones(3))
