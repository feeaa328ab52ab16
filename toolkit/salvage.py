"""What is whole in a ledger that is damaged, read past SQLite, which gives up at the first fault.

The pages of the file, and of the log that a kill may leave beside it, are read one by one, as
https://www.sqlite.org/fileformat2.html describes them. Whatever looks like a unit or a run is
taken if its digest is right; so a page that is read wrongly can add nothing.
"""

from __future__ import annotations

import json
import os
import struct
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from toolkit.errors import DriftproofError
from toolkit.ledger import Finished, Ledger, run_digest, unit_digest
from toolkit.write_ahead_log import frames

USUAL_SIZE = 4096
"""Bytes of a page, where the file's head does not say it."""
NO_LEAVES = (0, 2, 5, 10)
"""What the first byte of a page is that has no rows: another page of the tree, or of a long row."""
Pages = Mapping[int, bytes]
Row = tuple[int, list[Any]]
"""The number of a row and its values."""


@dataclass(frozen=True)
class Salvaged:
    """What is whole.

    Attributes:
        units: one for each key: the newest.
        head, rows: of the newest finished run that is whole (None: there is none).
        damaged: how many units were found that are not as they were written.
        unknown: how many were found of an older driftproof, which kept no digests.
    """

    units: list[Finished]
    head: dict[str, Any] | None
    rows: list[dict[str, Any]]
    damaged: int
    unknown: int


def salvage(path: Path, new: Path) -> Salvaged:
    """Write what is whole in a ledger to a new one; the damaged one stays as it is.

    Raises:
        DriftproofError: there is no ledger, nothing in it is whole, or ``new`` exists.
    """
    if not path.is_file():
        raise DriftproofError(f"no ledger at {path}", "a folder with a ledger", "check the path")
    if new.exists():
        raise DriftproofError(
            f"{new.parent} has a ledger already", "a folder without one", "name another --out"
        )
    found = whole(path)
    if not found.units and found.head is None:
        raise DriftproofError(
            f"{path} has nothing that is whole",
            "at least one unit or one finished run",
            "compute it again: the command that wrote it, with another --out",
        )
    new.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".salvaging-", dir=new.parent) as apart:
        with Ledger(Path(apart) / new.name) as made:
            for unit in found.units:
                made.keep(unit.key, unit.blob, unit.seconds, unit.name)
            if found.head is not None:
                made.finish(made.begin(found.head), found.rows, found.head)
        os.replace(Path(apart) / new.name, new)
    return found


def whole(path: Path) -> Salvaged:
    """Return what is whole in a ledger."""
    units: dict[str, tuple[int, Finished]] = {}
    names: dict[str, str] = {}
    runs: dict[int, list[tuple[str, bytes]]] = {}
    rows: dict[int, dict[int, str]] = {}
    damaged, unknown = set[str](), set[str]()
    for number, values in _rows(path):
        match values:
            case [str(key), float() | int() as seconds, bytes(blob), bytes(digest)]:
                if digest != unit_digest(key, blob, seconds):
                    damaged.add(key)
                elif key not in units or number > units[key][0]:
                    units[key] = number, Finished(key, blob, float(seconds), "")
            case [str(key), float() | int(), bytes()] | [str(key), float() | int(), bytes(), None]:
                unknown.add(key)
            case [None, str(head), int(), bytes(digest)]:
                runs.setdefault(number, []).append((head, digest))
            case [int(run), int(position), str(row)]:
                rows.setdefault(run, {})[position] = row
            case [str(key), str(name)]:
                names[key] = name
    finished = [
        Finished(key, unit.blob, unit.seconds, names.get(key, ""))
        for key, (_, unit) in sorted(units.items(), key=lambda item: item[1][0])
    ]
    lost = len(damaged - set(units)), len(unknown - set(units))
    for run in sorted(runs, reverse=True):
        texts = [text for _, text in sorted(rows.get(run, {}).items())]
        for head, digest in runs[run]:
            if digest == run_digest(head, texts):
                told = [json.loads(text) for text in texts]
                return Salvaged(finished, json.loads(head), told, *lost)
    return Salvaged(finished, None, [], *lost)


def _rows(path: Path) -> Iterator[Row]:
    """Yield whatever can be read as a row, of the file and of its log; some of it may be wrong."""
    content = path.read_bytes()
    log = path.with_name(f"{path.name}-wal")
    logged = log.read_bytes() if log.exists() else b""
    said = int.from_bytes(content[16:18], "big")
    for size in {USUAL_SIZE, said if said in (512, 1024, 2048, 8192, 16384, 32768) else USUAL_SIZE}:
        pages = {1 + at // size: content[at : at + size] for at in range(0, len(content), size)}
        later = [(frame.page, frame.content) for frame in frames(logged, size)]
        newest = pages | dict(later)
        for number, page in [*pages.items(), *later]:
            for overflow in (pages, newest) if later else (pages,):
                yield from _rows_of(page, 100 if number == 1 else 0, size, overflow)


def _rows_of(page: bytes, begins: int, size: int, pages: Pages) -> Iterator[Row]:
    """Yield the rows of a page, if it is one that has rows.

    Neither its own count of them nor where it says that they begin is relied on.
    """
    if len(page) < size:
        page = page.ljust(size, b"\0")  # of a file that was cut
    if page[begins] in NO_LEAVES:
        return
    at, first = begins + 8, size
    while at + 1 < first:
        pointer = int.from_bytes(page[at : at + 2], "big")
        at += 2
        if at <= pointer < size:
            first = min(first, pointer)
            with suppress(IndexError, KeyError, ValueError, struct.error):
                yield _row(page, pointer, size, pages)


def _row(page: bytes, at: int, size: int, pages: Pages) -> Row:
    """Read a row, with the pages that it goes on in if it is long."""
    length, at = _varint(page, at)
    number, at = _varint(page, at)
    here = _kept_here(length, size)
    content = page[at : at + here]
    following = int.from_bytes(page[at + here : at + here + 4], "big") if here < length else 0
    while len(content) < length:
        more = pages[following]
        following = int.from_bytes(more[:4], "big")
        content += more[4 : 4 + min(size - 4, length - len(content))]
        if not following and len(content) < length:
            raise ValueError("it ends too early")
    return number, list(_values(content))


def _kept_here(length: int, size: int) -> int:
    """Return how many bytes of a row are on its first page."""
    if length <= size - 35:
        return length
    least = (size - 12) * 32 // 255 - 23
    some = least + (length - least) % (size - 4)
    return some if some <= size - 35 else least


def _values(content: bytes) -> Iterator[Any]:
    """Yield a row's values: their kinds and lengths come first."""
    ends, at = _varint(content, 0)
    value = ends
    while at < ends:
        kind, at = _varint(content, at)
        length = (0, 1, 2, 3, 4, 6, 8, 8, 0, 0)[kind] if kind < 10 else (kind - 12) // 2
        part = content[value : value + length]
        if len(part) < length or kind in (10, 11):
            raise ValueError("a value that is cut")
        value += length
        if kind == 0:
            yield None
        elif kind == 7:
            yield struct.unpack(">d", part)[0]
        elif kind < 10:
            yield int.from_bytes(part, "big", signed=True) if kind < 7 else kind - 8
        else:
            yield part.decode() if kind % 2 else part


def _varint(content: bytes, at: int) -> tuple[int, int]:
    """Return a number of 1 to 9 bytes, and where it ends."""
    value = 0
    for place in range(9):
        byte = content[at + place]
        if place == 8:
            return value << 8 | byte, at + 9
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            break
    return value, at + place + 1
