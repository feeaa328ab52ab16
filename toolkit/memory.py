"""Keeps freed memory for the next step, which needs blocks of the same sizes; tells the peak."""

import ctypes
import sys
from contextlib import suppress
from functools import cache
from multiprocessing import active_children
from pathlib import Path

M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3
LARGEST_BLOCK = 32 << 20  # glibc accepts no larger threshold
KEPT = (1 << 31) - 1


@cache
def keep_freed_memory() -> bool:
    """Tell glibc not to hand large freed blocks back to the system; say whether it took it.

    Otherwise a large simulation faults its tensors' pages in again in each run
    (docs/performance.md has figures). Elsewhere than on glibc nothing is done.
    """
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError, TypeError):
        return False
    return bool(mallopt(M_MMAP_THRESHOLD, LARGEST_BLOCK) and mallopt(M_TRIM_THRESHOLD, KEPT))


def own_peak() -> int:
    """Return the peak memory of this process in bytes; 0 on Windows, which does not tell."""
    try:
        import resource
    except ImportError:
        return 0
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def largest_worker() -> int:
    """Return the peak memory so far of the largest process started here, in bytes.

    Files that are mapped, the libraries, are not counted: this process has them mapped as well,
    and they lie in memory once. 0 elsewhere than on Linux, where no process tells of another while
    it runs.
    """
    peaks = [0]
    for process in active_children():
        with suppress(OSError, KeyError):  # it may have ended, and then has no sizes
            status = Path(f"/proc/{process.pid}/status").read_text(encoding="utf-8")
            sizes = dict(line.split(":", 1) for line in status.splitlines())
            whole, files = (int(sizes[name].split()[0]) for name in ("VmHWM", "RssFile"))
            peaks.append((whole - files) * 1024)
    return max(peaks)
