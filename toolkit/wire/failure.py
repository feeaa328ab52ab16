"""How a run on the wire fails, and what is said of it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.wire.results import WireRun

TOLD = {
    "raised": (
        "raised an error",
        "clients that run to the end",
        "mend what it says; --engine batched runs the same steps in one process",
    ),
    "not finite": (
        "sent a value that is not finite",
        "finite values on the wire",
        "take a smaller step size; what was done until then is in the error's done",
    ),
    "out of step": (
        "came with another message than the server's",
        "the same averages of the same sizes in the same order at every client",
        "let an algorithm's control flow depend on server draws, not on a client's own data",
    ),
    "ended": (
        "ended before the run did",
        "processes that live until the run ends",
        "see that there is memory for them all, and that a script which runs on the wire starts "
        'under if __name__ == "__main__"; then run again (--resume keeps finished units)',
    ),
    "stalled": (
        "did not answer in time",
        "an answer of every client within the patience",
        "see what holds it up, or allow more patience; then run again (--resume keeps finished "
        "units)",
    ),
}
"""What happened → what is said of it: got, wanted, remedy. What explains most comes first."""


class WireFailure(DriftproofError):  # noqa: N818 - it tells of a run, not of a mistake
    """A client failed, and the run with it.

    Args:
        what: a key of ``TOLD``.
        clients: which; where a process holds several, all of those (none: their average).
        number: in which round of communication (0: before the first).
        detail: what more is known.
        wanted, remedy: instead of those of ``TOLD``.
        done: what was done until then; None where only the server knows.
    """

    def __init__(
        self,
        what: str,
        clients: Iterable[int],
        number: int,
        detail: str = "",
        *,
        wanted: str = "",
        remedy: str = "",
        done: WireRun | None = None,
    ) -> None:
        happened, usual, usually = TOLD[what]
        self.what, self.clients, self.number = what, tuple(clients), number
        self.detail, self.done = detail, done
        where = f"in round of communication {number}" if number else "before the first message"
        got = f"{_named(self.clients)} {happened} {where}"
        got += f": {detail}" if detail else ""
        super().__init__(got, wanted or usual, remedy or usually)

    def but(self, detail: str = "", done: WireRun | None = None) -> WireFailure:
        """Return the failure with more known of it."""
        return WireFailure(
            self.what, self.clients, self.number, detail or self.detail,
            wanted=self.wanted, remedy=self.remedy, done=done or self.done,
        )  # fmt: skip

    def __reduce__(self) -> tuple[object, ...]:
        named = {"wanted": self.wanted, "remedy": self.remedy, "done": self.done}
        return _again, (self.what, self.clients, self.number, self.detail, named)


class ServerLost(Exception):  # noqa: N818 - what a client notices, told only if the server is silent
    """The server ended, or did not answer; it knows better why, if it can still say so.

    Args:
        number: the round of communication.
        late: whether it may yet live.
    """

    def __init__(self, number: int, late: bool) -> None:
        super().__init__(number, late)
        self.number, self.late = number, late


def raised(error: BaseException, clients: Iterable[int], number: int) -> WireFailure:
    """Return the failure for what a client's own code raised."""
    if isinstance(error, DriftproofError):
        return WireFailure(
            "raised", clients, number, error.got, wanted=error.wanted, remedy=error.remedy
        )
    return WireFailure("raised", clients, number, f"{type(error).__name__}: {error}")


def _again(
    what: str, clients: tuple[int, ...], number: int, detail: str, named: dict[str, Any]
) -> object:
    """Make a failure anew where it was sent to."""
    return WireFailure(what, clients, number, detail, **named)


def _named(clients: tuple[int, ...]) -> str:
    if not clients:
        return "the server"
    listed = ", ".join(str(client) for client in clients)
    return f"client {listed}" if len(clients) == 1 else f"clients {listed}"
