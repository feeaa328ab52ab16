"""Kills commands at random moments, resumes them, and looks whether they end as if undisturbed.

A command is killed by SIGKILL again and again, each time after a random share of what it takes
undisturbed, and resumed, until it ends by itself. After each kill its ledger is looked at, as a
copy: it must be whole, and have every unit that it had before. At the end, everything that the
command writes must be the same as without any kill, but for seconds, memory and environment.

Commands are forked from a process that has imported everything (``tests/warm.py``), so that they
are killed at work and not while they import.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import sqlite3
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from tests.commands import Late, driftproof

OUTSIDE = ("seconds", "memory", "environment")
"""What no promise of the same bits covers, by its name in the results."""
LONGER = 1.1
"""By how much the time in which kills come grows with each of them, until the command ends."""
GONE = 5.0
"""Seconds in which every process of a killed command has to end."""


@dataclass(frozen=True)
class Task:
    """A command that is killed.

    Attributes:
        words: without --workers, --out and --resume.
        told: the file that it writes at its end.
    """

    words: tuple[str, ...]
    told: str


TASKS = {
    "verify": Task(
        ("verify", "comfedl/algorithm-1", "comfedl/equation-8", "comfedl/equation-10",
         "comfedl/client-drift-class", "comfedl/lemma-2", "--profile", "smoke"),
        "results.json",
    ),
    "run": Task(("run", "worked-example/local-steps", "--profile", "smoke"), "experiment.json"),
    "falsify": Task(
        ("falsify", "comfedl/lemma-2", "--climbs", "2", "--no-controls"), "search.json"
    ),
}  # fmt: skip
MODES = ("group", "command", "worker")
"""What is killed: all processes at once, the first one alone, or one of its workers."""


@dataclass(frozen=True)
class Left:
    """What a command left in its folder, without what is outside every promise.

    Attributes:
        told: its results, as JSON.
        units: of the ledger, by name and key.
        rows: of the ledger's last finished run.
    """

    told: str
    units: Mapping[tuple[str, str], str]
    rows: Sequence[str]


@dataclass
class Seen:
    """What became of the kills of one command in one mode.

    Attributes:
        kills: that met a running command.
        faults: in words; empty if all is well.
    """

    kills: int = 0
    faults: list[str] = field(default_factory=list)


def timeless(value: Any) -> Any:
    """Return JSON data without what no promise of the same bits covers."""
    if isinstance(value, dict):
        return {name: timeless(part) for name, part in value.items() if name not in OUTSIDE}
    return [timeless(part) for part in value] if isinstance(value, list) else value


def bits(blob: bytes) -> str:
    """Return a unit's result as text that keeps every bit of its numbers."""
    try:
        return json.dumps(timeless(json.loads(blob)))
    except ValueError:
        return blob.hex()


def left_in(folder: Path, task: Task) -> Left:
    """Return what a command that ended left."""
    told = json.loads((folder / task.told).read_text(encoding="utf-8"))
    with copied(folder / "ledger.sqlite") as ledger:
        query = "SELECT row FROM rows WHERE run = (SELECT max(id) FROM runs WHERE done = 1)"
        rows = [json.loads(row) for (row,) in ledger.execute(f"{query} ORDER BY position")]
        return Left(
            json.dumps(timeless(told)), units_of(ledger), [json.dumps(timeless(r)) for r in rows]
        )


def units_of(ledger: sqlite3.Connection) -> dict[tuple[str, str], str]:
    """Return the bits of every unit."""
    query = "SELECT name, key, blob FROM units JOIN names USING (key)"
    return {(name, key): bits(blob) for name, key, blob in ledger.execute(query)}


class copied(closing[sqlite3.Connection]):  # noqa: N801 - used as a function
    """Opens a copy of a ledger: SQLite mends a file that it opens after a kill."""

    def __init__(self, path: Path) -> None:
        self._apart = tempfile.TemporaryDirectory()
        for file in (path, path.with_name(f"{path.name}-wal")):
            with suppress(FileNotFoundError):
                shutil.copy(file, self._apart.name)
        super().__init__(sqlite3.connect(Path(self._apart.name) / path.name))

    def __exit__(self, *error: Any) -> None:
        super().__exit__(*error)
        self._apart.cleanup()


def looked_at(path: Path, before: Mapping[tuple[str, str], str]) -> dict[tuple[str, str], str]:
    """Return the units of a ledger after a kill.

    Args:
        before: what it had after the kill before.

    Raises:
        AssertionError: it is damaged, or lost a unit.
    """
    if not path.exists():
        assert not before, "the ledger is gone"
        return {}
    with copied(path) as ledger:
        whole = [line for (line,) in ledger.execute("PRAGMA integrity_check")]
        assert whole == ["ok"], f"integrity_check: {whole}"
        tables = {name for (name,) in ledger.execute("SELECT name FROM sqlite_master")}
        units = units_of(ledger) if {"units", "names"} <= tables else {}
    assert before.items() <= units.items(), "a unit was lost, or has other bits"
    return units


def struck(process: int, mode: str, chance: random.Random) -> bool:
    """Kill a command and return whether there was something to kill."""
    if mode == "group":
        try:
            os.killpg(process, signal.SIGKILL)
        except ProcessLookupError:  # so young that it leads no group yet
            os.kill(process, signal.SIGKILL)
    elif mode == "command":
        os.kill(process, signal.SIGKILL)
    else:
        try:
            workers = Path(f"/proc/{process}/task/{process}/children").read_text().split()
        except OSError:  # it has just ended
            return False
        if not workers:
            return False
        with suppress(ProcessLookupError):  # it has just ended
            os.kill(int(chance.choice(workers)), signal.SIGKILL)
    return True


def still_there(group: int) -> list[int]:
    """Return the processes of a group that run."""
    found = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            state, _, of, *_ = status.read_text().rpartition(") ")[2].split()
            if int(of) == group and state not in "ZX":
                found.append(int(status.parent.name))
    return found


@cache
def undisturbed(task: Task) -> tuple[float, Left, int]:
    """Return how long a command takes, what it leaves, and its status."""
    for _ in range(2):  # the first time kernels may have to be compiled
        with tempfile.TemporaryDirectory() as out:
            began = time.monotonic()
            made = driftproof(*task.words, "--workers", "1", "--out", out)
            took = time.monotonic() - began
            assert made.returncode in (0, 1), made.stderr
            left = left_in(Path(out), task)
    return took, left, made.returncode


class Killer:
    """Kills one command in one mode until a number of kills has met it."""

    def __init__(self, task: Task, mode: str, seed: str) -> None:
        self.task, self.mode = task, mode
        self.chance = random.Random(seed)
        self.seen = Seen()
        self.takes, self.undisturbed, self.status = undisturbed(task)

    @property
    def words(self) -> tuple[str, ...]:
        """The command, with workers where one of them is to be killed."""
        return (*self.task.words, "--workers", "2" if self.mode == "worker" else "1")

    def until(self, kills: int) -> Seen:
        """Kill, resume and compare until so many kills have met a command."""
        while self.seen.kills < kills:
            with tempfile.TemporaryDirectory() as out:
                for fault in self._to_its_end(Path(out)):
                    self.seen.faults.append(fault)
        return self.seen

    def _to_its_end(self, out: Path) -> Iterator[str]:
        """Start a command in a new folder, kill and resume it until it ends; yield faults."""
        units: dict[tuple[str, str], str] = {}
        resume: tuple[str, ...] = ()
        for kills in range(1000):
            met: list[int] = []

            def act(process: int, met: list[int] = met) -> None:
                with suppress(ProcessLookupError):
                    if struck(process, self.mode, self.chance):
                        met.append(process)

            # a machine that became busier would never let it end
            moment = self.chance.uniform(0, self.takes * LONGER**kills)
            began = time.monotonic()
            made = driftproof(*self.words, "--out", str(out), *resume, late=Late(moment, act))
            status, told = made.returncode, made.stderr
            if status == self.status:
                if not resume:
                    self.takes = time.monotonic() - began  # a busy machine changes its pace
                break
            if not met or "Traceback" in told or (self.mode == "worker") != (status == 2):
                yield f"status {status}: {told[-500:]}"
                return
            self.seen.kills += 1
            ends = time.monotonic() + GONE
            while still_there(met[0]) and time.monotonic() < ends:
                time.sleep(0.005)
            if still_there(met[0]):
                yield "a process outlived the kill"
            try:
                units = looked_at(out / "ledger.sqlite", units)
            except (AssertionError, sqlite3.DatabaseError) as error:
                yield f"after {self.seen.kills} kills: {error}"
                return
            resume = ("--resume",)
        left = left_in(out, self.task)
        for name in Left.__dataclass_fields__:
            if getattr(left, name) != getattr(self.undisturbed, name):
                yield f"other {name} than undisturbed"
