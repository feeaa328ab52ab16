"""What is whole in a ledger that is damaged, read past SQLite, which gives up at the first fault.

The pages of the file, and of the log that a kill may leave beside it, are read one by one, as
https://www.sqlite.org/fileformat2.html describes them. Whatever looks like a unit or a run is
taken if its digest is right; so a page that is read wrongly can add nothing.
"""

from __future__ import annotations

import json
import os
import re
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
UNIT = re.compile(rb"\x4d[\x00-\x09][\x80-\xff]{0,4}[\x00-\x7f]\x2c[0-9a-f]{32}")
"""How a unit looks behind the length of its head: the kinds of its four parts, and its key."""
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
    for unit in UNIT.finditer(page):  # where nothing points to it any more
        with suppress(IndexError, KeyError, ValueError, struct.error):
            yield -1, list(_values(_record(page, unit.start() - 1, size, pages)))
    at, first = begins + 8, size if page[begins] not in NO_LEAVES else 0
    while at + 1 < first:
        pointer = int.from_bytes(page[at : at + 2], "big")
        at += 2
        if at <= pointer < size:
            first = min(first, pointer)
            with suppress(IndexError, KeyError, ValueError, struct.error):
                yield _row(page, pointer, size, pages)


def _row(page: bytes, at: int, size: int, pages: Pages) -> Row:
    """Read a row and its number."""
    length, at = _varint(page, at)
    number, at = _varint(page, at)
    return number, list(_values(_content(page, at, length, size, pages)))


def _record(page: bytes, at: int, size: int, pages: Pages) -> bytes:
    """Return the content of a row that begins here, by its own head, which tells its length."""
    ends, begins = _varint(page, at)
    length = ends + sum(_length(kind) for kind in _kinds(page[at : at + ends], begins - at))
    return _content(page, at, length, size, pages)


def _content(page: bytes, at: int, length: int, size: int, pages: Pages) -> bytes:
    """Return the content of a row, with that of the pages that it goes on in if it is long."""
    here = _kept_here(length, size)
    content = page[at : at + here]
    following = int.from_bytes(page[at + here : at + here + 4], "big") if here < length else 0
    while len(content) < length:
        more = pages[following]
        following = int.from_bytes(more[:4], "big")
        content += more[4 : 4 + min(size - 4, length - len(content))]
        if not following and len(content) < length:
            raise ValueError("it ends too early")
    return content


def _kept_here(length: int, size: int) -> int:
    """Return how many bytes of a row are on its first page."""
    if length <= size - 35:
        return length
    least = (size - 12) * 32 // 255 - 23
    some = least + (length - least) % (size - 4)
    return some if some <= size - 35 else least


def _kinds(head: bytes, at: int) -> Iterator[int]:
    """Yield what kind of value each of a row's values is."""
    while at < len(head):
        kind, at = _varint(head, at)
        yield kind


def _length(kind: int) -> int:
    """Return how many bytes a value of this kind has."""
    return (0, 1, 2, 3, 4, 6, 8, 8, 0, 0)[kind] if kind < 10 else (kind - 12) // 2


def _values(content: bytes) -> Iterator[Any]:
    """Yield a row's values: their kinds come first."""
    value, at = _varint(content, 0)
    for kind in _kinds(content[:value], at):
        part = content[value : value + _length(kind)]
        if len(part) < _length(kind) or kind in (10, 11):
            raise ValueError("a value that is cut")
        value += len(part)
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
