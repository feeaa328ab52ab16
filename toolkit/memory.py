"""Keeps freed memory for the next step, which needs blocks of the same sizes; tells the peak."""

from __future__ import annotations

import ctypes
import sys
from functools import cache

M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3
LARGEST_BLOCK = 32 << 20  # glibc accepts no larger threshold
KEPT = (1 << 31) - 1


@cache
def keep_freed_memory() -> bool:
    """Tell glibc not to hand large freed blocks back to the system; say whether it took it.

    Otherwise a large simulation faults its tensors' pages in anew, run after run
    (docs/performance.md has figures). Elsewhere than on glibc nothing is done.
    """
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError, TypeError):
        return False
    return bool(mallopt(M_MMAP_THRESHOLD, LARGEST_BLOCK) and mallopt(M_TRIM_THRESHOLD, KEPT))


def largest_so_far() -> tuple[int, int]:
    """Return the peak memory of this process and of the largest that it waited for, in bytes.

    (0, 0) on Windows, which does not tell.
    """
    try:
        import resource
    except ImportError:
        return 0, 0
    unit = 1 if sys.platform == "darwin" else 1024
    own, others = (
        resource.getrusage(who).ru_maxrss * unit
        for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )
    return own, others
