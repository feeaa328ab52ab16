"""driftproof: is a theorem of federated optimisation true as printed, and how tight is it?

What a claim's file needs is here; importing it costs numpy and nothing heavier.
"""

from __future__ import annotations

import importlib
import os
from typing import Any

__version__ = "0.1.0"

if "OMP_WAIT_POLICY" not in os.environ:
    # torch and numba have a pool of OpenMP threads each: one that has done its work must not spin
    # for a millisecond on the cores that the other wants. 30 µs do for work in close succession.
    os.environ.setdefault("GOMP_SPINCOUNT", "10000")

_WHERE = {
    "Assumption": "toolkit.cases",
    "Case": "toolkit.cases",
    "ByProof": "toolkit.readings",
    "DriftproofError": "toolkit.errors",
    "Erratum": "toolkit.readings",
    "Stated": "toolkit.readings",
    "Undecided": "toolkit.readings",
    "average": "toolkit.measure",
    "each": "toolkit.measure",
    "given_past": "toolkit.measure",
    "grid": "toolkit.cases",
    "intended": "toolkit.readings",
    "literal": "toolkit.readings",
    "narrower": "toolkit.readings",
    "sq": "toolkit.measure",
    "sweep": "toolkit.parameters",
    "wider": "toolkit.readings",
}

__all__ = sorted(_WHERE)


def __getattr__(name: str) -> Any:
    if name in _WHERE:
        return getattr(importlib.import_module(_WHERE[name]), name)
    raise AttributeError(f"module 'toolkit' has no attribute {name!r}")
