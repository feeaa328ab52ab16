"""Cuts ledgers short and flips bits in them, and looks what is told, used, lost and saved.

``python -m tests.benchmarks.damage --times 200`` prints the figures of docs/reliability.md: of the
ledgers that three commands leave, each cut at so many random offsets, with so many random bits
flipped one at a time, and the same of the log that a kill leaves beside a ledger.

What has to be saved is found without reading pages: a unit is still readable if its bytes, from the
lengths of its parts to its digest, stand in what is left as they were written.
"""

from __future__ import annotations

import argparse
import random
import re
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from tests.commands import driftproof
from tests.kills import TASKS
from toolkit.errors import DriftproofError
from toolkit.ledger import Finished, Ledger, unit_digest
from toolkit.salvage import salvage

FILE, LOG = "ledger.sqlite", "ledger.sqlite-wal"


@dataclass
class Came:
    """What became of a ledger that was damaged many times in one way.

    Attributes:
        counts: "told": times that it was refused with a message, or "used".
        units, readable, saved: in sum, that it had, that stood there still, and that were saved.
        faults: in words; empty if all is well.
    """

    counts: Counter[str] = field(default_factory=Counter)
    units: int = 0
    readable: int = 0
    saved: int = 0
    faults: list[str] = field(default_factory=list)


def contents(folder: Path) -> dict[str, bytes]:
    """Return the ledger and its log."""
    return {name: (folder / name).read_bytes() for name in (FILE, LOG) if (folder / name).exists()}


def units_in(folder: Path) -> dict[str, Finished]:
    """Return every unit of a ledger, by its key, without its name, which has no digest."""
    with Ledger.untouched(folder / FILE) as ledger:
        return {unit.key: replace(unit, name="") for unit in ledger.units()}


def cut(content: bytes, chance: random.Random) -> bytes:
    """Return what is left of a file that was cut anywhere."""
    return content[: chance.randrange(len(content))]


def flipped(content: bytes, chance: random.Random) -> bytes:
    """Return a file with one bit changed."""
    changed = bytearray(content)
    changed[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
    return bytes(changed)


HEAD = 7
"""Bytes before a unit's key that say how long its parts are."""


def records(units: Sequence[Finished], content: bytes) -> dict[str, bytes]:
    """Return the bytes of each unit that a file has in one piece, by its key.

    A long result goes on in pages elsewhere; it is left out here.
    """
    found = {}
    for unit in units:
        ends = unit.blob + unit_digest(unit.key, unit.blob, unit.seconds)
        key = re.escape(unit.key.encode())
        match = re.search(key + b".{0,8}" + re.escape(ends), content, re.DOTALL)
        if match is not None:
            found[unit.key] = content[match.start() - HEAD : match.end()]
    return found


def damage(folder: Path, name: str, way: str, times: int, seed: int) -> Came:
    """Damage one file of a ledger so many times, each time as it was, and look what comes."""
    came, chance = Came(), random.Random(f"{seed} {name} {way}")
    whole, files = units_in(folder), contents(folder)
    needles: dict[str, bytes] = {}
    for content in files.values():
        needles |= records(list(whole.values()), content)
    for _ in range(times):
        with tempfile.TemporaryDirectory() as apart:
            there = Path(apart) / "damaged"
            there.mkdir()
            changed = (cut if way == "cut" else flipped)(files[name], chance)
            left = files | {name: changed}
            for file, content in left.items():
                (there / file).write_bytes(content)
            still = {
                key for key, needle in needles.items()
                if any(needle in content for content in left.values())
            }  # fmt: skip
            came.faults += _looked_at(there, whole, left, still, came)
    return came


def _looked_at(
    there: Path, whole: dict[str, Finished], left: dict[str, bytes], still: set[str], came: Came
) -> Iterator[str]:
    """Save what can be saved, and use the rest as a command does; yield faults.

    Args:
        left: the damaged files.
        still: the keys of the units that stand in them as they were.
    """
    saved: dict[str, Finished] = {}
    try:
        with suppress(DriftproofError):  # nothing that is whole
            salvage(there / FILE, there.parent / "new" / FILE)
            saved = units_in(there.parent / "new")
    except Exception as error:  # noqa: BLE001 - whatever it is, it is a fault
        yield f"salvage: {error!r}"
    came.units, came.readable, came.saved = (
        came.units + len(whole), came.readable + len(still), came.saved + len(saved)
    )  # fmt: skip
    if not saved.items() <= whole.items():
        yield "saved what was never written"
    if not still <= saved.keys():
        yield f"lost {len(still - saved.keys())} units that were readable"
    if contents(there) != left:
        yield "salvage changed the damaged ledger"
    used: dict[str, Finished] = {}
    try:
        with Ledger(there / FILE) as ledger:  # as a command with --resume does
            for key in whole:
                if (found := ledger.unit(key)) is not None:
                    used[key] = Finished(key, *found, "")
            with suppress(DriftproofError):
                ledger.latest()
        came.counts["used"] += 1
    except DriftproofError as error:
        came.counts["told"] += 1
        if "damaged" not in error.got and "newer" not in error.got:
            yield f"an unclear message: {error}"
    except Exception as error:  # noqa: BLE001
        yield repr(error)
    if not used.items() <= whole.items():
        yield "used what was never written"


def made(folder: Path, name: str) -> Path:
    """Run a command, and return the folder with its ledger."""
    ran = driftproof(*TASKS[name].words, "--workers", "1", "--out", str(folder / name))
    assert ran.returncode in (0, 1), ran.stderr
    return folder / name


def logged(folder: Path, there: Path) -> Path:
    """Write a ledger's units to a new one as a command does that is killed before it ends."""
    there.mkdir()
    with Ledger(there.with_name("apart") / FILE) as ledger:
        for unit in units_in(folder).values():
            ledger.keep(unit.key, unit.blob, unit.seconds, unit.name)
        for name in (FILE, LOG):
            shutil.copy(ledger.path.with_name(name), there)
    shutil.rmtree(there.with_name("apart"))
    return there


def main() -> int:
    """Damage ledgers, and print a table."""
    parser = argparse.ArgumentParser(description="Damage ledgers at random places.")
    parser.add_argument("--times", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    head = ("ledger of", "file", "damage", "times", "told", "used", "units", "readable", "saved",
            "faults")  # fmt: skip
    print("| " + " | ".join(head) + " |\n" + "|---" * len(head) + "|", flush=True)
    faults: list[str] = []
    with tempfile.TemporaryDirectory() as apart:
        for name in TASKS:
            folder = made(Path(apart), name)
            killed = logged(folder, Path(apart) / f"{name}-killed")
            for where, file in ((folder, FILE), (killed, LOG)):
                for way in ("cut", "bit flipped"):
                    came = damage(where, file, way, asked.times, asked.seed)
                    faults += came.faults
                    row = (name, "ledger" if file == FILE else "its log", way, asked.times,
                           came.counts["told"], came.counts["used"], came.units, came.readable,
                           came.saved, len(came.faults))  # fmt: skip
                    print("| " + " | ".join(map(str, row)) + " |", flush=True)
    print(*Counter(faults).items(), sep="\n")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
