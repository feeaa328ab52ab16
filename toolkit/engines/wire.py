"""The wire engine: one process a client, averages by torch.distributed."""

from __future__ import annotations

import torch
import torch.distributed as dist
from torch import Tensor

from toolkit.engines.batched import BatchedContext, _combine


class WireContext(BatchedContext):
    """Holds only this process's clients; an average is one all-reduce.

    Draws are keyed by client, so this process draws what the batched engine would draw for them.
    Needs an initialised process group.
    """

    def means(
        self, mask: Tensor | None, xs: tuple[Tensor, ...], weights: Tensor | None
    ) -> list[Tensor]:
        """Return the means over the clients of all processes, by one all-reduce of the sums."""
        share = _combine(mask, weights)
        if share is None:
            share = torch.ones((len(self.local), 1, 1), dtype=self.dtype, device=self.device)
        share = share.expand(len(self.local), 1, self.replicates)
        sums = [(share * x).sum(0) for x in xs] + [share.sum(0)]
        sent = torch.cat(sums)
        dist.all_reduce(sent)
        *totals, count = sent.split([x.shape[1] for x in xs] + [1])
        return [(total / count)[None] for total in totals]
