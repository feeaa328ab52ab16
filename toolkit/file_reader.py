"""Reads a file forward, plain or gzipped, and never more of it than is asked for."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from driftproof.toolkit.errors import DriftproofError

GZIP = b"\x1f\x8b"
CHUNK = 2**20
"""Bytes asked for at a time, so that memory grows with what a file has, not with what it says."""


class FileReader:
    """What is left of an open file; gzip is recognised by its content, not by its name.

    Attributes:
        path: the file.
        offset: bytes taken so far, after decompression.
    """

    def __init__(self, path: Path, file: IO[bytes] | gzip.GzipFile) -> None:
        self.path, self.offset, self._file = path, 0, file

    def take(self, count: int) -> bytearray:
        """Return the next ``count`` bytes.

        Raises:
            DriftproofError: the file ends before, or its gzip stream is broken; with the offset.
        """
        taken = bytearray()
        while len(taken) < count:
            part = self._read(min(CHUNK, count - len(taken)))
            if not part:
                end = self.offset + count - len(taken)
                raise self.wrong("the end of the file", f"data up to offset {end}")
            taken += part
            self.offset += len(part)
        return taken

    def records(self, size: int, most: int) -> bytearray:
        """Return the rest of the file: some records of ``size`` bytes each, ``most`` at most.

        Raises:
            DriftproofError: there are none or too many, or the last one is cut; with the offset.
        """
        rest = bytearray()
        while part := self._read(CHUNK):
            rest += part
            self.offset += len(part)
            if len(rest) > size * most:
                raise self.wrong("more bytes", f"at most {most:,} records of {size} bytes")
        if not rest or len(rest) % size:
            got = f"the end of the file, {len(rest) % size} bytes into a record"
            raise self.wrong(got, f"whole records of {size} bytes, one or more")
        return rest

    def lines(self, longest: int, *, open_end: bool = False) -> Iterator[tuple[int, bytes]]:
        """Yield each line with its number, from 1; its end (LF or CR LF) is taken off.

        Args:
            longest: bytes of a line, with its end.
            open_end: whether the last line may have none.

        Raises:
            DriftproofError: a line is longer, or the last one has no end; with the line.
        """
        number = 0
        while line := self._asked(self._file.readline, longest):
            number += 1
            self.offset += len(line)
            if not line.endswith(b"\n") and not (open_end and len(line) < longest):
                got = f"{len(line)} bytes and no end of the line"
                raise self.wrong(got, f"whole lines, of {longest} bytes at most", f"line {number}")
            yield number, line.rstrip(b"\r\n")

    def end(self) -> None:
        """Raise if the file goes on."""
        if self._read(1):
            raise self.wrong("more bytes", "the end of the file")

    def wrong(self, got: str, wanted: str, at: int | str | None = None) -> DriftproofError:
        """Return the error for what is at an offset or place (default: where reading is)."""
        return wrong_at(self.path, self.offset if at is None else at, got, wanted)

    def _read(self, count: int) -> bytes:
        return self._asked(self._file.read, count)

    def _asked(self, ask: Callable[[int], bytes], count: int) -> bytes:
        try:
            return ask(count)
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            raise self.wrong(f"a broken gzip stream ({error})", "a whole one") from error


def wrong_at(path: Path, at: int | str, got: str, wanted: str) -> DriftproofError:
    """Return the error for what a file has at an offset, or at a place ("line 3") in words."""
    place = at if isinstance(at, str) else f"offset {at}"
    return DriftproofError(f"{path}, {place}: {got}", wanted, "download or copy the file again")


@contextmanager
def opened(path: Path) -> Iterator[FileReader]:
    """Open a file, decompressing it if it is gzipped.

    Raises:
        DriftproofError: the file cannot be read.
    """
    with readable(path) as raw:
        packed = raw.read(len(GZIP)) == GZIP
        raw.seek(0)
        if packed:
            with gzip.GzipFile(fileobj=raw) as file:
                yield FileReader(path, file)
        else:
            yield FileReader(path, raw)


@contextmanager
def readable(path: Path) -> Iterator[IO[bytes]]:
    """Open a file as it is.

    Raises:
        DriftproofError: the file cannot be read.
    """
    try:
        with path.open("rb") as raw:
            yield raw
    except OSError as error:
        raise DriftproofError(
            f"{path}: {error.strerror}", "a readable file", "check its permissions"
        ) from error
