"""The batched context: every client and every replicate in one tensor operation."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from driftproof.toolkit.algorithm import Collective
from driftproof.toolkit.draws import BLOCK, Law, Subset, Words

if TYPE_CHECKING:
    from driftproof.toolkit.streams import Stream


class BatchedContext:
    """All clients in one process; replicates last.

    Args:
        words: the keyed stream of random words of this case.
        clients: K, the number of clients of the federation.
        replicates: how many of the block's replicates to run (at most 64).
        block: the number of the block of replicates.
        local: the clients held here (all of them, except on the wire).
    """

    fusable = True
    """Whether a fused kernel may take many steps in this context at once."""
    replayable = True
    """Whether a round may be repeated step by step to find where it went wrong."""

    def __init__(
        self,
        words: Words,
        clients: int,
        *,
        replicates: int = BLOCK,
        block: int = 0,
        dtype: torch.dtype = torch.float64,
        device: str = "cpu",
        local: range | None = None,
    ) -> None:
        self.t = 0
        self.local_steps = 1
        self.horizon = 1
        self.rounds = 0
        self.reals = 0
        self.marks: dict[str, Tensor] = {}
        self.clients = clients
        self.replicates = replicates
        self.local = range(clients) if local is None else local
        self.dtype = dtype
        self.device = device
        self._words = words
        self.block = block
        self._cohorts: dict[str, tuple[tuple[int, ...], Tensor | None]] = {}

    @property
    def weights(self) -> Tensor:
        """The replicates' weights, [replicates], summing to 1."""
        return torch.full((self.replicates,), 1.0 / self.replicates, dtype=torch.float64)

    def everywhere(self, x: Tensor) -> Tensor:
        """Return the shared [dim], or [dim, replicates], as every client holds it."""
        shape = (len(self.local), x.shape[0], self.replicates)
        each = x if x.dim() == 2 else x[:, None]
        return each.to(self.device, self.dtype).expand(shape)

    def draw(self, law: Law | None, name: str) -> Tensor | None:
        """Draw [clients, *shape, replicates], keyed by client, step and name."""
        if law is None:
            return None
        return self._tensor(self._sample(law, name, self.t, self.local))

    def stream(self, law: Law | None, name: str, first: int, steps: int) -> Stream:
        """Return the draws of many steps for loops in numba, which make values where they use them.

        Of a law that they cannot make, the values are drawn here and kept.
        """
        from driftproof.toolkit import streams

        kind = self._numpy_dtype
        if law is None:
            return streams.nothing(kind)
        stream = self._keyed(law, name)
        if stream is not None:
            return stream
        drawn = [self._sample(law, name, t, self.local) for t in range(first, first + steps)]
        values = np.stack(drawn).reshape(steps, len(self.local), -1, self.replicates)
        if values.dtype.kind == "f":
            values = values.astype(kind)
        return streams.stored(values, first, kind)

    def _keyed(self, law: Law, name: str) -> Stream | None:
        """Return the stream whose values loops in numba make from words (None: they cannot)."""
        from driftproof.toolkit import streams

        if type(self)._sample is not BatchedContext._sample:  # a draw is not what its words are
            return None
        return streams.keyed(law, self._words.key(name), self.block, self.local, self._numpy_dtype)

    @property
    def _numpy_dtype(self) -> np.dtype:
        return np.dtype(str(self.dtype).removeprefix("torch."))

    def server_draw(self, law: Law, name: str, since: int) -> Tensor:
        """Draw [*shape, replicates] at step ``since``; every process draws the same."""
        return self._tensor(self._sample(law, name, since, range(1))[0])

    def own(self, values: Tensor) -> Tensor:
        """Return the rows of the clients held here."""
        return values[self.local.start : self.local.stop]

    def mark(self, name: str, value: Tensor) -> None:
        """Show a claim an inner quantity of this step."""
        self.marks[name] = value

    def cohort(self, size: int, since: int, name: str = "cohort") -> Collective:
        """Return the collective of ``size`` clients drawn by the server at step ``since``."""
        key = (size, since)
        if self._cohorts.get(name, ((), None))[0] != key:
            mask = None
            if size < self.clients:
                drawn = self.server_draw(Subset(self.clients, size), name, since)
                mask = self.own(drawn[:, None])
            self._cohorts[name] = key, mask
        return _Cohort(self, self._cohorts[name][1])

    @property
    def mask(self) -> Tensor | None:
        """The clients of the latest "cohort", [clients, 1, replicates] (None: all)."""
        return self._cohorts.get("cohort", ((), None))[1]

    def average(self, *xs: Tensor, weights: Tensor | None = None) -> tuple[Tensor, ...]:
        """Average over all clients in one counted round."""
        return self.average_over(None, xs, weights)

    def average_over(
        self, mask: Tensor | None, xs: tuple[Tensor, ...], weights: Tensor | None
    ) -> tuple[Tensor, ...]:
        """Average over the clients in ``mask`` in one counted round."""
        self.rounds += 1
        self.reals += sum(x.shape[1] for x in xs)
        return tuple(m.expand_as(x) for m, x in zip(self.means(mask, xs, weights), xs, strict=True))

    def means(
        self, mask: Tensor | None, xs: tuple[Tensor, ...], weights: Tensor | None
    ) -> list[Tensor]:
        """Return the weighted means over clients, [1, dim, replicates] each."""
        share = combined(mask, weights)
        if share is None:
            return [x.mean(0, keepdim=True) for x in xs]
        total = share.sum(0, keepdim=True)
        return [(share * x).sum(0, keepdim=True) / total for x in xs]

    def _sample(self, law: Law, name: str, step: int, clients: range) -> np.ndarray:
        words = self._words.draw(law, name, block=self.block, step=step, clients=clients)
        return law.sample(words, clients, self.replicates)

    def _tensor(self, values: np.ndarray) -> Tensor:
        tensor = torch.from_numpy(np.ascontiguousarray(values))
        return tensor.to(self.device, self.dtype if tensor.is_floating_point() else None)


class _Cohort:
    """The collective of the clients in a mask."""

    def __init__(self, ctx: BatchedContext, mask: Tensor | None) -> None:
        self._ctx, self._mask = ctx, mask

    def average(self, *xs: Tensor, weights: Tensor | None = None) -> tuple[Tensor, ...]:
        """Average over the cohort in one counted round."""
        return self._ctx.average_over(self._mask, xs, weights)


def combined(mask: Tensor | None, weights: Tensor | None) -> Tensor | None:
    """Return each client's unnormalised share in an average (None: all alike)."""
    if mask is None:
        return weights
    return mask if weights is None else mask * weights
