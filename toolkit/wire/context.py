"""The wire's context: that of a process which holds some of the clients."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from driftproof.toolkit.draws import Words
from driftproof.toolkit.engines.batched import BatchedContext, combined
from driftproof.toolkit.wire.exchange import Exchange
from driftproof.toolkit.wire.message import Message


class WireContext(BatchedContext):
    """Holds only this process's clients; an average goes through the server.

    Draws are keyed by client, so this process draws what the batched context would draw for them,
    and the server's draws are made alike in every process. The averages agree with the batched
    context's to a few units in the last place: the sums are taken in another order.

    Args:
        exchange: this process's end of the wire.
        local: the clients held here.
        words, clients, more: as in the batched context.
    """

    fusable = False
    replayable = False  # the processes would leave a repeated round at different steps

    def __init__(
        self, exchange: Exchange, words: Words, clients: int, *, local: range, **more: Any
    ) -> None:
        super().__init__(words, clients, local=local, **more)
        self._exchange = exchange

    def means(
        self, mask: Tensor | None, xs: tuple[Tensor, ...], weights: Tensor | None
    ) -> list[Tensor]:
        """Return the means over the clients of all processes, [1, dim, replicates] each.

        A client uploads if its share of the average is not 0 in some replicate.
        """
        share = combined(mask, weights)
        if share is None:
            share = torch.ones((len(self.local), 1, 1), dtype=self.dtype, device=self.device)
        share = share.expand(len(self.local), 1, self.replicates)
        taking = (share != 0).flatten(1).any(1)
        x = torch.cat([x.expand(*x.shape[:2], self.replicates) for x in xs], 1)[taking]
        sums = (share[taking] * x).sum(0)
        culprit = -1
        if not torch.isfinite(sums).all():
            rows = torch.isfinite(x).flatten(1).all(1)
            bad = torch.arange(self.local.start, self.local.stop, device=x.device)[taking][~rows]
            culprit = int(bad[0]) if len(bad) else -1
        uploads = int(taking.sum())
        own = Message(self.rounds, uploads, sums, share[:, 0].sum(0), culprit)
        averages = self._exchange.average(own)
        return [mean[None] for mean in torch.split(averages, [x.shape[1] for x in xs])]

    def close(self, state: Any) -> None:
        """End the run with all other processes; tell them if a state here is not finite."""
        bad = torch.zeros(len(self.local), dtype=torch.bool, device=self.device)
        for x in state:
            bad |= ~torch.isfinite(x).flatten(1).all(1)
        culprit = self.local[int(bad.int().argmax())] if bad.any() else -1
        self._exchange.close(self.rounds + 1, self.replicates, culprit)
