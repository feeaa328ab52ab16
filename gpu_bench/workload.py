"""A workload: one round of a federation, written several ways that must agree."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

Round = Callable[[], np.ndarray]
"""Runs one round from the start and returns the averaged iterate, [dim, replicates]."""


@dataclass(frozen=True)
class Workload:
    """One workload at one size.

    Attributes:
        name: W1 or W2 of docs/performance.md, with its size.
        variants: name → a round. "numpy loop" is the reference, "driftproof" what the federation
            runs.
    """

    name: str
    variants: Mapping[str, Round]
