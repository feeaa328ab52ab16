"""What a run on the wire gives: the iterates, and what was sent for them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field

import numpy as np


@dataclass(frozen=True, kw_only=True)
class Traffic:
    """What was sent so far, counted at the server as each message arrives or leaves.

    A *message* is what one client sends or receives in one average, however many tensors that
    averages. Where a process holds several clients it hands over one sum for all that take part;
    they count as a message each, of the sum's size. The clients that live beside the server count
    as well, though theirs crosses no wire. With one process a client and one replicate, these are
    therefore the numbers of a federation whose server is a machine of its own; a message of several
    replicates carries them all, and a client sends it if it takes part in any.

    Bytes are those of the payloads. A header that precedes each (round, size, the client's weight)
    is not counted.

    Attributes:
        rounds: rounds of communication that were completed.
        messages_up, messages_down: from clients to the server, and back.
        bytes_up, bytes_down: of those messages.
        sent_messages, sent_bytes: of them, both ways, what torch.distributed was handed.
    """

    rounds: int = 0
    messages_up: int = 0
    messages_down: int = 0
    bytes_up: int = 0
    bytes_down: int = 0
    sent_messages: int = 0
    sent_bytes: int = 0


@dataclass(frozen=True, kw_only=True, eq=False)
class WireRun(Traffic):
    """A run on the wire, or what a failed one came to.

    Attributes:
        iterates: client 0's at each round's start and at the end, [rounds + 1, dim, replicates].
        followed: the same of each field of the state that was asked for, by name.
        reals: reals that one client sent, as the batched context counts them.
        state: the fields of client 0's final state, [dim, replicates] each (empty if it failed).
    """

    iterates: np.ndarray
    followed: Mapping[str, np.ndarray] = field(default_factory=dict)
    reals: int = 0
    state: Mapping[str, np.ndarray] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Ended:
    """The last news of a run: its final state and the reals a client sent."""

    reals: int
    state: Mapping[str, np.ndarray]


Moment = Mapping[str, np.ndarray]
"""Client 0's fields as a round starts, the iterate first."""
News = Traffic | Moment | Ended
"""What the server tells as it goes on: the traffic, a moment, the end."""


class Record:
    """The news so far."""

    def __init__(self) -> None:
        self.traffic = Traffic()
        self.ended: Ended | None = None
        self._moments: list[Moment] = []

    def hear(self, news: News) -> None:
        """Take a piece of news."""
        if isinstance(news, Traffic):
            self.traffic = news
        elif isinstance(news, Ended):
            self.ended = news
        else:
            self._moments.append(news)

    def so_far(self) -> WireRun:
        """Return the run as far as it is known."""
        ended = self.ended or Ended(reals=0, state={})
        names = list(self._moments[0]) if self._moments else []
        followed = {name: np.array([m[name] for m in self._moments]) for name in names}
        return WireRun(
            **asdict(self.traffic), iterates=followed[names[0]] if names else np.array([]),
            followed=followed, reals=ended.reals, state=ended.state,
        )  # fmt: skip
