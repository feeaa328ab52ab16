r"""Calibration of rates: how often slopes are judged wrongly, on decays whose order is known.

    python -m tests.calibration.rates

A synthetic statement is a decay A T^{-a} (log T)^b with or without a transient, measured on a grid
of horizons with or without noise, and a claimed order. It is judged by the functions that judge
real slopes (``bands``, ``growth`` and ``slope.decide`` of ``verifiers.judges``), at α = 0.05,
where errors are common enough to be counted. A support is wrong if the decay is slower than claimed
by more than the resolution T^0.05; a support is missed if a claim that holds is left open.

The same statements judged by a least-squares slope and a margin of 0.1 show what that is worth.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from itertools import product
from typing import NamedTuple

import numpy as np

from driftproof.toolkit.verdict import Verdict
from driftproof.verifiers.algebra.orders import Order
from driftproof.verifiers.judges.bands import bands
from driftproof.verifiers.judges.growth import possible
from driftproof.verifiers.judges.slope import order_decided
from tests.calibration.betting import TEST_LEVEL

RESOLUTION = 0.05
MARGIN = 0.1
"""Of the judge that is the control: how far a fitted slope may lie above the exponent."""
GRIDS = (16, 64, 1024, 16384)
"""The last horizon over the first, which is 64; horizons double."""


def pure(random, x):
    """No transient."""
    return np.ones_like(x)


def slow(random, x):
    """1 + C/T^{1/4}: up to the leading term's size at the last horizon, or minus half of it."""
    size = float(random.uniform(-0.5 * x[0] ** 0.25, min(2.8, x[-1] ** 0.25)))
    return 1 + size * x**-0.25


def fast(random, x):
    """1 + C/T^{1/2} + D/T: two terms."""
    return 1 + random.uniform(-2, 4) * x**-0.5 + random.uniform(-10, 20) / x


def burn_in(random, x):
    """Flat up to a horizon of the first half of the grid, then it decays."""
    begin = x[0] * random.uniform(1, (x[-1] / x[0]) ** 0.5)
    return np.minimum(1.0, x / begin) ** 0.5


TRANSIENTS = {"none": pure, "1 + C/T^¼": slow, "1 + C/T^½ + D/T": fast, "burn-in": burn_in}


def still(random, mean, size):
    """No noise."""
    return np.full(size, mean)


def even(random, mean, size):
    """Symmetric noise of a twentieth of the mean."""
    return mean * (1 + 0.05 * random.standard_normal(size))


def skewed(random, mean, size):
    """A gamma law with standard deviation 0.3 of the mean: its skewness is 0.6."""
    return mean * random.gamma(1 / 0.09, 0.09, size)


def heavy(random, mean, size):
    """A lognormal law with standard deviation 0.5 of the mean: its skewness is 1.6."""
    deviation = np.sqrt(np.log(1.25))
    return mean * np.exp(deviation * random.standard_normal(size) - deviation**2 / 2)


NOISES = {"none": (still, 1), "even": (even, 64), "skewed": (skewed, 256), "heavy": (heavy, 1024)}
"""Law and replicates."""


class Truth(NamedTuple):
    """A kind of decay, and the order that is claimed of it.

    Attributes:
        slower: by which power of T the decay is slower than claimed (negative: faster).
        logs: by which power of log T it is slower.
        floor: a floor, as a share of the decay at the last horizon.
    """

    name: str
    slower: float = 0.0
    logs: float = 0.0
    floor: float = 0.0


TRUTHS = (
    Truth("as claimed"),
    Truth("faster by T^0.1", slower=-0.1),
    Truth("faster by log T", logs=-1.0),
    Truth("slower by T^0.03", slower=0.03),
    Truth("slower by T^0.06", slower=0.06),
    Truth("slower by T^0.1", slower=0.1),
    Truth("slower by T^0.2", slower=0.2),
    Truth("slower by T^0.3", slower=0.3),
    Truth("slower by √log T", logs=0.5),
    Truth("slower by log T", logs=1.0),
    Truth("floor, a tenth of the last value", floor=0.1),
    Truth("floor, half of the last value", floor=0.5),
)


def excluding(x, values, claimed):
    """Judge as driftproof does."""
    _, low, high = bands(values, TEST_LEVEL)
    return order_decided(possible(x, low, high, claimed), claimed, RESOLUTION)[0].verdict


def fitted(x, values, claimed):
    """Judge by a least-squares slope, its 95 % interval and the last local slope, plus a margin."""
    y, at = np.log([v.mean() for v in values]), np.log(x)
    slope, half = line(at, y)
    last = (y[-1] - y[-2]) / (at[-1] - at[-2])
    agrees = max(slope + half, last) <= claimed.exponent + MARGIN
    return Verdict.SUPPORTED if agrees else Verdict.INCONCLUSIVE


def line(x, y):
    """Return a least-squares slope and half of its 95 % confidence interval (Student's t)."""
    from scipy.special import stdtrit  # scipy.stats takes a second to import

    slope, offset = np.polyfit(x, y, 1)
    freedom = len(x) - 2
    if not freedom:
        return float(slope), 0.0
    residual = y - slope * x - offset
    variance = (residual**2).sum() / freedom / ((x - x.mean()) ** 2).sum()
    return float(slope), float(stdtrit(freedom, 0.975) * np.sqrt(variance))


def statement(random, truth, transient, noise, span):
    """Return horizons, replicates and the order claimed of them."""
    x = 64.0 * 2.0 ** np.arange(round(np.log2(span)) + 1)
    exponent = -random.uniform(0.25, 1.5)
    decay = Order(exponent + truth.slower, truth.logs)(x) * transient(random, x)
    decay = decay / decay[-1] + truth.floor
    law, size = NOISES[noise]
    return x, [law(random, mean, size) for mean in decay], Order(exponent)


def supports(judge, statements=100, truths=TRUTHS, spans=GRIDS, noises=tuple(NOISES)):
    """Return how many statements of each kind are SUPPORTED: (truth, transient, noise, span)."""
    found = {}
    for which, truth in enumerate(truths):
        kinds = product(enumerate(TRANSIENTS.items()), enumerate(noises), spans)
        for (number, (name, transient)), (loud, noise), span in kinds:
            random = np.random.default_rng([0, which, number, loud, span])
            made = (statement(random, truth, transient, noise, span) for _ in range(statements))
            count = sum(judge(*one) is Verdict.SUPPORTED for one in made)
            found[truth.name, name, noise, span] = count
    return found


def main(statements):
    """Print supports by what is claimed, how long the grid is, and which noise and transient."""
    for name, judge in (("excluding", excluding), ("slope ± 0.1", fitted)):
        counts = supports(judge, statements)
        for truth in TRUTHS:
            mine = {tuple(kind): n for (of, *kind), n in counts.items() if of == truth.name}
            groups = defaultdict(list)
            for kind, n in mine.items():
                for key in kind:
                    groups[key].append(n / statements)
            cells = ", ".join(f"{key}: {np.mean(x):.3f}" for key, x in groups.items())
            total, worst = statements * len(mine), max(mine.values()) / statements
            print(
                f"{name:12} {truth.name:33} supported {sum(mine.values()):5d} of {total}, "
                f"at most {worst:.3f} | {cells}",
                flush=True,
            )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100)
