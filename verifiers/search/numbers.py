"""From what an optimiser moves, any real numbers, to parameters in their ranges."""

import numpy as np

from driftproof.toolkit.parameters import Constraint

SMALLEST, LARGEST = -8.0, 6.0
"""Powers of ten that a scale may have."""


def scale(z: np.ndarray, middle: float = 0.0) -> np.ndarray:
    """Return 10^(middle + z), from 1e-8 to 1e6.

    >>> scale(np.array([0.0, -1.0, -100.0])).tolist()
    [1.0, 0.1, 1e-08]
    """
    powers: np.ndarray = 10.0 ** np.clip(middle + z, SMALLEST, LARGEST)
    return powers


def share(z: np.ndarray) -> np.ndarray:
    """Return a number between 0 and 1, ½ at 0.

    >>> share(np.array([0.0, 100.0])).tolist()
    [0.5, 1.0]
    """
    shares: np.ndarray = 0.5 * (1.0 + np.tanh(z))
    return shares


def parameter(z: np.ndarray, constraint: Constraint, default: float) -> np.ndarray:
    """Return values that a parameter may have: by its scale, its share of a range, or freely.

    >>> parameter(np.array([0.0, 1.0]), Constraint(0.0, above=True), 0.1).round(12).tolist()
    [0.1, 1.0]
    """
    low, high = constraint.low, constraint.high
    if np.isfinite(low) and np.isfinite(high):
        margin = 1e-9 * (high - low)
        values: np.ndarray = low + (high - low) * share(z)
        inside: np.ndarray = np.clip(
            values, low + margin * constraint.above, high - margin * constraint.below
        )
        return inside
    middle = np.log10(abs(default)) if default else 0.0
    if np.isfinite(low):
        return low + scale(z, middle)
    signed: np.ndarray = scale(np.abs(z) - 1.0, middle) * np.sign(z)
    return signed
