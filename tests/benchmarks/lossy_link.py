"""``torchrun -m toolkit.wire`` over two network namespaces of this machine and a bad link.

``python -m tests.benchmarks.lossy_link``, as root, prints the figures of docs/cluster.md: seconds a
round of communication by the link's delay, loss and rate, and how soon a member that disappears is
told. The link is two tun devices, one in each namespace, with this process between them: it holds a
packet back, drops it, or lets it through. ``tc netem`` does the same in a kernel that has it. TCP,
and what it does about a lost packet, is the kernel's.
"""

from __future__ import annotations

import argparse
import fcntl
import heapq
import itertools
import json
import os
import random
import select
import signal
import statistics
import struct
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[2]
NAMES = ("driftproof-a", "driftproof-b")
"""The namespaces: the server's, and that of the members at the other end of the link."""
ADDRESSES = ("10.79.0.1", "10.79.0.2")
DEVICE = "slow0"
TUNSETIFF, TUN, NO_HEADER = 0x400454CA, 0x0001, 0x1000
QUEUE = 1000
"""Packets that the link holds back at most, as netem does; what comes then is dropped."""
CLIENTS = 4


@dataclass(frozen=True)
class Size:
    """How large a run is: a message of FedAvg's carries 2d reals of each replicate."""

    dim: int
    replicates: int
    rounds: int

    @property
    def bytes(self) -> int:
        """Return those of a message."""
        return 8 * 2 * self.dim * self.replicates


SMALL, LARGE = Size(2, 1, 60), Size(200, 50, 20)
ENDLESS = Size(2, 1, 100_000)
LINKS = (
    # seconds one way, share lost, bits a second, size
    (0.0, 0.0, 0.0, SMALL),
    (0.02, 0.0, 0.0, SMALL),
    (0.02, 0.01, 0.0, SMALL),
    (0.02, 0.05, 0.0, SMALL),
    (0.1, 0.0, 0.0, SMALL),
    (0.1, 0.05, 0.0, SMALL),
    (0.0, 0.0, 0.0, LARGE),
    (0.02, 0.0, 10e6, LARGE),
    (0.02, 0.01, 10e6, LARGE),
)
CASE = f"""
import os, time
from pathlib import Path
from driftproof.algorithms import FedAvg
from driftproof.problems import QuadraticMinimax
from toolkit.algorithm import algorithm
from toolkit.cases import Case

@algorithm(name="clocked", source="", statement="")
class Clocked(FedAvg):
    def step(self, ctx, oracles, state):
        with (FOLDER / f"rank-{{os.environ['RANK']}}-{{os.getpid()}}").open("a") as file:
            file.write(f"{{time.time()}}\\n")
        return super().step(ctx, oracles, state)

FOLDER = Path(__file__).parent
dim, rounds = map(int, os.environ["SIZE"].split())
problem = QuadraticMinimax(clients={CLIENTS}, dim=dim, gradient_noise=0.1)
case = Case(problem, Clocked(local_steps=1), rounds)
"""


@dataclass
class Link:
    """What carries packets from one device to the other.

    Attributes:
        delay: seconds, one way.
        loss: the share of packets that are dropped, each by itself.
        rate: bits a second, each way (0: as many as come).
        up: whether it carries anything.
    """

    ends: tuple[int, int]
    delay: float = 0.0
    loss: float = 0.0
    rate: float = 0.0
    up: bool = True
    dropped: int = 0
    carried: int = 0
    _held: list[tuple[float, int, int, bytes]] = field(default_factory=list)

    def carry(self, ended: threading.Event) -> None:
        """Carry packets until told to end."""
        draws, free = random.Random(1), dict.fromkeys(self.ends, 0.0)
        other = dict(zip(self.ends, reversed(self.ends), strict=True))
        while not ended.is_set():
            left = self._held[0][0] - time.monotonic() if self._held else 0.1
            for end in select.select(self.ends, [], [], max(left, 0.0))[0]:
                packet = os.read(end, 65536)
                if not self.up or draws.random() < self.loss or len(self._held) >= QUEUE:
                    self.dropped += 1
                    continue
                self.carried += 1
                now = time.monotonic()
                free[end] = max(now, free[end]) + (8 * len(packet) / self.rate if self.rate else 0)
                due = free[end] + self.delay
                heapq.heappush(self._held, (due, self.carried, other[end], packet))
            while self._held and self._held[0][0] <= time.monotonic():
                _, _, to, packet = heapq.heappop(self._held)
                with suppress(OSError):  # a packet that the device refuses is lost
                    os.write(to, packet)


def ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True)


@contextmanager
def namespaces() -> Iterator[Link]:
    """Make two namespaces with a link between them, and leave nothing behind."""
    with ExitStack() as opened:
        ends = []
        for number, name in enumerate(NAMES):
            ip("netns", "add", name)
            opened.callback(ip, "netns", "del", name)
            ends.append(os.open("/dev/net/tun", os.O_RDWR))
            opened.callback(os.close, ends[-1])
            device = f"slow0-{number}"
            request = struct.pack("16sH", device.encode(), TUN | NO_HEADER)
            fcntl.ioctl(ends[-1], TUNSETIFF, request)
            ip("link", "set", device, "netns", name)  # this end stays with this process
            ip("-n", name, "link", "set", device, "name", DEVICE)
            ip("-n", name, "addr", "add", f"{ADDRESSES[number]}/30", "dev", DEVICE)
            ip("-n", name, "link", "set", DEVICE, "mtu", "1400", "up")
            ip("-n", name, "link", "set", "lo", "up")
        link, ended = Link((ends[0], ends[1])), threading.Event()
        carrier = threading.Thread(target=link.carry, args=[ended])
        carrier.start()
        opened.callback(carrier.join)
        opened.callback(ended.set)
        yield link


@dataclass
class Run:
    """A run of one case over both namespaces: what each end's torchrun started."""

    folder: Path
    ends: list[subprocess.Popen[bytes]]

    def clock(self, rank: int) -> list[float]:
        """Return when a member began its rounds, by the clock on the wall."""
        files = list(self.folder.glob(f"rank-{rank}-*"))
        return [float(line) for line in files[0].read_text().splitlines()] if files else []

    def process(self, rank: int) -> int:
        """Return a member's process."""
        return int(next(self.folder.glob(f"rank-{rank}-*")).name.rpartition("-")[2])

    def said(self, end: int) -> str:
        """Return what was written at one end."""
        return (self.folder / f"log-{end}").read_text()


@contextmanager
def running(size: Size, patience: float = 60.0) -> Iterator[Run]:
    """Start torchrun in both namespaces, with as many members in each."""
    env = os.environ | {
        "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", "SIZE": f"{size.dim} {size.rounds}",
        "GLOO_SOCKET_IFNAME": DEVICE,
    }  # fmt: skip
    with ExitStack() as opened:
        run = Run(Path(opened.enter_context(tempfile.TemporaryDirectory())), [])
        (run.folder / "case.py").write_text(CASE)
        for number, name in enumerate(NAMES):
            words = [
                "ip", "netns", "exec", name, sys.executable, "-m", "torch.distributed.run",
                "--nnodes", "2", "--nproc-per-node", str(CLIENTS // 2), "--node-rank", str(number),
                "--master-addr", ADDRESSES[0], "--master-port", "29500", "-m", "toolkit.wire",
                str(run.folder / "case.py"), "--replicates", str(size.replicates),
                "--patience", str(patience), "--out", str(run.folder / "out.json"),
            ]  # fmt: skip
            log = opened.enter_context((run.folder / f"log-{number}").open("w"))
            run.ends.append(subprocess.Popen(words, cwd=ROOT, env=env, stdout=log, stderr=log))
            opened.callback(end_all, name, run.ends[-1])
        yield run


def end_all(name: str, torchrun: subprocess.Popen[bytes]) -> None:
    """End torchrun and its members: all that runs in a namespace."""
    listed = subprocess.run(["ip", "netns", "pids", name], capture_output=True, check=True)
    for process in map(int, listed.stdout.split()):
        with suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)
    torchrun.wait()


def slowness(link: Link) -> None:
    """Print how long a round of communication takes on links of several kinds."""
    expected: dict[Size, object] = {}
    for delay, loss, rate, size in LINKS:
        link.delay, link.loss, link.rate, link.dropped, link.carried = delay, loss, rate, 0, 0
        with running(size) as run:
            if any(end.wait() for end in run.ends):
                sys.exit(run.said(0) + run.said(1))
            began = run.clock(0)[2:]  # a connection is made with the first message on it
            times = [later - earlier for earlier, later in itertools.pairwise(began)]
            iterates = json.loads((run.folder / "out.json").read_text())["iterates"]
        share = link.dropped / (link.dropped + link.carried)
        print(
            f"{1e3 * delay:.0f} ms one way, {loss:.0%} lost ({share:.1%} were), "
            f"{rate / 1e6:g} Mbit/s, messages of {size.bytes:,} bytes: a round "
            f"{statistics.median(times):.3f} s (up to {max(times):.3f}), "
            f"same bits: {iterates == expected.setdefault(size, iterates)}",
            flush=True,
        )


def disappearance(link: Link, what: str, patience: float) -> None:
    """Print when and how it is told that a member is killed, or that the link carries nothing."""
    link.delay, link.loss, link.rate, link.up = 0.02, 0.0, 0.0, True
    with running(ENDLESS, patience) as run:
        while len(run.clock(0)) < 10:
            time.sleep(0.02)
        began = time.monotonic()
        if what == "a member is killed":
            os.kill(run.process(CLIENTS - 1), signal.SIGKILL)
        else:
            link.up = False
        said: dict[int, float] = {}
        ended: dict[int, float] = {}
        while len(ended) < 2 and time.monotonic() < began + 20 * patience + 60:
            now = time.monotonic() - began
            for number, end in enumerate(run.ends):
                if "driftproof: " in run.said(number):
                    said.setdefault(number, now)
                if end.poll() is not None:
                    ended.setdefault(number, now)
            time.sleep(0.02)
        print(f"{what}, patience {patience:g} s:")
        for number, name in enumerate(NAMES):
            lines = [
                line for line in run.said(number).splitlines() if line.startswith("driftproof")
            ]
            print(f"  {name}: told {said.get(number)}, ended {ended.get(number)}: {lines}")


if __name__ == "__main__":
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--patience", type=float, default=5.0)
    patience = options.parse_args().patience
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} before")
    with namespaces() as link:
        for what in ("a member is killed", "the link carries nothing more"):
            disappearance(link, what, patience)
        link.up = True
        slowness(link)
