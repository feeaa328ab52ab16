"""How a unit's result is stored in the ledger: as JSON, in which every double keeps its bits.

A run that is not at its end is stored as a checkpoint: what it measured so far, and its state. The
ledger tells whether bytes are as they were written.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from io import BytesIO
from typing import Any

import torch
from torch import Tensor

from driftproof.verifiers.running.scheduler import Result


def packed(value: Mapping[str, Any]) -> bytes:
    """Return a unit's result as bytes.

    >>> unpacked([(packed({"x": [0.1, 2]}), 0.5)])
    [{'x': [0.1, 2]}]
    """
    return json.dumps(value).encode()


def unpacked(results: Iterable[Result]) -> list[dict[str, Any]]:
    """Return what units measured, in their order."""
    return [json.loads(blob) for blob, _ in results]


@dataclass(frozen=True)
class Checkpoint:
    """A run that was broken off.

    Attributes:
        told: what is known of it, numbers and lists; "done" is the share of its rounds.
        state: the algorithm's state, by field, in its layout: a sum in another one may round
            otherwise.
    """

    told: dict[str, Any]
    state: dict[str, Tensor]

    def packed(self) -> bytes:
        """Return it as bytes, which are loaded without running code."""
        file = BytesIO()
        torch.save(vars(self), file)
        return file.getvalue()


def checkpoint(blob: bytes, device: str = "cpu") -> Checkpoint | None:
    """Return the checkpoint that is stored as these bytes, or None: they are a whole result.

    A result begins with the bracket of a JSON object.

    >>> checkpoint(packed({"x": 1})) is None
    True
    >>> checkpoint(Checkpoint({"done": 0.5}, {"w": torch.zeros(2)}).packed()).state["w"]
    tensor([0., 0.])
    """
    if blob.startswith(b"{"):
        return None
    return Checkpoint(**torch.load(BytesIO(blob), map_location=device, weights_only=True))
