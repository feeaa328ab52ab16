"""How a unit's result is stored in the ledger: as JSON, in which every double keeps its bits.

A run that is not at its end is stored as a checkpoint: what it measured so far, and its state. The
ledger tells whether bytes are as they were written.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from io import BytesIO
from typing import Any

import numpy as np

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
        state: the algorithm's state, by field.
    """

    told: dict[str, Any]
    state: dict[str, np.ndarray]

    def packed(self) -> bytes:
        """Return it as bytes; nothing is pickled."""
        file = BytesIO()
        np.savez(file, allow_pickle=False, **self.state)
        head = json.dumps(self.told).encode()
        return len(head).to_bytes(8, "big") + head + file.getvalue()


def checkpoint(blob: bytes) -> Checkpoint | None:
    """Return the checkpoint that is stored as these bytes, or None: they are a whole result.

    A result begins with the bracket of a JSON object, a checkpoint with a length, whose first byte
    is 0.

    >>> checkpoint(packed({"x": 1})) is None
    True
    >>> checkpoint(Checkpoint({"done": 0.5}, {"w": np.zeros(2)}).packed()).state["w"]
    array([0., 0.])
    """
    if blob.startswith(b"{"):
        return None
    ends = 8 + int.from_bytes(blob[:8], "big")
    with np.load(BytesIO(blob[ends:]), allow_pickle=False) as arrays:
        state = {field: arrays[field] for field in arrays.files}
    return Checkpoint(json.loads(blob[8:ends]), state)
