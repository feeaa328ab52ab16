"""Tells what a user's own file raised: its line, its function, and what was meant perhaps."""

from __future__ import annotations

import builtins
import dataclasses
import difflib
import linecache
import re
import sys
from collections.abc import Iterable
from pathlib import Path
from types import FrameType

from toolkit.errors import DriftproofError
from toolkit.shadowing import PACKAGES


def located(error: BaseException, path: Path) -> DriftproofError:
    """Return what a user's file raised as an error that names its own line.

    An error that says what was wanted keeps its words, and gains the place.
    """
    line, frame = _last_in(error, path)
    where = str(path) + (f":{line}" if line else "")
    inside = frame.f_code.co_name if frame is not None else "<module>"
    lead = where if inside == "<module>" else f"{where}: in {_called(inside)}"
    source = linecache.getline(str(path), line).strip() if line else ""
    shown = f"\n      {source}" if source else ""
    if isinstance(error, DriftproofError):
        if error.got.startswith(str(path)):
            return error
        return type(error)(f"{lead}: {error.got}{shown}", error.wanted, error.remedy)
    message = f"{lead}: {type(error).__name__}: {error}{shown}"
    meant = suggestions(error, frame)
    if meant:
        return DriftproofError(
            message, "a name that there is", f"did you mean {' or '.join(meant)}?"
        )
    return DriftproofError(
        message, "a file that runs", "mend it; --debug shows the whole traceback"
    )


def _last_in(error: BaseException, path: Path) -> tuple[int, FrameType | None]:
    """Return the last line of a file that an error passed, and its frame."""
    trace, line, frame = error.__traceback__, 0, None
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == str(path):
            line, frame = trace.tb_lineno, trace.tb_frame
        trace = trace.tb_next
    return line, frame


def _called(code_name: str) -> str:
    return "a lambda" if code_name == "<lambda>" else code_name


def suggestions(error: BaseException, frame: FrameType | None) -> list[str]:
    """Return the nearest names to one that an error says there is not."""
    name, known = _asked_for(error, frame)
    visible = [word for word in known if not word.startswith("_")]
    return difflib.get_close_matches(name, visible, n=3, cutoff=0.6) if name else []


def _asked_for(error: BaseException, frame: FrameType | None) -> tuple[str, Iterable[str]]:
    """Return a name that was not there, and those that were."""
    if isinstance(error, ImportError) and (error.name or "").split(".")[0] in PACKAGES:
        match = re.search(r"cannot import name '(\w+)'", str(error))
        return (match[1], _names_in(error.name or "")) if match else ("", ())
    if isinstance(error, AttributeError) and error.obj is not None:
        return error.name or "", dir(error.obj)
    if frame is None:
        return "", ()
    if isinstance(error, NameError):
        return error.name or "", {*frame.f_locals, *frame.f_globals, *dir(builtins)}
    keyword = re.search(
        r"(\w+)\.__init__\(\) got an unexpected keyword argument '(\w+)'", str(error)
    )
    called = frame.f_globals.get(keyword[1]) if keyword else None
    if keyword and dataclasses.is_dataclass(called):
        return keyword[2], [field.name for field in dataclasses.fields(called)]
    return "", ()


def _names_in(module: str) -> set[str]:
    """Return what can be imported from one of driftproof's modules, leaves included."""
    return set(dir(sys.modules.get(module)))
