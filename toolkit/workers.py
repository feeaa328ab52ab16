"""How worker processes start: forked from one that has loaded what all of them need.

That one is started before the command itself loads torch, so both load at the same time, on two
cores; and however many workers there are, it is loaded once for them.
"""

from __future__ import annotations

import multiprocessing
from typing import Any

METHOD = "forkserver" if "forkserver" in multiprocessing.get_all_start_methods() else "spawn"
LOADED = "verifiers.loaded"
"""What the process that workers are forked from imports."""


def context() -> Any:
    """Return the context that workers start in."""
    made = multiprocessing.get_context(METHOD)
    if METHOD == "forkserver":
        made.set_forkserver_preload([LOADED])
    return made


def start_loading() -> None:
    """Start the process that workers are forked from; it loads while this one goes on."""
    context()
    if METHOD == "forkserver":
        from multiprocessing import forkserver

        forkserver.ensure_running()
