"""Reads a binary file forward, plain or gzipped, and never more of it than is asked for."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from toolkit.errors import DriftproofError

GZIP = b"\x1f\x8b"
CHUNK = 2**20
"""Bytes asked for at a time, so that memory grows with what a file has, not with what it says."""


class FileReader:
    """What is left of an open file; gzip is told by its content, not by its name.

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

    def end(self) -> None:
        """Raise if the file goes on."""
        if self._read(1):
            raise self.wrong("more bytes", "the end of the file")

    def wrong(self, got: str, wanted: str, at: int | None = None) -> DriftproofError:
        """Return the error for what is at an offset (default: where reading is)."""
        return wrong_at(self.path, self.offset if at is None else at, got, wanted)

    def _read(self, count: int) -> bytes:
        try:
            return self._file.read(count)
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            raise self.wrong(f"a broken gzip stream ({error})", "a whole one") from error


def wrong_at(path: Path, offset: int, got: str, wanted: str) -> DriftproofError:
    """Return the error for what a file has at an offset."""
    return DriftproofError(
        f"{path}, offset {offset}: {got}", wanted, "download or copy the file again"
    )


@contextmanager
def opened(path: Path) -> Iterator[FileReader]:
    """Open a file, decompressing it if it is gzipped.

    Raises:
        DriftproofError: the file cannot be read.
    """
    try:
        with path.open("rb") as raw:
            packed = raw.read(len(GZIP)) == GZIP
            raw.seek(0)
            if packed:
                with gzip.GzipFile(fileobj=raw) as file:
                    yield FileReader(path, file)
            else:
                yield FileReader(path, raw)
    except OSError as error:
        raise DriftproofError(
            f"{path}: {error.strerror}", "a readable file", "check its permissions"
        ) from error
