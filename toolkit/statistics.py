"""Finite-sample tests of a bounded mean, valid under optional stopping.

For replicates x_1, x_2, … in [0, 1] with mean μ, the wealth of a bettor against H0: μ ≤ m,

    W_n(m) = mean over j of  Π_{i≤n} (1 + ρ_j (x_i − m)/m),      0 < ρ_j < 1,

is a non-negative supermartingale under H0 with W_0 = 1, so by Ville's inequality it ever reaches
1/α with probability at most α: H0 may be tested after every replicate, and rejected whenever
W ≥ 1/α (Waudby-Smith & Ramdas, "Estimating means of bounded random variables by betting", JRSSB
2024). The mixture over a fixed grid of bets ρ_j depends on the data only through products, and each
factor (1 − ρ) + ρ x/m decreases in m, so {m : W_n(m) < 1/α} is an interval: the test and the
confidence bound are the same computation.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

Sample = Float[np.ndarray, " replicates"]

BETS = np.concatenate([np.geomspace(1e-3, 0.5, 10), [0.75, 0.95, 0.999]])
"""The fractions ρ_j of the most that may be bet; equally weighted."""


def log_wealth(x: Sample, mean: float) -> float:
    """Return log W_n(mean) against H0: μ ≤ mean, for x in [0, 1].

    >>> ones = np.ones(64)
    >>> bool(log_wealth(ones, 0.5) > np.log(1e5) > log_wealth(ones[:4], 0.5))
    True
    """
    if mean < 0:  # x ≥ 0
        return float(np.inf) if len(x) else 0.0
    if mean == 0:  # μ ≤ 0 and x ≥ 0 mean x = 0 almost surely
        return float(np.inf) if np.any(x > 0) else 0.0
    gains = _log_gains(x, mean)
    top = gains.max()
    return float(top + np.log(np.mean(np.exp(gains - top))))


def log_wealth_path(x: Sample, mean: float) -> Sample:
    """Return log W_1(mean), …, log W_n(mean), for a mean above 0: what a peeker would see.

    >>> path = log_wealth_path(np.ones(64), 0.5)
    >>> bool(np.isclose(path[-1], log_wealth(np.ones(64), 0.5)))
    True
    """
    gains = np.cumsum(np.log1p(BETS[:, None] * (x / mean - 1.0)), 1)
    top = gains.max(0)
    path: np.ndarray = top + np.log(np.mean(np.exp(gains - top), 0))
    return path


def exceeds(x: Sample, mean: float, alpha: float) -> bool:
    """Say whether μ > mean is established at level alpha."""
    return bool(log_wealth(x, mean) >= -np.log(alpha))


def lower_bound(x: Sample, alpha: float) -> float:
    """Return the largest m in [0, 1] with μ > m established (0 if none), by bisection."""
    low, high = 0.0, 1.0
    if not exceeds(x, np.finfo(float).tiny, alpha):
        return 0.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if exceeds(x, middle, alpha) else (low, middle)
    return low


def interval(x: Sample, largest: float, alpha: float) -> tuple[float, float]:
    """Return bounds on the mean of x in [0, largest], each wrong with probability alpha at most."""
    scaled = np.clip(x / largest, 0.0, 1.0)
    return largest * lower_bound(scaled, alpha), largest * (1 - lower_bound(1 - scaled, alpha))


def replicates_needed(x: Sample, mean: float, alpha: float) -> int | None:
    """Return about how many replicates would establish μ > mean (None: no sign of it yet)."""
    if mean <= 0:
        return None
    best = float(_log_gains(x, mean).max()) / len(x)
    if best <= 0:
        return None
    return int(np.ceil((np.log(len(BETS)) - np.log(alpha)) / best))


def _log_gains(x: Sample, mean: float) -> Float[np.ndarray, " bets"]:
    """Return the log of each bet's own wealth."""
    gains: np.ndarray = np.log1p(BETS[:, None] * (x / mean - 1.0)).sum(1)
    return gains
