"""The same in numpy at its fastest: replicates are columns, clients a stack of matrices.

``np.matmul`` over a stack is a loop over clients in C; temporaries are written in place. Only as
many clients are taken at once as leave their arrays in the cache, which is up to a third faster
than all of them. The step size is multiplied into the matrices, and the labels into the features,
beforehand.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from driftproof.gpu_bench.peer import arrays, peer

if TYPE_CHECKING:
    from driftproof.gpu_bench.workload import Round

CACHE = 1 << 20
"""Bytes that clients taken at once may need: half of a core's usual second-level cache."""


def _groups(clients: int, reals: int, dtype: np.dtype[Any]) -> list[slice]:
    """Divide clients who need ``reals`` numbers each into groups that fit into the cache."""
    size = max(1, CACHE // (reals * dtype.itemsize))
    return [slice(k, min(k + size, clients)) for k in range(0, clients, size)]


@peer(name="numpy batched", workload="w1", extra=None, source="np.matmul over stacks")
def w1(data: Mapping[str, Any]) -> Round:
    """[clients, d, d] @ [clients, d, replicates], twice a step."""
    matrices, offsets, starts = arrays(data, "matrices", "offsets", "starts")
    (clients, d, _), replicates = matrices.shape, starts.shape[1]
    lam, eta, steps = data["regulariser"], data["step_size"], data["local_steps"]
    down, push = eta * matrices, eta * offsets[:, :, None]
    up = down.transpose(0, 2, 1)
    groups = _groups(clients, d * d + 4 * d * replicates, starts.dtype)
    room = np.empty((4, groups[0].stop, d, replicates), starts.dtype)

    def run() -> np.ndarray:
        ends = np.zeros_like(starts)
        for part in groups:
            x, y, dx, dy = room[:, : part.stop - part.start]
            x[:], y[:] = starts[:d], starts[d:]
            for _ in range(steps):
                np.matmul(up[part], y, out=dx)
                np.matmul(down[part], x, out=dy)
                x *= 1.0 - eta * lam
                x += dx
                y *= 1.0 - eta
                y -= dy
                y += push[part]
            ends[:d] += x.sum(0)
            ends[d:] += y.sum(0)
        mean: np.ndarray = ends / clients
        return mean

    return run


@peer(name="numpy batched", workload="w2", extra=None, source="np.matmul over stacks")
def w2(data: Mapping[str, Any]) -> Round:
    """Gather [clients, replicates, batch, d], then products with a vector of each."""
    from scipy.special import expit

    features, labels, starts = arrays(data, "features", "labels", "starts")
    clients, samples, d = features.shape
    signed = (features * labels[..., None]).reshape(-1, d)
    gamma, eta = data["temperature"], data["step_size"]
    first = samples * np.arange(clients)[:, None, None]
    chosen = np.ascontiguousarray(np.transpose(data["chosen"], (0, 1, 3, 2)) + first)
    replicates, batch = chosen.shape[2:]
    columns, rate = np.ascontiguousarray(starts.T), eta / (gamma * batch)
    groups = _groups(clients, replicates * batch * d, starts.dtype)

    def run() -> np.ndarray:
        ends = np.zeros_like(columns)
        for part in groups:
            w = np.repeat(columns[None], part.stop - part.start, 0)
            for numbers in chosen[:, part]:
                rows = signed.take(numbers, 0)
                margin = np.matmul(rows, w[..., None])[..., 0]
                value = np.logaddexp(0.0, -margin).mean(-1, keepdims=True)
                shares = expit(-margin)[..., None, :]
                w += rate * np.exp(value / gamma) * np.matmul(shares, rows)[..., 0, :]
            ends += w.sum(0)
        mean: np.ndarray = ends.T / clients
        return mean

    return run
