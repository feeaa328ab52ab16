r"""Bands for the means of a left side over a grid of horizons, all of them at once.

Left sides of rates are averages along a run, far below the most that they could be, so the
finite-sample intervals of ``toolkit.statistics`` would need some ten thousand replicates to see
them at all. The bands are Student's t intervals with Bonferroni's correction over the grid. They
are not valid for every law of the replicates; ``tests.calibration.rates`` shows how often
verdicts that rest on them are wrong, skewed replicates included.
"""

from collections.abc import Sequence

import numpy as np

from driftproof.toolkit.tolerances import BAND


def bands(values: Sequence[np.ndarray], alpha: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return means, lows and highs: all bands hold but for a probability of about alpha.

    Args:
        values: the replicates of each horizon, of equal weight.
    """
    from scipy.special import stdtrit  # scipy.stats takes a second to import

    intervals = []
    for x in values:
        mean, count = float(np.mean(x)), len(x)
        half = BAND * abs(mean)
        if count > 1 and np.ptp(x) > BAND * abs(mean):
            spread = float(np.std(x, ddof=1)) / np.sqrt(count)
            tail = alpha / 2 / len(values)
            half += float(stdtrit(count - 1, 1 - tail)) * spread
        intervals.append((mean, max(0.0, mean - half), mean + half))
    means, lows, highs = np.array(intervals).reshape(-1, 3).T
    return means, lows, highs
