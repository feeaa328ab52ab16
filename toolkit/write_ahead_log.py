"""The log that SQLite keeps beside a ledger until its units are in the file: read without SQLite.

SQLite reads a log up to the first frame that is damaged, and takes what follows for the rest of an
older one, without a word. So what was committed after that frame would be lost as the log is
written anew. See https://www.sqlite.org/fileformat2.html, section 4.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass

HEAD, FRAME = 32, 24
"""Bytes before the first frame, and before the page of each."""
LITTLE, BIG = 0x377F0682, 0x377F0683
"""What a log begins with: the byte order of its checksums."""


@dataclass(frozen=True)
class Frame:
    """A page as a transaction wrote it.

    Attributes:
        page: its number.
        commits: whether a transaction ends with it.
        salt: the same in all frames since the log was begun anew.
    """

    page: int
    commits: bool
    salt: bytes
    content: bytes


def frames(log: bytes, size: int) -> Iterator[Frame]:
    """Yield the frames of a log, damaged ones too.

    Args:
        size: bytes of a page.
    """
    for at in range(HEAD, len(log) - FRAME + 1, FRAME + size):
        page, pages = struct.unpack(">II", log[at : at + 8])
        begins = at + FRAME
        yield Frame(page, pages != 0, log[at + 8 : at + 16], log[begins : begins + size])


def loses_commits(log: bytes, size: int, read: int) -> bool:
    """Say whether a log has transactions that SQLite does not read.

    The last one alone is no loss: a kill may have come in the middle of writing it.

    Args:
        size: bytes of a page.
        read: how many frames SQLite reads.
    """
    unread = [frame for frame in list(frames(log, size))[read:] if len(frame.content) == size]
    if not head_is_whole(log):
        return any(frame.commits for frame in unread)
    # frames of another salt are left of a log that was begun anew
    return sum(frame.commits for frame in unread if frame.salt == log[16:24]) > 1


def head_is_whole(log: bytes) -> bool:
    """Say whether the head's checksum is right."""
    if len(log) < HEAD:
        return False
    magic = int.from_bytes(log[:4], "big")
    if magic not in (LITTLE, BIG):
        return False
    words = struct.unpack("<6I" if magic == LITTLE else ">6I", log[:24])
    first = second = 0
    for one, other in zip(words[::2], words[1::2], strict=True):
        first = (first + one + second) & 0xFFFFFFFF
        second = (second + other + first) & 0xFFFFFFFF
    return struct.pack(">II", first, second) == log[24:HEAD]
