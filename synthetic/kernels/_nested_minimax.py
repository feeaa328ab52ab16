r"""What fused rounds on f_i = −[½‖y‖² − b_iᵀy + yᵀA_i x] + (λ/2)‖x‖² share: data and cohorts."""

from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from driftproof.toolkit.kernels.device import kept

WIDE = 32
"""Entries that take their local steps together: as many as registers hold."""


class Data(NamedTuple):
    """A_i [clients, d, d], b_i [clients, d], λ and the noise's size, in a run's precision."""

    matrices: np.ndarray
    offsets: np.ndarray
    regulariser: float
    noise: float
    diagonal: bool


def data_of(oracles: Any) -> Data:
    """Return what a problem is made of; looked up once a run, since ``diagonal`` reads all A_i."""

    def make() -> Data:
        both = oracles.matrices, oracles.offsets
        matrices, offsets = (np.ascontiguousarray(x.numpy()) for x in both)
        own = oracles.regulariser, oracles.noise  # as the plain steps' tensors hold them
        regulariser, noise = (float(matrices.dtype.type(number)) for number in own)
        beside = matrices * (1 - np.eye(matrices.shape[1]))
        return Data(matrices, offsets, regulariser, noise, not beside.any())

    data: Data = kept(oracles, "minimax data", make)
    return data


def accepts(algorithm: Any, problem: Any) -> bool:
    """Say whether a member is served: without noise, and without the indirect part."""
    return problem.gradient_noise == 0 and getattr(algorithm, "terms", 0) == 0


def rows(oracles: Any) -> dict[str, int]:
    """Return the rows of every field of a state: x and y have as many."""
    fields = ("x", "y", "x_start", "y_start", "x_direction", "y_direction")
    return dict.fromkeys(fields, oracles.upper_dim)


def members(ctx: Any, algorithm: Any, since: int) -> np.ndarray:
    """Return the clients of the cohort drawn at step ``since``, [size, replicates]."""
    size = algorithm.cohort_size(ctx.clients)
    ctx.cohort(size, since=since)
    if ctx.mask is None:
        every = np.broadcast_to(np.arange(ctx.clients)[:, None], (ctx.clients, ctx.replicates))
        return np.ascontiguousarray(every)
    chosen = ctx.mask[:, 0].numpy().astype(bool)
    numbers = np.nonzero(chosen.T)[1].reshape(ctx.replicates, size)
    return np.ascontiguousarray(numbers.T)


def shared(x: Tensor) -> np.ndarray:
    """Return what all clients hold alike, [dim, replicates]."""
    return np.ascontiguousarray(x[0].numpy())


def everywhere(x: np.ndarray, oracles: Any) -> Tensor:
    """Return [dim, replicates] as every client holds it."""
    return torch.from_numpy(x).expand(oracles.clients, *x.shape)
