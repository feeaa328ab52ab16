"""A paper's sentences, judged over seeds by paired tests."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

LEVEL = 0.05
"""Of the tests of one sentence together."""


@dataclass(frozen=True)
class Sentence:
    """One comparison that judges a sentence of the paper.

    Attributes:
        text: the sentence.
        setting: what is compared with what.
        verdict: reproduced, not reproduced or undecided.
        why: the numbers, and what else decided.
        effect, low, high: the mean difference of the first and the second over seeds, larger is
            better, and its 95 % confidence interval by Student's t; None where there is none.
    """

    text: str
    setting: str
    verdict: str
    why: str
    effect: float | None = None
    low: float | None = None
    high: float | None = None


def judged_by_seeds(
    text: str,
    setting: str,
    first: np.ndarray,
    second: np.ndarray,
    *,
    comparisons: int,
    margin: float = 0.0,
) -> Sentence:
    """Judge "the first is better than the second", or that it is not worse by ``margin`` or more.

    One-sided Wilcoxon signed-rank tests over seeds at level 0.05/comparisons: reproduced if
    first > second − margin is established, not reproduced if first < second − margin is, else
    undecided. A first that is much better is no failure.

    Args:
        text: the sentence.
        setting: what is compared with what.
        first, second: one number a seed each, in the same order; larger is better.
        comparisons: how many tests share the level.
        margin: set before any run; below 0 the first has to be better by more than that.
    """
    made, difference = _compared(text, setting, first, second, margin)
    if difference is None:
        return made
    difference = difference + margin
    if not np.any(difference):
        why = f"{made.why}, on every seed" if margin else "no difference on any seed"
        return replace(made, why=why)
    level, least = LEVEL / comparisons, 2.0 ** -len(difference)
    if least > level:
        few = f"{len(difference)} seeds cannot decide: their least p is {least:.2g} > {level:.2g}"
        return replace(made, why=f"{made.why}; {few}")
    up, down = p_above(difference), p_above(-difference)
    return _decided(made, up <= level, down <= level, (up, down, min(up, down)), level)


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
        comparisons: how many tests share the level.
    """
    made, difference = _compared(text, setting, first, second, margin)
    if difference is None:
        return made
    level = LEVEL / comparisons
    inside = max(p_above(margin + difference), p_above(margin - difference))
    outside = min(p_above(difference - margin), p_above(-difference - margin))
    beyond = outside <= level / 2  # two sides
    return _decided(made, inside <= level, beyond, (inside, outside, inside), level)


def undecided_if(sentence: Sentence, *reasons: str) -> Sentence:
    """Return a sentence, undecided where there is a reason other than the runs."""
    given = "; ".join(filter(None, reasons))
    if not given or sentence.verdict == "undecided":
        return sentence
    why = f"{given} (it would be {sentence.verdict}: {sentence.why})"
    return replace(sentence, verdict="undecided", why=why)


def smaller(sizes: Mapping[str, tuple[float, float]]) -> str:
    """Say what is smaller than printed; empty if nothing is.

    Args:
        sizes: what is run and what is printed, by what it is called.

    >>> smaller({"filters": (8, 32), "clients": (10, 10)})
    'size: 8 of 32 filters'
    """
    less = [
        f"{own:,} of {wanted:,} {what}" for what, (own, wanted) in sizes.items() if own < wanted
    ]
    return f"size: {', '.join(less)}" if less else ""


def interval(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the ends of the 95 % confidence interval of a mean over the first axis.

    By Student's t; of one value, the value itself.

    >>> low, high = interval(np.array([1.0, 2.0, 3.0]))
    >>> round(float(low), 3), round(float(high), 3)
    (-0.484, 4.484)
    """
    from scipy.special import stdtrit

    mean, count = values.mean(0), len(values)
    if count == 1:
        return mean, mean
    half = stdtrit(count - 1, 0.975) * values.std(0, ddof=1) / np.sqrt(count)
    return mean - half, mean + half


def p_above(values: np.ndarray) -> float:
    """Return the p-value of "the values lie above 0" (1 if all of them are 0)."""
    from scipy.stats import wilcoxon

    return float(wilcoxon(values, alternative="greater").pvalue) if np.any(values) else 1.0


def _compared(
    text: str, setting: str, first: np.ndarray, second: np.ndarray, margin: float
) -> tuple[Sentence, np.ndarray | None]:
    """Return a sentence that is undecided so far, and the differences; None if one is not finite.

    What counts where a run diverged is the experiment's to say (``Outcome.good``).
    """
    first, second = np.asarray(first, float), np.asarray(second, float)
    lost = [int((~np.isfinite(values)).sum()) for values in (first, second)]
    if any(lost):
        why = (
            f"no finite number on {lost[0]} of {len(first)} seeds of the first and {lost[1]} of "
            "the second, where a run diverged say: the experiment has to say what counts there"
        )
        return Sentence(text, setting, "undecided", why), None
    difference = first - second
    low, high = interval(difference)
    shown = f"mean difference {difference.mean():+.4f} [{low:+.4g}, {high:+.4g}]"
    shown += f" over {len(difference)} seeds" + (f", margin {margin:.4g}" if margin else "")
    effect = float(difference.mean()), float(low), float(high)
    return Sentence(text, setting, "undecided", shown, *effect), difference


def _decided(
    made: Sentence, yes: bool, no: bool, p: tuple[float, float, float], level: float
) -> Sentence:
    """Return a sentence with its verdict and the p-value of it, of the opposite, or of neither."""
    if yes:
        return replace(made, verdict="reproduced", why=f"{made.why}, p = {p[0]:.2g}")
    if no:
        why = f"{made.why}, p = {p[1]:.2g} against it"
        return replace(made, verdict="not reproduced", why=why)
    return replace(made, why=f"{made.why}, p = {p[2]:.2g} > {level:.2g}")
