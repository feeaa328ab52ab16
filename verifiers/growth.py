r"""Which orders of growth do the left sides on a grid of horizons exclude?

For every horizon T_i of the grid the mean of the left side lies in [low_i, high_i]. An order
T^e (log T)^b is *possible* if some curve

    A T^e (log T)^b (1 + c s(T)),      s(T) = T^{−γ}, γ from 1/4 to 1, or 1/log T,

passes through all of these bands: a leading term and a transient. It is *excluded* if none does.
The transient may be at most as large as the leading term at the last horizon (c s(T_n) ≤ 1), and
may take at most half of it away at the first (c s(T_1) ≥ −1/2): a leading term that is invisible on
the whole grid cannot be excluded by any data, and is not promised to be.

For given e, b and s the condition is linear in c: for every pair of horizons, low_i of one must
not exceed high_j of the other along the curve. So the test is exact, for all e at once.

Transients of other shapes are met by SLACK, a relative widening of all bands, and by leaving out
the first horizons, as long as no order at all is possible with them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from verifiers.orders import Order

SHAPES = (0.25, 0.3, 0.35, 0.4, 0.5, 0.6, 0.8, 1.0)
"""Exponents γ of the transients T^{−γ}."""
SLACK = 0.002
"""Relative widening of the bands, for transients of other shapes."""
LARGEST, SMALLEST = 1.0, -0.5
"""What c s(T) may be, at the last horizon and at the first."""
STEP, REACH = 0.005, 1.2
"""Exponents of T are tried this far apart, this far around the slope from first to last."""
LOG_STEP, LOG_REACH = 0.02, 8.0
"""Powers of log T are tried this far apart, this far around the claimed one."""
FEWEST, SPAN = 5, 16.0
"""The fewest horizons, and the least ratio of the last to the first, that tell anything."""


@dataclass(frozen=True)
class Possible:
    """What the data leave possible.

    Attributes:
        exponents: least and largest e, with the claimed power of log T (None: no e at all).
        logs: least and largest power of log T, with the claimed exponent (None: none at all).
        first: the first horizon that was used.
    """

    exponents: tuple[float, float] | None
    logs: tuple[float, float] | None
    first: float


def possible(x: np.ndarray, low: np.ndarray, high: np.ndarray, claimed: Order) -> Possible:
    """Return which orders some curve in the bands has.

    Args:
        x: horizons, ascending.
        low, high: the bands of the means; low may be 0.
    """
    low, high = low * (1 - SLACK), high * (1 + SLACK)
    logs, first = None, float(x[0])
    for begin in range(len(x)):
        at = slice(begin, None)
        if len(x) - begin < FEWEST or x[-1] / x[begin] < SPAN:
            break
        part = x[at], low[at], high[at], claimed
        exponents = _range(*part, _around_slope(*part), logs=False)
        powers = LOG_STEP * np.arange(-round(LOG_REACH / LOG_STEP), round(LOG_REACH / LOG_STEP) + 1)
        found = _range(*part, powers, logs=True)
        if exponents is not None:
            return Possible(exponents, found, float(x[begin]))
        if logs is None and found is not None:
            logs, first = found, float(x[begin])
    return Possible(None, logs, first)


def _around_slope(x: np.ndarray, low: np.ndarray, high: np.ndarray, claimed: Order) -> np.ndarray:
    """Return the exponents to try, less the claimed one, in whole steps."""
    ends = np.log(np.maximum((low + high)[[0, -1]] / claimed(x[[0, -1]]), 1e-300))
    slope = round(float(np.diff(ends)[0] / np.log(x[-1] / x[0])) / STEP)
    reach = round(REACH / STEP)
    made: np.ndarray = STEP * np.arange(slope - reach, slope + reach + 1)
    return made


def _range(
    x: np.ndarray, low: np.ndarray, high: np.ndarray, claimed: Order, steps: np.ndarray, logs: bool
) -> tuple[float, float] | None:
    """Return the least and the largest of the steps that are possible, added to what is claimed."""
    growing = np.log(np.log(x)) if logs else np.log(x)
    # divided by the claimed order and by the last value, all numbers are near 1
    size = claimed(x) / claimed(x[-1:])
    fits = np.zeros(len(steps), dtype=bool)
    for shape in [*((x / x[-1]) ** -gamma for gamma in SHAPES), np.log(x[-1]) / np.log(x)]:
        curve = np.exp(np.clip(steps[:, None] * (growing - growing[-1]), -700, 700)) * size
        fits |= _passes(curve, shape, low / high[-1], high / high[-1])
    if not fits.any():
        return None
    base = claimed.logs if logs else claimed.exponent
    found = steps[fits]
    return float(base + found[0]), float(base + found[-1])


def _passes(curve: np.ndarray, shape: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Say for each row of curves [tried, horizons] whether some A·curve·(1 + c·shape) passes.

    A exists if low_i curve_j (1 + c s_j) ≤ high_j curve_i (1 + c s_i) for all i and j: an interval
    of c for each pair, and all of them have to meet.
    """
    one = low[:, None] * curve[:, None, :]  # low_i curve_j, [tried, i, j]
    other = high[None, :] * curve[:, :, None]  # high_j curve_i
    slope = one * shape[None, None, :] - other * shape[None, :, None]
    room = other - one
    with np.errstate(divide="ignore", invalid="ignore"):
        bound = room / slope
    least = np.where(slope < 0, bound, -np.inf).max((1, 2))
    most = np.where(slope > 0, bound, np.inf).min((1, 2))
    impossible = np.any((slope == 0) & (room < 0), (1, 2))
    least = np.maximum(least, SMALLEST / shape[0])
    most = np.minimum(most, LARGEST)
    made: np.ndarray = (least <= most) & ~impossible
    return made
