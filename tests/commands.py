"""Running the command line, as a user does."""

from __future__ import annotations

import atexit
import json
import os
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

DRIFTPROOF = [sys.executable, "-m", "driftproof"]
ROOT = Path(__file__).parents[1]
PATIENCE = 600.0
"""Seconds that a command may take."""


def driftproof(
    *words: str,
    cwd: Path | None = None,
    env: dict[str, str] | None = None,
    late: Late | None = None,
) -> subprocess.CompletedProcess[str]:
    """Run the command in a process of its own that need not import torch again."""
    env = env or os.environ | {"COLUMNS": "200"}  # so that tables do not wrap
    if sys.platform != "linux":
        return started(*words, cwd=cwd, env=env)  # where nothing is ever late
    return _warm().run(words, cwd or Path.cwd(), env, late)


def started(*words: str, cwd: Path | None = None, **more: Any) -> subprocess.CompletedProcess[str]:
    """Run the command in a new process: needed where sets may have another order in each."""
    more.setdefault("env", os.environ | {"COLUMNS": "200"})
    return subprocess.run(
        [*DRIFTPROOF, *words], capture_output=True, text=True, cwd=cwd, timeout=PATIENCE, **more
    )


@dataclass(frozen=True)
class Late:
    """What is done to a command that takes longer than some seconds.

    Attributes:
        act: called with the number of its process, which leads a group of its own.
    """

    seconds: float
    act: Callable[[int], object]


class Warm:
    """The process of ``tests/warm.py``; it ends when this one does."""

    def __init__(self) -> None:
        self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._socket.settimeout(PATIENCE)
        words = [sys.executable, "-m", "tests.warm", str(theirs.fileno())]
        self._process = subprocess.Popen(words, cwd=ROOT, pass_fds=[theirs.fileno()])
        theirs.close()
        atexit.register(self.end)

    def end(self) -> None:
        """Let the process end: it reads no further request."""
        self._socket.close()
        self._process.wait()

    def run(
        self,
        words: tuple[str, ...],
        folder: Path,
        environment: dict[str, str],
        late: Late | None = None,
    ) -> subprocess.CompletedProcess[str]:
        """Run a command and return its status and what it wrote, as ``subprocess.run`` does.

        Args:
            late: what is done to the command if it takes longer than so many seconds.

        Raises:
            TimeoutError: it took longer than its patience; it was killed.
        """
        pipes = [os.pipe(), os.pipe()]
        request = json.dumps([words, str(folder), environment]).encode()
        socket.send_fds(self._socket, [request], [write for _, write in pipes])
        for _, write in pipes:
            os.close(write)
        with ThreadPoolExecutor(2) as readers:
            outputs = [readers.submit(_text, read) for read, _ in pipes]
            child = json.loads(self._socket.recv(64))
            if late is not None and not select.select([self._socket], [], [], late.seconds)[0]:
                late.act(child)
            try:
                status = json.loads(self._socket.recv(64))
            except TimeoutError:
                os.killpg(child, signal.SIGKILL)
                _warm.cache_clear()  # its answer would be taken for the next command's
                raise
            return subprocess.CompletedProcess(words, status, *(o.result() for o in outputs))


@cache
def _warm() -> Warm:
    return Warm()


def _text(pipe: int) -> str:
    with open(pipe, encoding="utf-8") as stream:
        return stream.read()


def results(folder: Path) -> dict[str, Any]:
    """Return results.json without what is outside any promise of reproducibility."""
    made = json.loads((folder / "results.json").read_text())
    made.pop("environment")
    for row in made["results"]:
        row.pop("seconds")
    return made
