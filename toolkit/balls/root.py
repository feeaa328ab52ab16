"""The minimiser of a strongly convex function, enclosed from its gradient."""

from collections.abc import Callable

import numpy as np
import torch
from flint import arb
from torch import Tensor

from driftproof.toolkit.balls.operations import root as square_root
from driftproof.toolkit.balls.tensor import Balls, RefusedError, lift

STEPS = 4
"""Newton steps at most; the first makes a quadratic's minimiser exact."""


def enclosed_minimiser(
    near: Tensor,
    gradient: Callable[[Tensor], Tensor],
    hessian: Callable[[Tensor], Tensor],
    modulus: float,
) -> Balls:
    """Return balls that contain argmin g, [dim, replicates], one minimiser a replicate.

    g is μ-strongly convex, so its minimiser is within ‖∇g(y)‖/μ of any y: Newton's steps make that
    small, and it becomes the balls' radius. The Hessian only has to be near the true one.

    Args:
        near: a point near the minimiser, in doubles.
        gradient: ∇g, [dim, replicates] → the same.
        hessian: ∇²g, [replicates, dim, dim].
        modulus: a proven μ > 0.
    """
    point = Balls.of(near)
    slope = gradient(point)
    for _ in range(STEPS):
        right = slope.T[:, :, None]
        moved = torch.linalg.solve(hessian(point), right)[..., 0].T
        point = Balls(_middles(lift(point - moved)))
        slope = gradient(point)
        if _largest(slope) < 2.0**-150:
            break
    away = _distance(lift(slope), modulus)
    return Balls(np.asarray(_around(lift(point), away), dtype=object))


def _largest(slope: Tensor) -> float:
    return max(float(abs(x).upper()) for x in lift(slope).flat)


def _distance(slope: np.ndarray, modulus: float) -> np.ndarray:
    """Return ‖∇g‖/μ of each replicate, [replicates]."""
    squares = np.add.reduce(slope * slope, axis=0)
    sizes = [(square_root(x) / arb(modulus)).upper() for x in squares]
    if not all(size.is_finite() for size in sizes):
        raise RefusedError("the minimiser below has no enclosure", open=True)
    return np.array(sizes, dtype=object)


_middles = np.frompyfunc(lambda x: x.mid(), 1, 1)
_around = np.frompyfunc(lambda x, away: x + arb(0, away), 2, 1)
