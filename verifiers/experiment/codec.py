"""How a unit's result is stored in the ledger: as JSON, in which every double keeps its bits.

A run that is not at its end is stored as a checkpoint: what it measured so far, and its state.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from io import BytesIO
from typing import Any

import numpy as np

from verifiers.running.scheduler import Result


def packed(value: Mapping[str, Any]) -> bytes:
    """Return a unit's result as bytes.

    >>> unpacked([(packed({"x": [0.1, 2]}), 0.5)])
    [{'x': [0.1, 2]}]
    """
    return json.dumps(value).encode()


def unpacked(results: Iterable[Result]) -> list[dict[str, Any]]:
    """Return what units measured, in their order."""
    return [json.loads(blob) for blob, _ in results]


CHECKPOINT = b"checkpoint\0"
"""What a stored checkpoint begins with; a result in JSON begins with a bracket."""


@dataclass(frozen=True)
class Checkpoint:
    """A run that was broken off.

    Attributes:
        told: what is known of it, numbers and lists; "done" is the share of its rounds.
        state: the algorithm's state, by field.
    """

    told: dict[str, Any]
    state: dict[str, np.ndarray]

    def packed(self) -> bytes:
        """Return it as bytes; nothing is pickled."""
        file = BytesIO()
        np.savez(file, allow_pickle=False, **self.state)
        head = json.dumps(self.told).encode()
        return CHECKPOINT + len(head).to_bytes(8, "little") + head + file.getvalue()


def checkpoint(blob: bytes) -> Checkpoint | None:
    """Return the checkpoint that is stored as these bytes, or None: they are a whole result.

    >>> checkpoint(packed({"x": 1})) is None
    True
    >>> checkpoint(Checkpoint({"done": 0.5}, {"w": np.zeros(2)}).packed()).state["w"]
    array([0., 0.])
    """
    if not blob.startswith(CHECKPOINT):
        return None
    begins = len(CHECKPOINT) + 8
    ends = begins + int.from_bytes(blob[begins - 8 : begins], "little")
    with np.load(BytesIO(blob[ends:]), allow_pickle=False) as arrays:
        state = {name: arrays[name] for name in arrays.files}
    return Checkpoint(json.loads(blob[begins:ends]), state)
