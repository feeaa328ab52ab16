"""Merges ledgers of separate runs into one, from which ``--resume`` goes on.

A unit that several ledgers have must be the same in each, bit for bit. What is outside that promise
is left out of the comparison: the seconds that it took, and how far an experiment's run had come
when it was kept on its way (the one that is furthest stays).
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from toolkit.errors import DriftproofError
from toolkit.ledger import Finished, Ledger
from verifiers.experiment.codec import CHECKPOINT, checkpoint

FILE = "ledger.sqlite"


@dataclass(frozen=True)
class Merged:
    """What a merge came to.

    Attributes:
        units: how many the new ledger has.
        of: how many each of the ledgers had.
    """

    units: int
    of: Sequence[int]

    @property
    def shared(self) -> int:
        """How many times a ledger had what one before it had."""
        return sum(self.of) - self.units


def merge(folders: Sequence[Path], out: Path) -> Merged:
    """Write the units of every folder's ledger to a new one; the folders stay as they are.

    Raises:
        DriftproofError: a ledger is missing or damaged or being written, two of them differ in the
            bits of a unit, or there is a ledger in ``out`` already. Then nothing is written.
    """
    if (out / FILE).exists():
        raise DriftproofError(
            f"{out} has a ledger already", "a folder without one", "name another --out"
        )
    made_folder = not out.exists()
    try:
        out.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".merging-", dir=out) as apart:
            merged = _merged(folders, Path(apart) / FILE)
            os.replace(Path(apart) / FILE, out / FILE)
    except BaseException:
        if made_folder:
            with suppress(OSError):  # something else is in it by now
                out.rmdir()
        raise
    return merged


def _merged(folders: Sequence[Path], path: Path) -> Merged:
    origin: dict[str, Path] = {}
    counts = []
    with Ledger(path) as made:
        for folder in folders:
            file, count = folder / FILE, 0
            with Ledger.untouched(file) as ledger:
                for unit in ledger.units():
                    count += 1
                    kept = made.unit(unit.key)
                    if kept is not None:
                        first = Finished(unit.key, *kept, unit.name)
                        unit = _agreed(first, origin[unit.key], unit, file)
                        if unit is first:
                            continue
                    made.keep(unit.key, unit.blob, unit.seconds, unit.name)
                    origin[unit.key] = file
            counts.append(count)
    return Merged(len(origin), counts)


def _agreed(first: Finished, here: Path, second: Finished, there: Path) -> Finished:
    """Return which of two results of one unit stays.

    Raises:
        DriftproofError: they differ, or one is damaged.
    """
    done = [_done(unit, file) for unit, file in ((first, here), (second, there))]
    if min(done) < 1.0:
        return second if done[1] > done[0] else first
    if first.blob == second.blob or _told(first.blob) == _told(second.blob) is not None:
        return first
    raise DriftproofError(
        f"the unit {in_words(second)} has other bits in {there} than in {here}",
        "the same result, wherever a unit is computed",
        "find out which is right: compute it again, with driftproof verify and a new --out, and "
        "compare; then merge without the ledger that is wrong",
    )


def _done(unit: Finished, file: Path) -> float:
    """Return the share of a unit that is done: less than 1 if it was kept on its way."""
    if not unit.blob.startswith(CHECKPOINT):
        return 1.0
    try:
        kept = checkpoint(unit.blob, in_words(unit))
    except DriftproofError as error:
        raise DriftproofError(
            f"{file}: {error.got}", error.wanted, "merge without this ledger"
        ) from error
    return 1.0 if kept is None else float(kept.told["done"])


def _told(blob: bytes) -> Any:
    """Return what JSON tells but for the seconds, as text that keeps every bit (None: no JSON)."""
    try:
        return json.dumps(_timeless(json.loads(blob)))
    except (ValueError, RecursionError):
        return None


def _timeless(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _timeless(part) for name, part in value.items() if name != "seconds"}
    return [_timeless(part) for part in value] if isinstance(value, list) else value


def in_words(unit: Finished) -> str:
    """Return a unit's name as a message can have it.

    >>> in_words(Finished("4f1e", b"", 1.0, "comfedl/lemma-2" + chr(0) + "exact"))
    'comfedl/lemma-2 exact (4f1e)'
    """
    words = " ".join(part for part in unit.name.split("\0") if part)
    return f"{words} ({unit.key})" if words else unit.key
