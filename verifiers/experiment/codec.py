"""How a unit's result is stored in the ledger: as JSON, in which every double keeps its bits.

A run that is not at its end is stored as a checkpoint: what it measured so far, and its state.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from io import BytesIO
from typing import Any

import numpy as np

from driftproof.toolkit.errors import DriftproofError
from driftproof.verifiers.running.scheduler import Result


def packed(value: Mapping[str, Any]) -> bytes:
    """Return a unit's result as bytes.

    >>> unpacked([(packed({"x": [0.1, 2]}), 0.5)])
    [{'x': [0.1, 2]}]
    """
    return json.dumps(value).encode()


def unpacked(results: Iterable[Result]) -> list[dict[str, Any]]:
    """Return what units measured, in their order.

    Raises:
        DriftproofError: the bytes of a result are not JSON.
    """
    try:
        return [json.loads(blob) for blob, _ in results]
    except ValueError as error:
        raise _damaged("result", "") from error


CHECKPOINT = b"checkpoint\0"
"""What a stored checkpoint begins with; a result begins with the bracket of a JSON object."""
DIGEST = 16
"""Bytes of the digest that follows, of all the rest: by it a changed byte is seen."""


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
        rest = len(head).to_bytes(8, "little") + head + file.getvalue()
        return CHECKPOINT + _digest(rest) + rest


def checkpoint(blob: bytes, name: str = "") -> Checkpoint | None:
    """Return the checkpoint that is stored as these bytes, or None: they are a whole result.

    Args:
        name: of the unit, for the message.

    Raises:
        DriftproofError: the bytes were changed, or cut, after they were written.

    >>> checkpoint(packed({"x": 1})) is None
    True
    >>> checkpoint(Checkpoint({"done": 0.5}, {"w": np.zeros(2)}).packed()).state["w"]
    array([0., 0.])
    """
    if blob.startswith(b"{"):
        return None
    begins = len(CHECKPOINT) + DIGEST
    head, rest = blob[:begins], blob[begins:]
    if head != CHECKPOINT + _digest(rest):
        raise _damaged("checkpoint", name)
    ends = 8 + int.from_bytes(rest[:8], "little")
    with np.load(BytesIO(rest[ends:]), allow_pickle=False) as arrays:
        state = {field: arrays[field] for field in arrays.files}
    return Checkpoint(json.loads(rest[8:ends]), state)


def _digest(rest: bytes) -> bytes:
    return blake2b(rest, digest_size=DIGEST).digest()


def _damaged(what: str, name: str) -> DriftproofError:
    return DriftproofError(
        f"a damaged {what} in the ledger" + (f", of {name}" if name else ""),
        "one that is as driftproof wrote it",
        "run without --resume, or with another --out",
    )
