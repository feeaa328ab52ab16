"""What is taken of fednest/tuning's runs: accuracies at equal k and equal communication, plots."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from verifiers.experiment import Panel, curve

Results = Mapping[str, list[dict[str, Any]]]
"""What a run is called → its result for each seed."""
LAST = 0.1
"""The share of the axis, at its end, over which accuracies are averaged."""
AXES = {"rounds": "round k", "communication": "rounds of communication"}


def reached(results: Sequence[Mapping[str, Any]], axis: str) -> float:
    """Return how far along an axis every seed has come that did not overflow."""
    ended = [result for result in results if result["ended"]] or results
    return float(min(result[axis][-1] for result in ended))


def at_the_end(results: Sequence[Mapping[str, Any]], axis: str, end: float) -> np.ndarray:
    """Return each seed's test accuracy, averaged over the last LAST of [0, end]."""
    return np.array([_between(r, axis, (1 - LAST) * end, end) for r in results])


def _between(result: Mapping[str, Any], axis: str, low: float, high: float) -> float:
    at, accuracy = np.array(result[axis]), np.array(result["accuracy"])
    if not result["ended"]:
        return 1.0 / 10  # overflowed: as good as a guess among ten classes
    inside = (at > low) & (at <= high)
    if not inside.any():  # the last k before the end of the axis
        inside = at == at[at <= high].max()
    return float(accuracy[inside].mean())


def panel(
    name: str, title: str, axis: str, runs: Results, levels: Mapping[str, np.ndarray]
) -> Panel:
    """Return accuracy along an axis as far as all have come, and references as straight lines.

    Args:
        levels: references: the accuracy of each seed at the end.
    """
    end = min(reached(results, axis) for results in runs.values())
    x = np.linspace(0, end, int(min(end, 100)) + 1)
    curves = [
        curve(label, x.tolist(), np.array([_followed(r, axis, x) for r in results]))
        for label, results in runs.items()
    ]
    curves += [
        curve(label, [0.0, end], np.repeat(values[:, None], 2, 1))
        for label, values in levels.items()
    ]
    return Panel(name, title, AXES[axis], "class-balanced test accuracy", curves)


def _followed(result: Mapping[str, Any], axis: str, x: np.ndarray) -> np.ndarray:
    """Return the accuracy of the last k before each point of the axis."""
    at = np.searchsorted(result[axis], x, side="right") - 1
    return np.asarray(result["accuracy"])[at]
