"""Figures that were measured once, elsewhere or by hand: docs/benchmarks of the checkout.

Flower's simulation and BlazeFL by the scripts in gpu_bench/recorded; CUDA by ``driftproof bench
--device cuda --json`` on a machine with a GPU.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[1] / "docs" / "benchmarks"


def record(name: str) -> Any:
    """Return a record's content (None: there is none, or this is no checkout)."""
    path = FOLDER / f"{name}.json"
    if not path.is_file():
        return None
    return json.loads(path.read_text(encoding="utf-8"))


def on_cuda() -> dict[str, Any] | None:
    """Return the recorded CUDA run as a head with rows (None: no GPU was at hand)."""
    held = record("cuda")
    if held is None:
        return None
    rows = [b["extra_info"] | {"size": _size(b)} for b in held["benchmarks"]]
    return dict(held["driftproof"]) | {"rows": rows}


def _size(benchmark: dict[str, Any]) -> dict[str, Any]:
    params = benchmark["params"]
    return {key: value for key, value in params.items() if key not in ("dtype", "variant")}
