"""Worker processes of this machine: started afresh, on one thread each, warm through a command.

They are loky's, which notices at once when one of them is killed. None inherits this process's
threads or GPU, so a command may have computed before. A worker ends with the process that started
it, however that ends.
"""

import math
import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager, suppress
from typing import Any

ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")
PR_SET_PDEATHSIG = 1
"""Linux: the signal that a process is sent when its parent ends (see prctl)."""
_pool: Any = None


def pool(workers: int | None = None) -> Executor:
    """Return this process's workers, started if they are not there.

    Args:
        workers: how many (None: as many as there are, or a worker for each core).
    """
    global _pool
    from joblib.externals import loky  # for start-up time: most commands need no worker

    with _uninterrupted():  # they inherit what becomes of Ctrl-C, which is this process's to tell
        _pool = loky.get_reusable_executor(
            workers or (_pool._max_workers if _pool is not None else None),
            timeout=None,
            initializer=_start,
            initargs=(os.getpid(),),
            env=ONE_THREAD,
        )
        _pool.submit(int)  # starts them
    return _pool  # type: ignore[no-any-return]


def warm() -> bool:
    """Say whether there are workers already."""
    return _pool is not None


def end_pool() -> None:
    """Kill the workers, if there are any: what they still do is of no use to anybody."""
    global _pool
    ending, _pool = _pool, None
    if ending is not None:
        ending.shutdown(kill_workers=True)


def _start(parent: int) -> None:
    """Begin as a worker."""
    from joblib.externals.loky import process_executor

    end_with(parent)
    # locks of this kind, such as numba's, have no name that a killed worker would leave behind
    kinds = multiprocessing.get_all_start_methods()
    multiprocessing.set_start_method("fork" if "fork" in kinds else "spawn", force=True)
    # a worker that loads a data set or a compiler has no leak
    process_executor._MAX_MEMORY_LEAK_SIZE = math.inf


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Ignore Ctrl-C here, and for good in the processes that are started meanwhile."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def end_with(parent: int) -> None:
    """End this process when its parent is gone, killed without a chance to say so.

    On Linux the kernel does it at once, even while a long computation holds Python's lock.
    Elsewhere a thread looks once a second.
    """
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    die_with_parent(parent)
    if sys.platform != "linux":
        threading.Thread(target=_end_after, args=(parent,), daemon=True).start()


def die_with_parent(parent: int) -> None:
    """Have the kernel kill this process when its parent ends (on Linux; elsewhere do nothing).

    Args:
        parent: the parent's number, which is another by now if it has ended already.
    """
    if sys.platform != "linux":
        return
    import ctypes

    with suppress(OSError, AttributeError):  # a C library without it
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def _end_after(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(1.0)
    os._exit(1)
