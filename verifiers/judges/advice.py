r"""Says which horizon and how many replicates would decide a rate that a grid left open.

The rule itself is tried on longer grids and narrower bands, with left sides that are of the claimed
order exactly and replicates that vary as those at the longest horizon do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from driftproof.toolkit.tolerances import BAND
from driftproof.verifiers.algebra.orders import Order
from driftproof.verifiers.judges.growth import possible

if TYPE_CHECKING:
    from driftproof.verifiers.claim_types.rate import RateClaim

LONGER = tuple(2**k for k in (0, 2, 4, 6, 8, 10, 12))
MORE = (1, 4, 16, 64, 256)


def what_would_do(
    x: np.ndarray,
    widths: np.ndarray,
    replicates: int,
    claimed: Order,
    claim: RateClaim,
    known: bool,
) -> str:
    """Return a sentence that names the horizon and the replicates.

    Args:
        widths: half of each sampled band, over its mean.
        known: whether the left side is known exactly, so that only the horizon counts.
    """
    width = BAND if known else max(BAND, float(np.median(widths[len(widths) // 2 :])))
    more = (1,) if width <= BAND else MORE
    tried = sorted((far * many, far, many) for far in LONGER for many in more)
    for _, far, many in tried:
        doubled = x[-1] * 2.0 ** np.arange(1, round(np.log2(far)) + 1)
        grid = np.concatenate([x, doubled])
        half, mean = width / np.sqrt(many), claimed(grid)
        left = possible(grid, mean * (1 - half), mean * (1 + half), claimed)
        if left.exponents and left.exponents[1] <= claimed.exponent + claim.resolution:
            if far == many == 1:
                return "left sides of exactly this order would decide it on this grid"
            parts = [f"horizons to {x[-1] * far:.3g}"] if far > 1 else []
            parts += [f"{replicates * many} replicates"] if many > 1 else []
            return f"{' with '.join(parts)} would do"
    most = f"{replicates * more[-1]} replicates and horizons to {x[-1] * LONGER[-1]:.3g}"
    return f"even {most} would not do"
