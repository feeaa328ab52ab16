"""What is taken of fednest/tuning's runs: accuracies, sentences judged on them, plots."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from verifiers.experiment import Panel, Sentence, curve, judged_by_seeds, similar_by_seeds
from verifiers.experiments.fednest.tuning import plans

MARGIN = 0.02
"""Class-balanced accuracies within two percentage points count as similar; set before any run."""
LAST = 0.1
"""The share of the axis, at its end, over which accuracies are averaged."""
HOW = {"rounds": "at equal k", "communication": "at equal communication"}
AXES = {"rounds": "round k", "communication": "rounds of communication"}
Results = Sequence[Mapping[str, Any]]
"""What one kind of run measured, a seed each."""
Runs = Mapping[tuple[str, bool], Results]
"""Results by label and by whether the clients' data are i.i.d."""


def judged(runs: Runs) -> list[Sentence]:
    """Return every sentence, on the slides' algorithm and on the public code's."""
    sentences = []
    for one, other, source in (
        ("FedNest", "LFedNest", ""),
        ("FedNest", plans.LIGHT_MIDDLE, ", LFedNest's α in the middle of the grid"),
        (plans.PUBLIC, plans.PUBLIC_LIGHT, ", public code"),
    ):
        for axis, how in HOW.items():
            pair = _pair(runs, (one, True), (other, True), axis)
            sentences.append(
                similar_by_seeds(
                    "FedNest behaves similarly to LFedNest", f"i.i.d., {how}{source}", *pair,
                    margin=MARGIN, comparisons=len(HOW),
                )
            )  # fmt: skip
    pairs = [
        ("FedNest", "FedNest_SGD", ""),
        (plans.ALL_SHARED, "FedNest_SGD", f", {plans.ALL_SHARED}"),
        (plans.PUBLIC, plans.PUBLIC_SGD, ", public code"),
    ]
    for how in plans.HARDER:
        both = (plans.harder(label, how) for label in ("FedNest", "FedNest_SGD"))
        pairs.append((*both, f", {how}"))  # type: ignore[arg-type]
    for one, other, source in pairs:
        for axis, how in HOW.items():
            sentences.append(
                judged_by_seeds(
                    "FedNest (with SVRG) is significantly better than FedNest_SGD",
                    f"not i.i.d., {how}{source}",
                    *_pair(runs, (one, False), (other, False), axis), comparisons=len(HOW),
                )
            )  # fmt: skip
    text = "tuned is better than not tuned"
    pair = _pair(runs, (plans.MACHINE, True), (plans.MACHINE_FIXED, True), "rounds")
    sentences.append(judged_by_seeds(text, "the two references, one machine", *pair, comparisons=1))
    for alike, where in ((True, "i.i.d."), (False, "not i.i.d.")):
        for axis, how in HOW.items():
            x, y = _pair(runs, ("FedNest", alike), (plans.FIXED, alike), axis)
            setting = f"FedNest, {where}, {how}"
            sentences.append(judged_by_seeds(text, setting, x, y, comparisons=4))
    return sentences


def _pair(
    runs: Runs, one: tuple[str, bool], other: tuple[str, bool], axis: str
) -> tuple[np.ndarray, np.ndarray]:
    """Return the two runs' accuracies at the end of what both have reached."""
    end = min(reached(runs[key], axis) for key in (one, other))
    return at_the_end(runs[one], axis, end), at_the_end(runs[other], axis, end)


def finals(results: Results, rounds: int) -> np.ndarray:
    """Return each seed's accuracy at K."""
    return at_the_end(results, "rounds", rounds)


def reached(results: Results, axis: str) -> float:
    """Return how far along an axis every seed has come that did not overflow."""
    ended = [result for result in results if result["ended"]] or results
    return float(min(result[axis][-1] for result in ended))


def at_the_end(results: Results, axis: str, end: float) -> np.ndarray:
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
    name: str, title: str, axis: str, runs: Mapping[str, Results], levels: Mapping[str, np.ndarray]
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
