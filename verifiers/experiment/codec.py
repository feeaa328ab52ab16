"""How a unit's result is stored in the ledger: as JSON, in which every double keeps its bits."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

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
