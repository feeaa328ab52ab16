"""A paper's sentences, judged over seeds by paired tests."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

LEVEL = 0.05
"""Of the tests of one sentence together."""


@dataclass(frozen=True)
class Sentence:
    """One sentence of the paper and what became of it: reproduced, not reproduced, undecided."""

    text: str
    setting: str
    verdict: str
    why: str


def judged_by_seeds(
    text: str, setting: str, better: np.ndarray, worse: np.ndarray, *, comparisons: int
) -> Sentence:
    """Judge "the first is better than the second" by a paired test over seeds.

    One-sided Wilcoxon signed-rank tests at level 0.05/comparisons: reproduced if the first is
    larger, not reproduced if the second is, else undecided.

    Args:
        text: the sentence.
        setting: what is compared with what.
        better, worse: one number a seed each, in the same order; larger is better.
        comparisons: how many sentences share the level.
    """
    return no_worse_by_seeds(text, setting, better, worse, margin=0.0, comparisons=comparisons)


def no_worse_by_seeds(
    text: str,
    setting: str,
    first: np.ndarray,
    second: np.ndarray,
    *,
    margin: float,
    comparisons: int,
) -> Sentence:
    """Judge "the first is as good as the second": it is not worse by ``margin`` or more.

    One-sided Wilcoxon signed-rank tests at level 0.05/comparisons: reproduced if
    first > second − margin is established, not reproduced if first < second − margin is, else
    undecided. A first that is much better is no failure.

    Args:
        first, second: one number a seed each, in the same order; larger is better.
        margin: set before any run.
        comparisons: how many sentences share the level.
    """
    lost = _lost(first, second)
    if lost:
        return Sentence(text, setting, "undecided", lost)
    difference = np.asarray(first) - np.asarray(second)
    shown = f"mean difference {difference.mean():+.4f} over {len(difference)} seeds"
    if margin:
        shown += f", margin {margin}"
        difference = difference + margin
    if not np.any(difference):
        none = f"{shown}, on every seed" if margin else "no difference on any seed"
        return Sentence(text, setting, "undecided", none)
    level, least = LEVEL / comparisons, 2.0 ** -len(difference)
    if least > level:
        few = f"{len(difference)} seeds cannot decide: their least p is {least:.2g} > {level:.2g}"
        return Sentence(text, setting, "undecided", f"{shown}; {few}")
    up, down = p_above(difference), p_above(-difference)
    if up <= level:
        return Sentence(text, setting, "reproduced", f"{shown}, p = {up:.2g}")
    if down <= level:
        return Sentence(text, setting, "not reproduced", f"{shown}, p = {down:.2g} against it")
    return Sentence(text, setting, "undecided", f"{shown}, p = {min(up, down):.2g} > {level:.2g}")


def similar_by_seeds(
    text: str,
    setting: str,
    first: np.ndarray,
    second: np.ndarray,
    *,
    margin: float,
    comparisons: int,
) -> Sentence:
    """Judge "the two behave similarly": their difference is less than ``margin``.

    Two one-sided Wilcoxon signed-rank tests over seeds at level 0.05/comparisons: reproduced if
    both −margin < difference and difference < margin are established, not reproduced if the
    difference is beyond the margin on either side, else undecided.

    Args:
        first, second: one number a seed each, in the same order.
        margin: set before any run.
        comparisons: how many sentences share the level.
    """
    lost = _lost(first, second)
    if lost:
        return Sentence(text, setting, "undecided", lost)
    difference = np.asarray(first) - np.asarray(second)
    level = LEVEL / comparisons
    inside = max(p_above(margin + difference), p_above(margin - difference))
    outside = min(p_above(difference - margin), p_above(-difference - margin))
    shown = (
        f"mean difference {difference.mean():+.4f} over {len(difference)} seeds, margin {margin}"
    )
    if inside <= level:
        return Sentence(text, setting, "reproduced", f"{shown}, p = {inside:.2g}")
    if outside <= level / 2:  # two sides
        return Sentence(text, setting, "not reproduced", f"{shown}, p = {outside:.2g} against it")
    return Sentence(text, setting, "undecided", f"{shown}, p = {inside:.2g} > {level:.2g}")


def _lost(first: np.ndarray, second: np.ndarray) -> str:
    """Say on how many seeds one of two numbers is not finite ("": on none).

    Whether a run that diverged has lost is the experiment's to say: it gives the number that then
    counts, an accuracy of 0 say.
    """
    counts = [int((~np.isfinite(np.asarray(values, float))).sum()) for values in (first, second)]
    if not any(counts):
        return ""
    return (
        f"no finite number on {counts[0]} of {len(first)} seeds of the first and {counts[1]} of "
        "the second, where a run diverged say: the experiment has to say what counts there"
    )


def p_above(values: np.ndarray) -> float:
    """Return the p-value of "the values lie above 0" (1 if all of them are 0)."""
    from scipy.stats import wilcoxon

    return float(wilcoxon(values, alternative="greater").pvalue) if np.any(values) else 1.0
