"""Each client's samples as tensors, over which functions of one sample are carried by ``vmap``."""

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
import torch
from torch import Tensor
from torch.func import vmap

from driftproof.toolkit.draws import Indices, Law
from driftproof.toolkit.errors import DriftproofError

Sample: TypeAlias = tuple[Tensor, ...]
Derivative: TypeAlias = Callable[..., Tensor]


class ClientSamples:
    """The samples of the clients held here, padded to the largest client's number.

    A client's rows beyond its own repeat its first, and have a share of 0 in its means.

    Attributes:
        shares: of each sample in its client's mean, [clients, samples].
        client_weights: each client's share of all samples of the federation, [clients, 1, 1].
    """

    def __init__(
        self, data: Sequence[Sample], clients: range, dtype: torch.dtype, device: str
    ) -> None:
        self.sizes = tuple(len(part[0]) for part in data)
        own = [self.sizes[k] for k in clients]
        number, count = torch.arange(max(own)), torch.tensor(own)[:, None]
        rows = torch.where(number < count, number, 0)
        self.data = tuple(
            torch.stack(
                [_cast(data[k][j], dtype)[at] for k, at in zip(clients, rows, strict=True)]
            ).to(device)
            for j in range(len(data[0]))
        )
        self.shares = ((number < count).to(dtype) / count).to(device)
        weights = torch.tensor(own, dtype=dtype, device=device) / sum(self.sizes)
        self.client_weights = weights[:, None, None]

    def law(self, batch: int) -> Law | None:
        """Return the law of a minibatch of every client of the federation."""
        return None if max(self.sizes) == 1 else Indices(self.sizes, batch)

    def each(self, derivative: Derivative, at: Tensor | None, *points: Tensor) -> Tensor:
        """Return derivative(*points, samples, shares) of every client and replicate."""
        return self.apply(lambda sample, share, *of: derivative(*of, sample, share), at, *points)

    def apply(self, function: Derivative, at: Tensor | None, *points: Tensor) -> Tensor:
        """Carry function(sample, shares, *points) over clients and replicates (last)."""
        taken, share, along = self.data, self.shares, None
        if at is not None:
            number = torch.arange(len(at), device=at.device)[:, None, None]
            taken, along = tuple(part[number, at] for part in self.data), 1
            share = torch.full_like(share[:, :1], 1.0 / at.shape[1]).expand(len(at), at.shape[1])
        places = (along, None) + (1,) * len(points)
        over_replicates = vmap(function, places, -1)
        values: Tensor = vmap(over_replicates)(taken, share, *points)
        return values


def of_samples(function: Callable[..., Tensor], together: bool) -> Derivative:
    """Return (*points, samples) ↦ function(*points, sample_j) of every sample, [samples]."""

    def checked(*at: Any) -> Tensor:
        value = function(*at)
        if getattr(value, "ndim", None) != together:
            name, shape = getattr(function, "__name__", "f"), list(getattr(value, "shape", []))
            raise DriftproofError(
                f"{name}, which returns a {type(value).__name__} of shape {shape}",
                "a number for each sample, [samples]" if together else "a tensor of shape []",
                "end it with .sum(), say, and return what torch computed",
            )
        return value

    if together:
        return checked
    return lambda *at: vmap(checked, (*(None,) * (len(at) - 1), 0))(*at)


def mean_of(function: Callable[..., Tensor], together: bool) -> Derivative:
    """Return (*points, samples, shares) ↦ Σ_j shares_j·function(*points, sample_j)."""
    each = of_samples(function, together)
    return lambda *at: at[-1] @ each(*at[:-1])


def _cast(part: Any, dtype: torch.dtype) -> Tensor:
    tensor = part if isinstance(part, Tensor) else torch.from_numpy(np.asarray(part))
    return tensor.to(dtype) if tensor.is_floating_point() else tensor
