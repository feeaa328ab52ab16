"""Correct first: a variant's round against the plain steps in double precision on the CPU."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from gpu_bench.prepared import Prepared


@dataclass(frozen=True)
class Agreement:
    """How far a round is from the reference.

    Attributes:
        error: the largest difference of an entry over the largest entry of its field; nan where a
            result is not finite.
        tolerance: what the kernel allows in this precision.
    """

    error: float
    tolerance: float

    @property
    def holds(self) -> bool:
        """Whether the error is within the tolerance (not, if it is no number)."""
        return bool(self.error <= self.tolerance)


def distance(result: np.ndarray, reference: np.ndarray) -> float:
    """Return max |result − reference| / max |reference|; nan where ``result`` is not finite.

    >>> distance(np.array([1.0, 2.5]), np.array([1.0, 2.0]))
    0.25
    """
    if result.shape != reference.shape or not np.isfinite(result).all():
        return float("nan")
    scale = float(np.abs(reference).max(initial=0.0)) or 1.0
    return float(np.abs(result - reference).max(initial=0.0)) / scale


def checked(prepared: Prepared, name: str, reference: Prepared) -> Agreement:
    """Compare one variant's first round with the reference's plain steps, on poisoned memory.

    ``reference`` is the same workload with the same seed in double precision on the CPU; its start
    is the variant's own, so that rounding of the inputs is no part of the error.
    """
    start = prepared.first_start()
    expected = reference.plain_from(type(start)(*(x.cpu().double() for x in start)))
    prepared.poison()
    result = prepared.variants()[name](0)
    error = max(
        distance(a.double().cpu().numpy(), b.numpy()) for a, b in zip(result, expected, strict=True)
    )
    return Agreement(error, tolerance(prepared))


def tolerance(prepared: Prepared) -> float:
    """Return the relative error that the kernel allows in this precision."""
    units = prepared.kernel.tolerance if prepared.kernel is not None else 4096.0
    return units * torch.finfo(getattr(torch, prepared.dtype)).eps
