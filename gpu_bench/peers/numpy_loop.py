"""A loop over clients in numpy: what most who simulate a federation write first.

One run of one client at a time, the update as it is printed, matrix-vector products by BLAS; R
replicates are R runs. It is the reference for the other peers, so it is kept plain; numpy at its
fastest is ``numpy_batched.py``. In w2 the labels are multiplied into the features beforehand, which
leaves one gather a step.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from driftproof.gpu_bench.peer import arrays, peer

if TYPE_CHECKING:
    from driftproof.gpu_bench.workload import Round


@peer(name="numpy loop", workload="w1", extra=None, source="the update as printed")
def w1(data: Mapping[str, Any]) -> Round:
    """Each client and replicate on its own: 2τ products of a matrix and a vector."""
    matrices, offsets, starts = arrays(data, "matrices", "offsets", "starts")
    clients, d, _ = matrices.shape
    lam, eta, steps = data["regulariser"], data["step_size"], data["local_steps"]
    columns = np.ascontiguousarray(starts.T)

    def run() -> np.ndarray:
        ends = np.zeros_like(columns)
        for z, end in zip(columns, ends, strict=True):
            for a, b in zip(matrices, offsets, strict=True):
                x, y = z[:d], z[d:]
                for _ in range(steps):
                    x, y = x - eta * (lam * x - a.T @ y), y - eta * (y - b + a @ x)
                end[:d] += x
                end[d:] += y
        mean: np.ndarray = ends.T / clients
        return mean

    return run


@peer(name="numpy loop", workload="w2", extra=None, source="the update as printed")
def w2(data: Mapping[str, Any]) -> Round:
    """Each client and replicate on its own: gather a minibatch, its value and its gradient."""
    from scipy.special import expit

    features, labels, starts = arrays(data, "features", "labels", "starts")
    signed = features * labels[..., None]
    gamma, eta = data["temperature"], data["step_size"]
    chosen = np.ascontiguousarray(np.transpose(data["chosen"], (3, 1, 0, 2)))  # R, K, τ, batch
    columns, batch = np.ascontiguousarray(starts.T), chosen.shape[-1]

    def run() -> np.ndarray:
        ends = np.zeros_like(columns)
        for start, of, end in zip(columns, chosen, ends, strict=True):
            for rows, steps in zip(signed, of, strict=True):
                w = start
                for numbers in steps:
                    drawn = rows.take(numbers, 0)
                    margin = drawn @ w
                    value = np.logaddexp(0.0, -margin).mean()
                    gradient = expit(-margin) @ drawn / -batch
                    w = w - eta * np.exp(value / gamma) / gamma * gradient
                end += w
        mean: np.ndarray = ends.T / len(signed)
        return mean

    return run
