"""Messages between the clients' processes and the server, point to point and within a time.

Rank 0 is the server and holds the first clients. For an average every other rank sends a header
and, if any of its clients takes part, a payload; the server waits for each by name, and sends the
average to all. Waiting has an end: the server waits ``patience`` for all of a round's messages, the
others as long again for the server, so that it is the server who says which client failed.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor

from driftproof.toolkit.wire.failure import ServerLost, WireFailure
from driftproof.toolkit.wire.message import END, NOT_FINITE, Message, announced
from driftproof.toolkit.wire.results import Traffic


class Exchange:
    """One process's end of the wire; needs an initialised process group.

    Args:
        assigned: the clients of each rank.
        rank: this process.
        patience: seconds.
        tell: what the server calls with the traffic after every round of communication.
    """

    def __init__(
        self,
        assigned: Sequence[range],
        rank: int,
        *,
        patience: float,
        tell: Callable[[Traffic], None] = lambda traffic: None,
    ) -> None:
        self.traffic = Traffic()
        self._assigned, self._rank, self._tell = assigned, rank, tell
        self._others = range(1, len(assigned))
        self._patience = patience if rank == 0 else 2 * patience + 1
        self._deadline, self._number = 0.0, 0

    def average(self, own: Message) -> Tensor:
        """Return Σ share·x / Σ share over the clients of all processes, [size, replicates]."""
        self._begin(own.number)
        if self._rank:
            return self._ask(own)
        total, weight = self._collected(own)
        result = total / weight.to(total)
        if not torch.isfinite(result).all():
            detail = f"an average of clients whose weights sum to {weight.tolist()}"
            raise WireFailure("not finite", (), own.number, detail)
        self._wait({rank: self._isend(result, rank) for rank in self._others})
        for rank, clients in enumerate(self._assigned):
            self._count(rank, result, down=len(clients))
        self.traffic = replace(self.traffic, rounds=self.traffic.rounds + 1)
        self._tell(self.traffic)
        return result

    def close(self, number: int, replicates: int, culprit: int = -1) -> None:
        """End the run with all others: ``culprit`` is a client whose state is not finite."""
        self._begin(number)
        kind = END if culprit < 0 else NOT_FINITE
        nothing = torch.zeros((0, replicates))
        own = Message(number, 0, nothing, torch.zeros(replicates), culprit, kind)
        if self._rank:
            self._post(own.header)
        else:
            self._headers(own)

    def _begin(self, number: int) -> None:
        self._deadline, self._number = time.monotonic() + self._patience, number

    def _ask(self, own: Message) -> Tensor:
        """A client's side of an average."""
        self._post(own.header)
        if own.uploads:
            self._post(own.sums)
        result = torch.empty_like(own.sums)
        self._wait({0: self._irecv(result, 0)})
        return result

    def _post(self, x: Tensor) -> None:
        self._wait({0: self._isend(x, 0)})

    def _collected(self, own: Message) -> tuple[Tensor, Tensor]:
        """Return Σ share·x and Σ share over all clients: the server's side of an average."""
        uploads, weights = {0: own.uploads}, [own.weight.double().cpu()]
        for rank, header in self._headers(own).items():
            uploads[rank] = int(header[3])
            weights.append(header[5:])
        sums = {rank: torch.empty_like(own.sums) for rank in self._others if uploads[rank]}
        self._wait({rank: self._irecv(x, rank) for rank, x in sums.items()})
        if own.uploads:
            sums = {0: own.sums, **sums}
        for rank, x in sums.items():
            if not torch.isfinite(x).all():
                raise WireFailure("not finite", self._assigned[rank], own.number)
            self._count(rank, x, up=uploads[rank])
        return torch.stack(list(sums.values())).sum(0), torch.stack(weights).sum(0)

    def _headers(self, own: Message) -> Mapping[int, Tensor]:
        """Return the others' headers once all announce what the server's own does."""
        mine = own.header
        headers = {rank: torch.empty_like(mine) for rank in self._others}
        self._wait({rank: self._irecv(header, rank) for rank, header in headers.items()})
        for rank, header in {0: mine, **headers}.items():
            kind, number, size, _, culprit = (int(x) for x in header[:5])
            if culprit >= 0:
                raise WireFailure("not finite", (culprit,), own.number)
            if (kind, number, size) != (own.kind, own.number, own.sums.shape[0]):
                raise WireFailure(
                    "out of step", self._assigned[rank], own.number,
                    f"{announced(kind, number, size)}, where the server has "
                    f"{announced(own.kind, own.number, own.sums.shape[0])}",
                )  # fmt: skip
        return headers

    def _count(self, rank: int, x: Tensor, up: int = 0, down: int = 0) -> None:
        """Count a payload that came from a rank, or went there."""
        size, sent, now = x.numel() * x.element_size(), int(rank > 0), self.traffic
        self.traffic = replace(
            now,
            messages_up=now.messages_up + up,
            messages_down=now.messages_down + down,
            bytes_up=now.bytes_up + up * size,
            bytes_down=now.bytes_down + down * size,
            sent_messages=now.sent_messages + sent,
            sent_bytes=now.sent_bytes + sent * size,
        )

    def _isend(self, x: Tensor, rank: int) -> Any:
        return self._begun(dist.isend, x.contiguous(), rank)

    def _irecv(self, x: Tensor, rank: int) -> Any:
        return self._begun(dist.irecv, x, rank)

    def _begun(self, begin: Callable[..., Any], x: Tensor, rank: int) -> Any:
        try:
            return begin(x, rank)
        except RuntimeError as error:  # a connection that is known to be closed
            raise self._failed(rank, "ended") from error

    def _wait(self, pending: Mapping[int, Any]) -> None:
        """Wait for what was begun with each rank, until the deadline.

        A wait that is over time ends the whole group (gloo closes every connection), so the one
        that is waited for then is the one that is named.
        """
        for rank, work in pending.items():
            left = max(self._deadline - time.monotonic(), 0.02)
            began = time.monotonic()
            try:
                work.wait(timedelta(seconds=left))
            except RuntimeError as error:
                early = time.monotonic() - began < 0.9 * left
                raise self._failed(rank, "ended" if early else "stalled") from error

    def _failed(self, rank: int, what: str) -> Exception:
        """Return the error for a rank that ended or stalled."""
        if self._rank:
            return ServerLost(self._number, what == "stalled")
        detail = f"waited {self._patience:g} s" if what == "stalled" else ""
        return WireFailure(what, self._assigned[rank], self._number, detail)
