"""Reads the members of a zip archive one by one, in bounded memory; nothing is written anywhere.

What an archive says of itself is not believed. The list of members stands at its end, and its size
is checked before it is read. A member is decompressed piece by piece, and no further than it may
be long, so that neither a lying size nor a zip bomb takes memory.
"""

from __future__ import annotations

import struct
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from driftproof.toolkit.file_reader import readable, wrong_at

END = struct.Struct("<4s8xII2x")
"""The record at an archive's end: signature, …, size of the directory, its offset, comment."""
SIGNATURE = b"PK\x05\x06"
LOCATOR, LARGE = 20, b"PK\x06\x07"
"""Length and signature of what tells, before that record, that its sizes are elsewhere."""
DIRECTORY = 2**22
"""Bytes of the list of members; Omniglot's longest, of 20,275 members, has about 2.3 million."""
BROKEN = (
    zipfile.BadZipFile, zlib.error, struct.error, EOFError, OSError, RuntimeError, ValueError,
)  # fmt: skip
"""What zipfile raises for an archive that is broken, encrypted or of a version that it lacks.

For the last two it raises a RuntimeError, or one of its kinds.
"""


def members(path: Path, longest: int) -> Iterator[tuple[str, bytes]]:
    """Yield the name and the content of every file in an archive, in the order of their names.

    Args:
        path: the archive.
        longest: bytes of a member, decompressed.

    Raises:
        DriftproofError: the archive is broken, a member is longer, is not stored or deflated, or
            has a name that leads out of the archive; names the member, or the offset.
    """
    with readable(path) as raw:
        _check_end(path, raw)
        try:
            archive = zipfile.ZipFile(raw)
        except BROKEN as error:
            raise wrong_at(path, "list of members", f"broken ({error})", "a whole one") from error
        with archive:
            if not all(member.filename for member in archive.infolist()):
                raise wrong_at(path, "list of members", "a member without a name", "names")
            listed = [member for member in archive.infolist() if not member.is_dir()]
            for member in sorted(listed, key=lambda member: member.filename):
                yield member.filename, _content(path, archive, member, longest)


def _check_end(path: Path, raw: IO[bytes]) -> None:
    """Look at the record at the end, so that a list of members of any size is not read."""
    size = raw.seek(0, 2)
    at = max(0, size - END.size)
    raw.seek(max(0, at - LOCATOR))
    before, end = raw.read(at - raw.tell()), raw.read(END.size)
    if len(end) < END.size or not end.startswith(SIGNATURE):
        raise wrong_at(path, at, "other bytes or none", "a zip archive's last record")
    if before.startswith(LARGE):
        got = "a zip64 archive, for more than 4 GiB or 65,535 members"
        raise wrong_at(path, at - LOCATOR, got, "a plain zip archive")
    _, directory, _ = END.unpack(end)
    if directory > DIRECTORY:
        got = f"a list of members of {directory:,} bytes"
        raise wrong_at(path, at + 12, got, f"at most {DIRECTORY:,}")


def _content(path: Path, archive: zipfile.ZipFile, member: zipfile.ZipInfo, longest: int) -> bytes:
    place = f"member {member.filename!r}"
    if ".." in member.filename.split("/") or member.filename.startswith("/"):
        raise wrong_at(path, place, "a name that leads out of the archive", "names inside it")
    if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        got = f"compression {member.compress_type}"
        raise wrong_at(path, place, got, "0 or 8: stored or deflated")
    if member.file_size > longest:
        got = f"{member.file_size:,} bytes, it says"
        raise wrong_at(path, place, got, f"at most {longest:,}")
    try:
        with archive.open(member) as file:
            content = file.read(longest + 1)
    except BROKEN as error:
        raise wrong_at(path, place, f"broken ({error})", "a whole one") from error
    if len(content) != member.file_size:
        got = f"{len(content):,} bytes"
        raise wrong_at(path, place, got, f"{member.file_size:,}, as it says")
    return content
