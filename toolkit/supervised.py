"""Runs a command in a process of its own, so that nothing can end it without a word.

A user's file runs inside the command. If it calls ``os._exit``, or a library that it loads crashes,
Python has no chance to say anything, and an exit status of 0 would pass for a verdict. So the
command that names a user's file runs in a child process; its parent waits, and tells how it ended
if the child did not give a status itself. On Linux alone: elsewhere a process that was forked
cannot be relied on.
"""

from __future__ import annotations

import mmap
import os
import signal
import sys
import threading
from collections.abc import Callable
from pathlib import Path

from driftproof.toolkit.workers import die_with_parent

SIZE = 4096
"""Bytes that the two processes share: one for "a status was given", then a path."""
KILLED = 9
"""The number of SIGKILL, which Windows has no name for."""
_shared: mmap.mmap | None = None


def entering(path: Path) -> None:
    """Note which user's file runs now, for the message if it ends the process."""
    if _shared is not None:
        text = str(path).encode(errors="replace")[: SIZE - 2]
        _shared[1 : len(text) + 2] = text + b"\0"


def supervised(command: Callable[[], int], *, wanted: bool) -> int:
    """Run a command and return its exit status, whatever becomes of the process it runs in.

    Args:
        command: returns its own exit status.
        wanted: whether a user's file is named; without one there is nothing to fear.
    """
    global _shared
    alone = "torch" not in sys.modules and threading.active_count() == 1
    if not (wanted and alone and sys.platform == "linux"):
        return command()
    _shared = mmap.mmap(-1, SIZE)
    parent = os.getpid()
    sys.stdout.flush()
    sys.stderr.flush()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _watched())
    child = os.fork()
    if child == 0:
        die_with_parent(parent)
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        status = command()
        _shared[0] = 1
        return status
    ended = _waited(child)
    signal.pthread_sigmask(signal.SIG_SETMASK, before)
    return _status(ended, _shared)


def _watched() -> tuple[signal.Signals, ...]:
    """Return what the parent waits for; all but the first it hands on."""
    return signal.SIGCHLD, signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT


def _waited(child: int) -> int:
    """Wait for the child and return how it ended; hand on what this process is sent."""
    while True:
        arrived = signal.sigtimedwait(_watched(), 1.0)
        done, ended = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(ended)
        # what the terminal sends (it is no process) goes to both of them already
        if arrived is not None and arrived.si_signo != signal.SIGCHLD and arrived.si_pid != 0:
            os.kill(child, arrived.si_signo)


def _status(ended: int, shared: mmap.mmap) -> int:
    """Return the status of the command, after a message if it did not give one itself."""
    if shared[0] == 1 and ended >= 0:
        return ended
    if -ended in (*_watched()[1:], signal.SIGPIPE):  # on purpose: it ends by the same, silently
        signal.signal(-ended, signal.SIG_DFL)
        os.kill(os.getpid(), -ended)
    path = bytes(shared[1:]).partition(b"\0")[0].decode(errors="replace")
    sys.stderr.write(_message(path or "a file of your own", ended))
    return 2


def _message(path: str, status: int) -> str:
    return (
        f"driftproof: {path} ended the command {how(status)}, before there was a verdict\n"
        "    wanted: a file that returns, or raises an error\n"
        f"    remedy: {remedy(status)}\n"
    )


def how(status: int) -> str:
    """Say how a process ended, by the exit status that Python gives it."""
    if status < 0:
        return f"by the signal {signal.Signals(-status).name}"
    return f"with exit status {status}"


def remedy(status: int) -> str:
    """Say what to look for where a process ended that should not have."""
    if -status == KILLED:
        return "give it more memory, or smaller cases: the system kills what has too much of it"
    if status < 0:
        return "find the library that crashes: python -X faulthandler -m driftproof verify FILE"
    return "look for os._exit in it, or in what it imports"
