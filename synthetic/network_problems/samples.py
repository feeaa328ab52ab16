"""The samples that clients hold, as tensors: all of them, or a minibatch of sample numbers.

A *unit* is one client, one of its tasks (most problems have one a client) and one replicate. What
is computed of a minibatch is computed for each unit, with parameters of its own.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from driftproof.toolkit.draws import Indices, Law
from driftproof.toolkit.errors import DriftproofError

PIECE, IMAGES = 256, 64
"""Samples of a client that are computed at once where all of them are asked for. Of images fewer:
what a convolution keeps for its derivative of 256 images takes a gigabyte in ResNet-20."""


class Batch(NamedTuple):
    """Samples of each unit, units = clients × tasks × replicates in this order.

    Attributes:
        inputs: [units, batch, *example].
        targets: class numbers, or what the loss compares outputs with, [units, batch, …].
        shares: how much each counts in a mean, [units, batch].
        counts: how many of each unit's samples are its own; the rest pad it, and are not computed,
            since batch statistics would see them (None: all are).
    """

    inputs: Tensor
    targets: Tensor
    shares: Tensor
    counts: tuple[int, ...] | None = None

    def of(self, units: slice) -> Batch:
        """Return the samples of some units."""
        counts = None if self.counts is None else self.counts[units]
        return Batch(self.inputs[units], self.targets[units], self.shares[units], counts)


class Source(ABC):
    """Where minibatches come from.

    Attributes:
        clients: those held here.
        client_weights: each client's share of all samples, [clients, 1, 1].
        sample_weights: each sample's share of its client's, [clients, samples, 1], in the order in
            which ``pieces`` gives all of them.
        tasks: of each client.
    """

    clients: int
    client_weights: Tensor
    sample_weights: Tensor
    tasks: int = 1

    @abstractmethod
    def law(self, batch: int) -> Law | None:
        """Return the law of what picks a minibatch (None: nothing is random)."""

    @abstractmethod
    def pieces(self, draw: Tensor | None, replicates: int) -> Iterator[Batch]:
        """Yield the samples of a draw [clients, …, replicates] (None: all), piece by piece.

        The shares of a unit add up to 1 over all pieces.
        """


@dataclass(frozen=True, eq=False)
class ClientData:
    """What each client of a federation holds, as arrays.

    Attributes:
        inputs: [samples, *example] of each client: floating-point numbers, or bytes of which each
            level is worth ``1/levels``.
        targets: [samples, …] of each client: class numbers, or floating-point numbers.
        levels: what bytes are divided by.

    Raises:
        DriftproofError: a client without data, arrays of other lengths, or examples of several
            shapes or kinds.
    """

    inputs: Sequence[np.ndarray]
    targets: Sequence[np.ndarray]
    levels: float = 255.0

    def __post_init__(self) -> None:
        if len(self.inputs) != len(self.targets) or not self.inputs:
            raise DriftproofError(
                f"inputs of {len(self.inputs)} clients and targets of {len(self.targets)}",
                "an array of each for every client, one client or more",
                "give both lists in the same order",
            )
        for client, (inputs, targets) in enumerate(zip(self.inputs, self.targets, strict=True)):
            if len(inputs) != len(targets) or not len(inputs):
                raise DriftproofError(
                    f"client {client} with {len(inputs)} inputs and {len(targets)} targets",
                    "as many targets as inputs, one or more",
                    "split the data so that every client has some",
                )
        for name, arrays in (("inputs", self.inputs), ("targets", self.targets)):
            kinds = {(part.dtype.name, part.shape[1:]) for part in arrays}
            if len(kinds) > 1:
                shown = ", ".join(f"{kind} {shape}" for kind, shape in sorted(kinds))
                raise DriftproofError(
                    f"{name} of several kinds: {shown}",
                    f"{name} of one type and one shape an example on all clients",
                    "bring them to one type and shape before they are split",
                )
        kind = self.inputs[0].dtype
        if kind != np.uint8 and kind.kind != "f":
            raise DriftproofError(
                f"inputs of type {kind}",
                f"bytes (uint8), which are divided by {self.levels:g}, or floating-point numbers",
                "write inputs.astype(np.float32)",
            )

    @property
    def clients(self) -> int:
        """How many clients."""
        return len(self.inputs)

    @property
    def example(self) -> tuple[int, ...]:
        """The shape of one example."""
        return self.inputs[0].shape[1:]

    def held(self, dtype: torch.dtype, device: str, clients: range | None) -> ClientSamples:
        """Return the samples of some clients (None: all) as tensors."""
        return ClientSamples(self, dtype, device, clients or range(self.clients))


class ClientSamples(Source):
    """Minibatches of sample numbers with replacement, from what each client holds.

    Clients are padded to the largest: a padded sample repeats the client's first, and counts 0.
    """

    def __init__(self, data: ClientData, dtype: torch.dtype, device: str, clients: range) -> None:
        self.clients = len(clients)
        self.sizes = tuple(len(part) for part in data.inputs)
        own = self._own = [self.sizes[k] for k in clients]
        self._inputs = _padded([data.inputs[k] for k in clients], max(own)).to(device)
        targets = _padded([data.targets[k] for k in clients], max(own))
        self._targets = targets.to(device, dtype if targets.is_floating_point() else None)
        self._levels, self._dtype = data.levels, dtype
        count = torch.tensor(own, device=device)[:, None]
        self._shares = (torch.arange(max(own), device=device) < count).to(dtype) / count
        self.sample_weights = self._shares[..., None]
        weights = torch.tensor([size / sum(self.sizes) for size in own], dtype=dtype)
        self.client_weights = weights[:, None, None].to(device)
        self._first = max(own) * torch.arange(self.clients, device=device)[:, None, None]

    def law(self, batch: int) -> Law | None:
        """Return sample numbers (None: every client has one sample)."""
        return Indices(self.sizes, batch) if max(self.sizes) > 1 else None

    def pieces(self, draw: Tensor | None, replicates: int) -> Iterator[Batch]:
        """Yield the minibatch of a draw [clients, batch, replicates], or all samples."""
        if draw is not None:
            number = (draw + self._first).transpose(1, 2).flatten(0, 1)
            inputs, targets = (
                rows.index_select(0, number.flatten()).view(*number.shape, *rows.shape[1:])
                for rows in (self._inputs.flatten(0, 1), self._targets.flatten(0, 1))
            )
            shares = torch.full_like(number, 1.0 / number.shape[1], dtype=self._dtype)
            yield Batch(self._scaled(inputs), targets, shares)
            return
        length = piece_of(self._inputs.dim() - 2)
        for first in range(0, self._inputs.shape[1], length):
            piece = slice(first, first + length)
            parts = self._scaled(self._inputs[:, piece]), self._targets[:, piece]
            shares = self._shares[:, piece]
            counts = [min(max(size - first, 0), shares.shape[1]) for size in self._own]
            inputs, targets, shares = (
                part.repeat_interleave(replicates, 0) for part in (*parts, shares)
            )
            every = tuple(count for count in counts for _ in range(replicates))
            padded = min(counts) < shares.shape[1]
            yield Batch(inputs, targets, shares, every if padded else None)

    def _scaled(self, inputs: Tensor) -> Tensor:
        scaled = inputs.to(self._dtype)
        return scaled if inputs.is_floating_point() else scaled / self._levels


def piece_of(dimensions: int) -> int:
    """Return how many samples are computed at once, for examples of so many dimensions."""
    return IMAGES if dimensions == 3 else PIECE


def _padded(parts: Sequence[np.ndarray], length: int) -> Tensor:
    """Return arrays [samples, …] beside each other, those shorter filled with their first row."""
    together = np.stack(
        [
            np.concatenate([p, np.repeat(p[:1], length - len(p), 0)]) if len(p) < length else p
            for p in parts
        ]
    )
    return torch.from_numpy(together)
