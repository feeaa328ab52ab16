"""Reads the members of a zip archive one by one, in bounded memory; nothing is written anywhere."""

import struct
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path

from driftproof.toolkit.file_reader import readable, wrong_at

END, LENGTH = b"PK\x05\x06", 22
"""Signature and length of the record with which an archive ends; it has no comment behind it."""
BROKEN = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    EOFError,
    OSError,
    RuntimeError,
    ValueError,
    IndexError,
)
"""What zipfile raises for an archive that is broken, encrypted or of a version that it lacks."""


def members(path: Path, longest: int) -> Iterator[tuple[str, bytes]]:
    """Yield the name and the content of every file in an archive, in the order of their names.

    Args:
        path: the archive.
        longest: bytes of a member; it is decompressed no further, whatever its size is said to be.

    Raises:
        DriftproofError: the archive is broken, or a member is longer; names the member.
    """
    with readable(path) as raw:
        at = max(0, raw.seek(0, 2) - LENGTH)
        raw.seek(at)
        if not raw.read().startswith(END):
            raise wrong_at(path, at, "other bytes or none", "a zip archive's last record")
        try:
            archive = zipfile.ZipFile(raw)
            listed = [member for member in archive.infolist() if not member.is_dir()]
        except BROKEN as error:
            raise wrong_at(path, "list of members", f"broken ({error})", "a whole one") from error
        for member in sorted(listed, key=lambda member: member.filename):
            place = f"member {member.filename!r}"
            try:
                with archive.open(member) as file:
                    content = file.read(longest + 1)
            except BROKEN as error:
                raise wrong_at(path, place, f"broken ({error})", "a whole one") from error
            if len(content) > longest:
                raise wrong_at(path, place, "more bytes", f"at most {longest:,}")
            yield member.filename, content
