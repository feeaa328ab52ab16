"""How worker processes start: forked where that is safe, from a process of their own elsewhere.

A fork is ready at once, and nothing that its parent has loaded is loaded again. It is safe as long
as the parent has started no threads (those of OpenMP do not survive a fork) and holds no GPU. That
is known of the process of a command, before it computes anything, and of a worker, until numba
starts its threads there or a user's own file is loaded, which may have started some.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

APART = "forkserver" if "forkserver" in multiprocessing.get_all_start_methods() else "spawn"
"""How processes start that inherit nothing of this one."""
PR_SET_PDEATHSIG = 1
"""Linux: the signal that a process is sent when its parent ends (see prctl)."""
_forkable = False


def may_fork() -> None:
    """Say that this process has computed nothing yet, or is a worker that does on one thread."""
    global _forkable
    _forkable = sys.platform == "linux"


def may_not_fork() -> None:
    """Say that code of somebody else's ran here: it may have started threads, or hold locks."""
    global _forkable
    _forkable = False


def forkable() -> bool:
    """Say whether a process can be forked from this one and compute."""
    torch, numba = (sys.modules.get(name) for name in ("torch", "numba"))
    if not _forkable or (torch is not None and torch.cuda.is_initialized()):
        return False
    try:  # once numba has threads, of whichever layer, GNU's OpenMP ends a fork that uses them
        return numba is None or not numba.threading_layer()
    except ValueError:  # it has started none
        return True


def context(*, computed: bool = False) -> Any:
    """Return the context that processes start in.

    Args:
        computed: whether this process may have computed something by now, on several threads
            unless it is a worker.
    """
    forked = forkable() and not (computed and multiprocessing.parent_process() is None)
    processes = multiprocessing.get_context("fork" if forked else APART)
    if not forked and APART == "forkserver":
        processes.set_forkserver_preload(["toolkit.wire.member"])
    return processes


@contextmanager
def started_whole() -> Iterator[None]:
    """Let Ctrl-C and SIGTERM wait while a worker starts, so that neither ends a start half-way.

    A worker in the middle of its start, whose parent goes, prints a traceback that says nothing to
    the person who ended the command. (Blocking the signals would not do: a process that has other
    threads takes them there.)
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []
    numbers: tuple[int, ...] = (signal.SIGINT, signal.SIGTERM)
    before = {n: signal.signal(n, lambda number, frame: came.append(number)) for n in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        for sent in came:
            signal.raise_signal(sent)


def may_have_children() -> None:
    """Let this process start others though it may be daemonic, as Dask's workers are.

    Python forbids it, since such children may outlive their parent; ours end with it
    (``end_with_parent``).
    """
    multiprocessing.current_process()._config["daemon"] = False  # type: ignore[attr-defined]


def end_with_parent() -> None:
    """End this process when the one that started it is gone, killed without a chance to say so.

    On Linux the kernel does it at once, even while a long computation holds Python's lock. There
    and elsewhere a thread watches the pipe that the parent holds open for as long as it lives.
    SIGTERM ends it at once, whatever the parent does when it is sent one.
    """
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    die_with_parent(os.getppid())
    threading.Thread(target=_end_after_parent, args=(os.getppid(),), daemon=True).start()


def die_with_parent(parent: int) -> None:
    """Have the kernel kill this process when its parent ends (on Linux; elsewhere do nothing).

    Args:
        parent: the parent's number, which is another by now if it has ended already.
    """
    if sys.platform != "linux":
        return
    import ctypes

    with suppress(OSError, AttributeError):  # another C library: the thread watches alone
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def _end_after_parent(began: int) -> None:
    """Wait until the pipe to the parent closes, or this process is handed to another parent.

    A forked brother holds a copy of the pipe's end, so the pipe alone may say it late.
    """
    parent = multiprocessing.parent_process()
    if parent is None:
        return
    while parent.is_alive() and os.getppid() == began:
        parent.join(timeout=1.0)
    os._exit(1)


@contextmanager
def nameless_locks() -> Iterator[None]:
    """Let locks that are made here be known to this process and its forks alone.

    Elsewhere a lock has a name in the system, which its owner gives back as it ends. A worker that
    is killed cannot, and Python warns of "leaked semaphore objects".
    """
    before = multiprocessing.get_start_method(allow_none=True)
    if "fork" not in multiprocessing.get_all_start_methods():
        yield
        return
    multiprocessing.set_start_method("fork", force=True)
    try:
        yield
    finally:
        multiprocessing.set_start_method(before, force=True)
