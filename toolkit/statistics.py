r"""Finite-sample tests of a mean, valid under optional stopping.

For replicates x_1, x_2, … in [0, 1] with mean μ, the wealth of a bettor against H0: μ ≤ m,

    W_n(m) = mean over j of  Π_{i≤n} (1 + ρ_j (x_i − m)/m),      0 < ρ_j < 1,

is a non-negative supermartingale under H0 with W_0 = 1, so by Ville's inequality it ever reaches
1/α with probability at most α: H0 may be tested after every replicate, and rejected whenever
W ≥ 1/α (Waudby-Smith & Ramdas, "Estimating means of bounded random variables by betting", JRSSB
2024). The mixture over a fixed grid of bets ρ_j depends on the data only through products, and each
factor (1 − ρ) + ρ x/m decreases in m, so {m : W_n(m) < 1/α} is an interval: the test and the
confidence bound are the same computation.

To call a mean below m takes something proven of the upper tail. With 1 as an upper end the same
bets are made on 1 − x. With E x² ≤ v, of unbounded x, the factors are Catoni's,

    exp(φ(λ(m − x))) / (1 + λ²(v − m²)/2),     φ(y) = ±log(1 + |y| + y²/2), the sign being y's.

For φ(y) ≤ log(1 + y + y²/2), and if μ ≥ m ≥ 0, then E (m − x)² ≤ v − 2mμ + m² ≤ v − m², so that
E exp(φ(λ(m − x))) ≤ 1 + λ(m − μ) + λ²(v − m²)/2: a supermartingale once more, for each λ (Wang &
Ramdas, "Catoni-style confidence sequences for heavy-tailed mean estimation", Stochastic Processes
and their Applications 2023). A factor falls as x grows: an outlier speaks against, never for. And
μ ≤ √v, always. What both ways would bet is mixed; a mixture of supermartingales is one.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from driftproof.toolkit.tolerances import SLACK

Sample = Float[np.ndarray, " replicates"]

BETS = np.concatenate([np.geomspace(1e-3, 0.5, 10), [0.75, 0.95, 0.999]])
"""The fractions ρ_j of the most that may be bet; equally weighted. With a second moment, λ_j√v."""


class Tail(NamedTuple):
    """What is proven of the upper tail of x ≥ 0.

    Attributes:
        most: an upper end of x.
        root: √v, where E x² ≤ v.
    """

    most: float = np.inf
    root: float = np.inf


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
    return _mixed(_log_gains(x, mean))


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


def falls_below(x: Sample, mean: float, alpha: float, tail: Tail) -> bool:
    """Say whether μ < mean is established at level alpha, for x ≥ 0.

    >>> x = np.full(400, 0.1)
    >>> [falls_below(x, 1.0, 1e-5, tail) for tail in (Tail(root=2.0), Tail(root=20.0), Tail(2.0))]
    [True, False, True]
    """
    if mean > min(tail):  # μ ≤ √v by Jensen's inequality
        return True
    return mean >= 0 and bool(_mixed(_log_gains_below(x, mean, tail)) >= -np.log(alpha))


def lower_bound(x: Sample, alpha: float) -> float:
    """Return the largest m in [0, 1] with μ > m established (0 if none), by bisection."""
    low, high = 0.0, 1.0
    if not exceeds(x, np.finfo(float).tiny, alpha):
        return 0.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if exceeds(x, middle, alpha) else (low, middle)
    return low


def upper_bound(x: Sample, alpha: float, tail: Tail) -> float:
    """Return the least m with μ < m established (what the tail says by itself, if none)."""
    low, high = 0.0, min(tail)
    if not np.isfinite(high):
        return np.inf
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if falls_below(x, middle, alpha, tail) else (middle, high)
    return high


def interval(x: Sample, largest: float, alpha: float) -> tuple[float, float]:
    """Return bounds on the mean of x in [0, largest], each wrong with probability alpha at most."""
    x = np.clip(x, 0.0, largest)
    return largest * lower_bound(x / largest, alpha), upper_bound(x, alpha, Tail(largest))


def replicates_needed(x: Sample, mean: float, alpha: float, tail: Tail | None = None) -> int | None:
    """Return about how many replicates would establish μ > mean (None: no sign of it yet).

    Args:
        tail: what is proven of the upper tail; μ < mean is meant then.
    """
    if mean <= 0:
        return None
    gains = _log_gains(x, mean) if tail is None else _log_gains_below(x, mean, tail)
    best = float(gains.max(initial=-np.inf)) / len(x)
    if best <= 0:
        return None
    return int(np.ceil((np.log(len(gains)) - np.log(alpha)) / best))


def _mixed(gains: Float[np.ndarray, " bets"]) -> float:
    """Return the log of the mean wealth of equally weighted bets."""
    top = gains.max(initial=-np.inf)
    return float(top + np.log(np.mean(np.exp(gains - top)))) if np.isfinite(top) else float(top)


def _log_gains_below(x: Sample, mean: float, tail: Tail) -> Float[np.ndarray, " bets"]:
    """Return the log of each bet's wealth against H0: μ ≥ mean, by each way that the tail allows.

    At the upper end itself a replicate has no room left, however it was rounded.
    """
    gains = []
    if np.isfinite(tail.most):
        room, spare = 1.0 - x / tail.most, 1.0 - mean / tail.most
        room = np.where(room > SLACK, room, 0.0)
        whole = np.full(len(BETS), np.inf if np.any(room) else 0.0)  # some x below the largest mean
        gains.append(_log_gains(room, spare) if spare > 0 else whole)
    if np.isfinite(tail.root):
        bets = BETS / tail.root
        y = bets[:, None] * (mean - x)
        risen = np.log1p(np.abs(y) + y**2 / 2)
        paid = np.log1p(bets**2 * (tail.root**2 - mean**2) / 2)
        gains.append(np.where(y > 0, risen, -risen).sum(1) - len(x) * paid)
    return np.concatenate(gains) if gains else np.array([])


def _log_gains(x: Sample, mean: float) -> Float[np.ndarray, " bets"]:
    """Return the log of each bet's own wealth."""
    gains: np.ndarray = np.log1p(BETS[:, None] * (x / mean - 1.0)).sum(1)
    return gains
