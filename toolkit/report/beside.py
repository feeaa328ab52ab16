"""Has a report written by a process that loads what it needs while the command still computes.

matplotlib, fonts and templates take half a second to load, and a command that judges one claim
takes two: so they are loaded on another core. The process is forked before anything is computed
(``toolkit.workers``); where it cannot be, or ends without a word, this one writes the report.
"""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import Any

from toolkit.errors import DriftproofError
from toolkit.verdict import Row
from toolkit.workers import end_with_parent, forkable

Writer = Callable[[Path, Mapping[str, Any], Sequence[Row]], None]
NEEDED = (
    "toolkit.report.files", "matplotlib.backends.backend_pdf", "matplotlib.backends.backend_svg",
    "matplotlib.figure", "matplotlib.ticker", "jinja2", "latex2mathml.converter",
    "fontTools.subset",
)  # fmt: skip
"""What writing a report loads at some time or other."""
PATIENCE = 5.0
"""Seconds in which the process may end of itself after the command was interrupted."""


@contextmanager
def report_writer() -> Iterator[Writer]:
    """Yield what writes a report, as ``toolkit.report.files.write_report`` does."""
    if not forkable() or "torch" in sys.modules:
        yield _here
        return
    forking = multiprocessing.get_context("fork")
    ours, theirs = forking.Pipe()
    process = forking.Process(target=_serve, args=(theirs, ours))
    process.start()
    theirs.close()

    def write(out: Path, head: Mapping[str, Any], rows: Sequence[Row]) -> None:
        try:
            ours.send((out.absolute(), head, rows))
            failed = ours.recv()
        except (OSError, EOFError, pickle.PicklingError, TypeError, AttributeError):
            _here(out, head, rows)  # it has ended, or they cannot be sent
            return
        if failed is not None:
            raise failed

    try:
        yield write
    except BaseException:
        if process.pid is not None:
            with suppress(ProcessLookupError):
                os.kill(process.pid, signal.SIGINT)  # it takes away what it has half written
        raise
    finally:
        ours.close()  # it waits for this, if nothing was written
        process.join(PATIENCE)
        process.kill()


def _here(out: Path, head: Mapping[str, Any], rows: Sequence[Row]) -> None:
    from toolkit.report.files import write_report

    write_report(out, head, rows)


def _serve(theirs: Any, ours: Any) -> None:
    """Load what is needed, then write one report, if one is asked for."""
    ours.close()
    end_with_parent()
    # whatever goes wrong here goes wrong again, and is told, where the command writes it itself
    with suppress(KeyboardInterrupt, Exception):
        for name in NEEDED:
            import_module(name)
        asked = theirs.recv()
        try:
            _here(*asked)
        except DriftproofError as error:
            theirs.send(error)
        else:
            theirs.send(None)
