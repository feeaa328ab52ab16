"""BlazeFL on W1, beside driftproof.

In an environment of its own, from the root of the checkout:

    python3.11 -m venv blazefl && blazefl/bin/pip install torch numba scipy jaxtyping
    blazefl/bin/pip install --ignore-requires-python "blazefl==2.0.3"
    blazefl/bin/python -m tests.benchmarks.recorded.blazefl

The loop of BlazeFL's quickstart example, all clients in every round, in its recommended mode (a
pool of two threads) and in its single-threaded one; the faster counts. Packages hold one float64
array. Its third mode starts a pool of processes anew in every round, and is not run.
"""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass

import numpy as np
from blazefl.core import BaseClientTrainer, BaseServerHandler, ThreadPoolClientTrainer

from tests.benchmarks.recorded import beside

WARM_UP, ROUNDS, CORES = 10, 200, 2


@dataclass
class Package:
    """The iterate that is sent, [2d], down or up."""

    z: np.ndarray


class Server(BaseServerHandler[Package, Package]):  # type: ignore[misc]
    """Averages what the clients send."""

    def __init__(self) -> None:
        self.z, self.round, self.received = beside.start(), 0, list[Package]()

    def sample_clients(self) -> list[int]:
        """Return everyone."""
        return list(range(beside.CLIENTS))

    def downlink_package(self) -> Package:
        """Return the iterate."""
        return Package(self.z)

    def if_stop(self) -> bool:
        """Say whether all rounds are done."""
        return self.round >= WARM_UP + ROUNDS

    def load(self, payload: Package) -> bool:
        """Take one client's package; average when all are here."""
        self.received.append(payload)
        if len(self.received) < beside.CLIENTS:
            return False
        self.global_update(self.received)
        self.round, self.received = self.round + 1, []
        return True

    def global_update(self, buffer: list[Package]) -> None:
        """Average."""
        self.z = np.mean([package.z for package in buffer], axis=0)


class InTurn(BaseClientTrainer[Package, Package]):  # type: ignore[misc]
    """One client after the other."""

    def __init__(self) -> None:
        self.cache: list[Package] = []

    def local_process(self, payload: Package, cid_list: list[int]) -> None:
        """Take the local steps of some clients."""
        self.cache = [Package(beside.local_steps(cid, payload.z)) for cid in cid_list]

    def uplink_package(self) -> list[Package]:
        """Return what they send, and forget it."""
        sent, self.cache = self.cache, []
        return sent


class Threads(ThreadPoolClientTrainer[Package, Package]):  # type: ignore[misc]
    """Clients on BlazeFL's pool of threads."""

    def __init__(self) -> None:
        self.num_parallels, self.device, self.device_count = CORES, "cpu", 0
        self.cache: list[Package] = []
        self.stop_event = threading.Event()

    def worker(
        self, cid: int, device: str, payload: Package, stop_event: threading.Event
    ) -> Package:
        """Take one client's local steps."""
        return Package(beside.local_steps(cid, payload.z))

    def uplink_package(self) -> list[Package]:
        """Return what they send, and forget it."""
        sent, self.cache = self.cache, []
        return sent


def simulated(trainer: InTurn | Threads) -> tuple[np.ndarray, np.ndarray]:
    """Return the seconds of each round after the warm-up, and the last iterate."""
    server, seconds = Server(), []
    while not server.if_stop():
        began = time.perf_counter()
        trainer.local_process(server.downlink_package(), server.sample_clients())
        for package in trainer.uplink_package():
            server.load(package)
        seconds.append(time.perf_counter() - began)
    return np.array(seconds[WARM_UP:]), server.z


def main() -> None:
    """Simulate in both modes, compare with driftproof, record the faster."""
    ours = beside.ours()
    made = {"a pool of two threads": simulated(Threads()), "one thread": simulated(InTurn())}
    least = {mode: float(seconds.min()) for mode, (seconds, _) in made.items()}
    engine = min(least, key=lambda mode: least[mode])
    seconds, end = made[engine]
    beside.record(
        "blazefl", "blazefl", ours, seconds, end, WARM_UP + ROUNDS, engine=engine,
        least_milliseconds_by_engine={mode: 1e3 * seconds for mode, seconds in least.items()},
        command="python -m tests.benchmarks.recorded.blazefl",
        remark="Its metadata asks for Python 3.12; this release runs on 3.11 unchanged. On Python "
        "3.14 without the global lock its threads would run side by side, on two cores at most "
        "twice as fast.",
    )  # fmt: skip


if __name__ == "__main__":
    main()
