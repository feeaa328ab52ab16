"""What a figure shows: curves over an axis, each with the confidence interval of its mean."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from driftproof.toolkit.errors import DriftproofError
from driftproof.verifiers.experiment.sentence import interval


@dataclass(frozen=True)
class Panel:
    """One plot.

    Attributes:
        name: ends the names of its files.
        curves: of ``curve``, one a method.
        log: "y", "x" or "xy" for logarithmic axes, else "".
        note: stands below the plot: sizes, seeds, what the band is.
    """

    name: str
    title: str
    x_label: str
    y_label: str
    curves: Sequence[Mapping[str, Any]]
    log: str = ""
    note: str = ""


def curve(label: str, x: Sequence[float], values: np.ndarray, log: str = "") -> dict[str, Any]:
    """Return a curve's mean over seeds with its 95 % confidence interval, values [seeds, points].

    Where a seed has no finite value, because its run diverged say, the curve is that of the others,
    and the label says how many there are of it. A curve that no seed has there has a gap.

    Args:
        log: of the plot. On a logarithmic y the mean is the geometric one; values ≤ 0 are left out.

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
    with np.errstate(divide="ignore", invalid="ignore"):
        values = np.log(values) if "y" in log else np.asarray(values, float)
    shown: dict[str, list[float | None]] = {"mean": [], "low": [], "high": []}
    for column in values.T:
        own = column[np.isfinite(column)]
        ends = [own.mean(), *map(float, interval(own))] if len(own) else [None] * 3
        for key, value in zip(shown, ends, strict=True):
            real = np.exp(value) if "y" in log and value is not None else value
            shown[key].append(None if real is None else float(real))
    lost = int(np.isnan(values).any(1).sum())
    told = f" (diverged: {lost} of {len(values)} seeds)" if lost else ""
    return {"label": label, "told": told, "x": list(x), **shown}


def over_seeds(results: Sequence[Mapping[str, Any]], name: str, points: int) -> np.ndarray:
    """Return what each seed's run measured, [seeds, points]; nan after a run that ended early."""
    rows = [np.pad(r[name], (0, points - len(r[name])), constant_values=np.nan) for r in results]
    return np.array(rows, dtype=float)
