"""What a figure shows: curves over an axis, each with the range of the seeds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from driftproof.toolkit.errors import DriftproofError


@dataclass(frozen=True)
class Panel:
    """One plot.

    Attributes:
        name: ends the names of its files.
        curves: of ``curve``, one a method.
        log: "y", "x" or "xy" for logarithmic axes, else "".
        path: whether x may go back, and points are joined in their order. The page shows the SVG
            of such a panel: its own plots have every curve in the order of x.
    """

    name: str
    title: str
    x_label: str
    y_label: str
    curves: Sequence[Mapping[str, Any]]
    log: str = ""
    path: bool = False


def curve(label: str, x: Sequence[float], values: np.ndarray) -> dict[str, Any]:
    """Return a curve's mean over seeds with the range of the seeds, values [seeds, points].

    Where a seed has no finite value, because its run diverged say, the curve has a gap.

    Raises:
        DriftproofError: x and the values do not have as many points.
    """
    if values.ndim != 2 or values.shape[1] != len(x):
        raise DriftproofError(
            f"curve({label!r}, …) of {len(x)} points x and values of shape {values.shape}",
            "a value for each seed and point, [seeds, points]",
            "give the moments of the run itself: over_seeds(results, name, len(run.moments)) over "
            "run.moments",
        )

    def shown(numbers: np.ndarray) -> list[float | None]:
        fine = np.isfinite(values).all(0)
        return [float(v) if ok else None for v, ok in zip(numbers, fine, strict=True)]

    return {
        "label": label,
        "x": list(x),
        "mean": shown(values.mean(0)),
        "low": shown(values.min(0)),
        "high": shown(values.max(0)),
    }


def over_seeds(results: Sequence[Mapping[str, Any]], name: str, points: int) -> np.ndarray:
    """Return what each seed's run measured, [seeds, points]; nan after a run that ended early."""
    rows = [np.pad(r[name], (0, points - len(r[name])), constant_values=np.nan) for r in results]
    return np.array(rows, dtype=float)
