r"""Which orders of growth do the left sides on a grid of horizons exclude?

For every horizon T_i of the grid the mean of the left side lies in [low_i, high_i]. An order
T^e (log T)^b is *possible* if some curve

    A T^e (log T)^b (1 + c s(T)),      s(T) = T^{−γ}, γ from 1/4 to 1, or 1/log T,

passes through all of these bands: a leading term and a transient. It is *excluded* if none does.
Exact bands may exclude all but one or two exponents, or the true one, only because the transient
has a second term. So where hardly any is left, s(T)(1 + κ s(T)/s(T_1)) replaces s(T), with κ from
−1/2 to 1/2: a second term that is at most half of the first, and falls with it.
The transient may be at most as large as the leading term at the last horizon (c s(T_n) ≤ 1), and
may take at most half of it away at the first (c s(T_1) ≥ −1/2): a leading term that is invisible on
the whole grid cannot be excluded by any data, and is not promised to be.

For given e, b and s the condition is linear in c: for every pair of horizons, low_i of one must
not exceed high_j of the other along the curve. So the test is exact, for all e at once.

Transients of other shapes are met in two ways. SLACK widens all bands a little. And a grid on which
every curve that passes has c < 0 may have a burn-in: its first horizons, which lie below the curve
of the rest, are left out until a curve with c ≥ 0 passes, or until half of the grid is gone (in
powers of T).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from driftproof.verifiers.algebra.orders import Order

SHAPES = (0.25, 0.3, 0.35, 0.4, 0.5, 0.6, 0.8, 1.0)
"""Exponents γ of the transients T^{−γ}."""
SECOND = (-0.5, -0.375, -0.25, -0.125, 0.0, 0.125, 0.25, 0.375, 0.5)
"""Second terms κ of the transients, at the first horizon and as a share of the first term."""
SLACK = 0.002
"""Relative widening of the bands, for transients of other shapes."""
LARGEST, SMALLEST = 1.0, -0.5
"""What c s(T) may be, at the last horizon and at the first."""
STEP, REACH = 0.005, 0.7
"""Exponents of T are tried this far apart, this far around the slope from first to last."""
HARDLY = 2
"""As few exponents as this, beside each other, are no believable set of those possible."""
LOG_STEP, LOG_REACH = 0.05, 6.0
"""Powers of log T are tried this far apart, this far around the claimed one."""
FEWEST, SPAN = 5, 16.0
"""The fewest horizons, and the least ratio of the last to the first, that tell anything."""


@dataclass(frozen=True)
class Possible:
    """What the data leave possible.

    Attributes:
        exponents: the nearest e below and above that are excluded, with the claimed power of log T
            (None: no e is possible at all).
        logs: the same of powers of log T, with the claimed exponent.
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
    for terms in ((0.0,), SECOND):
        begin, exponents = _begin(x, low, high, claimed, terms)
        if exponents is not None and exponents[1] - exponents[0] > (HARDLY + 1.5) * STEP:
            break
    part = x[begin:], low[begin:], high[begin:], claimed, terms
    powers = LOG_STEP * np.arange(-round(LOG_REACH / LOG_STEP), round(LOG_REACH / LOG_STEP) + 1)
    logs, _ = _range(*part, powers, logs=True)
    return Possible(exponents, logs, float(x[begin]))


def _begin(
    x: np.ndarray, low: np.ndarray, high: np.ndarray, claimed: Order, terms: Sequence[float]
) -> tuple[int, tuple[float, float] | None]:
    """Return the number of the first horizon that is used, and the exponents possible from it."""
    begin = 0
    while True:
        part = x[begin:], low[begin:], high[begin:], claimed
        exponents, rising = _range(*part, terms, _around_slope(*part), logs=False)
        enough = len(x) - begin > FEWEST and x[-1] / x[begin + 1] >= SPAN
        over = exponents is not None and x[begin] ** 2 >= x[0] * x[-1]
        if rising or over or not enough:
            return begin, exponents
        begin += 1


def _around_slope(x: np.ndarray, low: np.ndarray, high: np.ndarray, claimed: Order) -> np.ndarray:
    """Return the exponents to try, less the claimed one, in whole steps."""
    ends = np.log(np.maximum((low + high)[[0, -1]] / claimed(x[[0, -1]]), 1e-300))
    slope = round(float(np.diff(ends)[0] / np.log(x[-1] / x[0])) / STEP)
    reach = round(REACH / STEP)
    exponents: np.ndarray = STEP * np.arange(slope - reach, slope + reach + 1)
    return exponents


def _range(
    x: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    claimed: Order,
    terms: Sequence[float],
    steps: np.ndarray,
    *,
    logs: bool,
) -> tuple[tuple[float, float] | None, bool]:
    """Return the nearest steps that are excluded, added to what is claimed.

    And whether some curve with c ≥ 0 passes.
    """
    growing = np.log(np.log(x)) if logs else np.log(x)
    # divided by the claimed order and by the last value, all numbers are near 1
    curve = np.exp(np.clip(steps[:, None] * (growing - growing[-1]), -700, 700))
    curve *= claimed(x) / claimed(x[-1:])
    # A exists if low_i curve_j (1 + c s_j) ≤ high_j curve_i (1 + c s_i) for all i and j: an
    # interval of c for each pair, and all of them have to meet
    one = (low / high[-1])[:, None] * curve[:, None, :]  # low_i curve_j, [steps, i, j]
    other = (high / high[-1])[None, :] * curve[:, :, None]  # high_j curve_i
    fits, rising = np.zeros(len(steps), dtype=bool), False
    falling = [*((x / x[0]) ** -gamma for gamma in SHAPES), np.log(x[0]) / np.log(x)]
    for shape in (s * (1 + term * s) for s in falling for term in terms):
        least, most = _interval(one, other, shape / shape[-1])
        passes = least <= most
        fits |= passes
        rising |= bool(np.any(passes & (most >= 0)))
    if not fits.any():
        return None, rising
    base, apart = (claimed.logs, LOG_STEP) if logs else (claimed.exponent, STEP)
    passing = steps[fits]
    return (float(base + passing[0] - apart), float(base + passing[-1] + apart)), rising


def _interval(
    one: np.ndarray, other: np.ndarray, shape: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the least and the largest c with which each curve passes (none: least > most)."""
    slope = one * shape[None, None, :] - other * shape[None, :, None]
    room = other - one
    with np.errstate(divide="ignore", invalid="ignore"):
        bound = room / slope
    least = np.where(slope < 0, bound, -np.inf).max((1, 2))
    most = np.where(slope > 0, bound, np.inf).min((1, 2))
    impossible = np.any((slope == 0) & (room < 0), (1, 2))
    least = np.maximum(least, SMALLEST / shape[0])
    return np.where(impossible, np.inf, least), np.minimum(most, LARGEST)
