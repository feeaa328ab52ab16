"""What a figure shows: curves over an axis, each with the range of the seeds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Panel:
    """One plot.

    Attributes:
        name: ends the names of its files.
        curves: of ``curve``, one a method.
        log: "y", "x" or "xy" for logarithmic axes, else "".
    """

    name: str
    title: str
    x_label: str
    y_label: str
    curves: Sequence[Mapping[str, Any]]
    log: str = ""


def curve(label: str, x: Sequence[float], values: np.ndarray) -> dict[str, Any]:
    """Return a curve's mean over seeds with the range of the seeds, values [seeds, points]."""
    return {
        "label": label,
        "x": list(x),
        "mean": values.mean(0).tolist(),
        "low": values.min(0).tolist(),
        "high": values.max(0).tolist(),
    }
