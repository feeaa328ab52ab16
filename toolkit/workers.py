"""How worker processes start: forked where that is safe, from a process of their own elsewhere.

A fork is ready at once, and nothing that its parent has loaded is loaded again. It is safe as long
as the parent computes on one thread (OpenMP's threads do not survive a fork) and holds no GPU.
That is known of the process of a command, before it computes anything, and of a worker, unless a
user's own file was loaded there: it may have computed on many threads as it was.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
import threading
from typing import Any

APART = "forkserver" if "forkserver" in multiprocessing.get_all_start_methods() else "spawn"
"""How processes start that inherit nothing of this one."""
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
    if _forkable and "torch" in sys.modules:
        return not sys.modules["torch"].cuda.is_initialized()
    return _forkable


def context(*, computed: bool = False) -> Any:
    """Return the context that processes start in.

    Args:
        computed: whether this process may have computed something by now, on several threads
            unless it is a worker.
    """
    forked = forkable() and not (computed and multiprocessing.parent_process() is None)
    made = multiprocessing.get_context("fork" if forked else APART)
    if not forked and APART == "forkserver":
        made.set_forkserver_preload(["toolkit.wire.member"])
    return made


def end_with_parent() -> None:
    """End this process when the one that started it is gone, killed without a chance to say so."""
    threading.Thread(target=_end_after_parent, daemon=True).start()


def _end_after_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
