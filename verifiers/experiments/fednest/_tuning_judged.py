"""The sentences of fednest/tuning, judged over seeds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from verifiers.experiment import LEVEL, Sentence, judged_by_seeds
from verifiers.experiments.fednest import _tuning_sizes as sizes
from verifiers.experiments.fednest._tuning_panels import at_the_end, reached

MARGIN = 0.02
"""Class-balanced accuracies within two percentage points count as similar; set before any run."""
HOW = {"rounds": "at equal k", "communication": "at equal communication"}
Runs = Mapping[tuple[str, bool], list[dict[str, Any]]]


def similar_by_seeds(
    text: str, setting: str, first: np.ndarray, second: np.ndarray, *, comparisons: int
) -> Sentence:
    """Judge "the two behave similarly": their accuracies differ by less than MARGIN.

    Two one-sided Wilcoxon signed-rank tests over seeds at level 0.05/comparisons: reproduced if
    both −MARGIN < difference and difference < MARGIN are established, not reproduced if the
    difference is beyond MARGIN on either side, else undecided.
    """
    from scipy.stats import wilcoxon

    difference = np.asarray(first) - np.asarray(second)

    def established(shifted: np.ndarray) -> float:
        return float(wilcoxon(shifted, alternative="greater").pvalue) if np.any(shifted) else 1.0

    level = LEVEL / comparisons
    inside = max(established(MARGIN + difference), established(MARGIN - difference))
    outside = min(established(difference - MARGIN), established(-difference - MARGIN))
    shown = (
        f"mean difference {difference.mean():+.4f} over {len(difference)} seeds, margin {MARGIN}"
    )
    if inside <= level:
        return Sentence(text, setting, "reproduced", f"{shown}, p = {inside:.2g}")
    if outside <= level / 2:  # two sides
        return Sentence(text, setting, "not reproduced", f"{shown}, p = {outside:.2g} against it")
    return Sentence(text, setting, "undecided", f"{shown}, p = {inside:.2g} > {level:.2g}")


def judged(runs: Runs) -> list[Sentence]:
    """Return every sentence, on the slides' algorithm and on the public code's."""
    made = []
    for one, other, source in (
        ("FedNest", "LFedNest", ""),
        ("FedNest", sizes.LIGHT_MIDDLE, ", LFedNest's α in the middle of the grid"),
        (sizes.PUBLIC, sizes.PUBLIC_LIGHT, ", public code"),
    ):
        for axis, how in HOW.items():
            made.append(
                similar_by_seeds(
                    "FedNest behaves similarly to LFedNest", f"i.i.d., {how}{source}",
                    *_pair(runs, (one, True), (other, True), axis), comparisons=len(HOW),
                )
            )  # fmt: skip
    pairs = [
        ("FedNest", "FedNest_SGD", ""),
        (sizes.ALL_SHARED, "FedNest_SGD", f", {sizes.ALL_SHARED}"),
        (sizes.PUBLIC, sizes.PUBLIC_SGD, ", public code"),
    ]
    for how in sizes.HARDER:
        both = (sizes.harder(label, how) for label in ("FedNest", "FedNest_SGD"))
        pairs.append((*both, f", {how}"))  # type: ignore[arg-type]
    for one, other, source in pairs:
        for axis, how in HOW.items():
            made.append(
                judged_by_seeds(
                    "FedNest (with SVRG) is significantly better than FedNest_SGD",
                    f"not i.i.d., {how}{source}",
                    *_pair(runs, (one, False), (other, False), axis), comparisons=len(HOW),
                )
            )  # fmt: skip
    text = "tuned is better than not tuned"
    pair = _pair(runs, (sizes.MACHINE, True), (sizes.MACHINE_FIXED, True), "rounds")
    made.append(judged_by_seeds(text, "the two references, one machine", *pair, comparisons=1))
    for alike, where in ((True, "i.i.d."), (False, "not i.i.d.")):
        for axis, how in HOW.items():
            x, y = _pair(runs, ("FedNest", alike), (sizes.FIXED, alike), axis)
            setting = f"FedNest, {where}, {how}"
            made.append(judged_by_seeds(text, setting, x, y, comparisons=4))
    return made


def _pair(
    runs: Runs, one: tuple[str, bool], other: tuple[str, bool], axis: str
) -> tuple[np.ndarray, np.ndarray]:
    """Return the two runs' accuracies at the end of what both have reached."""
    end = min(reached(runs[key], axis) for key in (one, other))
    return at_the_end(runs[one], axis, end), at_the_end(runs[other], axis, end)


def finals(results: Sequence[Mapping[str, Any]], rounds: int) -> np.ndarray:
    """Return each seed's accuracy at K."""
    return at_the_end(results, "rounds", rounds)
