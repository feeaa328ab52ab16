"""Tells what a user's own files raised: the file and its line, and what was meant perhaps.

A user's file is one that is neither driftproof's nor installed: the file that the command names,
and what that imports from beside it.
"""

import builtins
import dataclasses
import difflib
import inspect
import linecache
import os
import re
import sys
import sysconfig
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

from driftproof.toolkit.errors import NAMES_LISTED, DriftproofError

PACKAGE = Path(__file__).parents[1]
OWN = tuple(folder.resolve() for folder in (PACKAGE, *PACKAGE.iterdir()) if folder.is_dir())
"""driftproof's folders: in a checkout the rooms are links to folders beside the package."""
INSTALLED = (*OWN, *(Path(sysconfig.get_path(kind)).resolve() for kind in ("stdlib", "platstdlib")))
"""Folders whose files are nobody's own."""
MEANT = {"norm": "sq", "square": "sq", "mean": "average", "expectation": "average"}
"""A word that stands in a name which there is not, and the helper that does what it says."""


def user_traceback(error: BaseException, path: Path) -> DriftproofError:
    """Return what a user's file raised as an error that names its own file and line.

    An error that says what was wanted keeps its words, and gains the place.

    Args:
        path: the file that the command names; the error is told of the last file of the user's
            that it passed, which may be another.
    """
    if isinstance(error, SyntaxError) and error.filename and is_users(error.filename):
        shown = f"\n      {error.text.strip()}" if error.text else ""
        where = f"{error.filename}:{error.lineno or 1}"
        return DriftproofError(f"{where}: {error.msg}{shown}", "a Python file", "mend the line")
    if isinstance(error, DriftproofError) and _has_place(error, path):
        return error
    frame, line = _last_users(error, path)
    where = f"{frame.f_code.co_filename}:{line}" if frame is not None else str(path)
    inside = frame.f_code.co_name if frame is not None else "<module>"
    lead = where if inside == "<module>" else f"{where}: in {_called(inside)}"
    source = linecache.getline(frame.f_code.co_filename, line).strip() if frame is not None else ""
    shown = f"\n      {source}" if source else ""
    if isinstance(error, DriftproofError):
        return type(error)(f"{lead}: {error.got}{shown}", error.wanted, error.remedy)
    message = f"{lead}: {type(error).__name__}: {error}{shown}"
    wanted, remedy = _mended(error, frame)
    return DriftproofError(message, wanted, remedy)


def is_shipped(part: object) -> bool:
    """Say whether a problem or an algorithm is one of driftproof's own leaves."""
    return type(part).__module__.startswith("driftproof.")


def is_users(file: str) -> bool:
    """Return whether a file is somebody's own: neither driftproof's nor installed."""
    return file.endswith(".py") and _is_users(os.path.abspath(file))


@cache  # of each loaded module it is asked again with every claim
def _is_users(file: str) -> bool:
    path = Path(file).resolve()
    installed = "site-packages" in path.parts or "dist-packages" in path.parts
    return not installed and not any(path.is_relative_to(folder) for folder in INSTALLED)


def is_driftproofs(file: str) -> bool:
    """Return whether a file is one of driftproof's."""
    return any(Path(file).resolve().is_relative_to(folder) for folder in OWN)


def _has_place(error: DriftproofError, path: Path) -> bool:
    """Return whether an error names a file already."""
    named = re.match(r"(\S.*?\.py):\d+: ", error.got)
    return error.got.startswith(str(path)) or (named is not None and Path(named[1]).is_file())


def _last_users(error: BaseException, path: Path) -> tuple[FrameType | None, int]:
    """Return the last frame of a user's file that an error passed, and the line there."""
    trace, frame, line = error.__traceback__, None, 0
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        if file == str(path) or is_users(file):
            frame, line = trace.tb_frame, trace.tb_lineno
        trace = trace.tb_next
    return frame, line


def _called(code_name: str) -> str:
    return "a lambda" if code_name == "<lambda>" else code_name


def place_of(function: Any) -> str:
    """Return where a function is defined, and its name: ``mine.py:14: drift``."""
    code = getattr(inspect.unwrap(function), "__code__", None)
    if code is None:
        return repr(function)
    return f"{code.co_filename}:{line_of(code)}: {_called(code.co_name)}"


def line_of(code: CodeType) -> int:
    """Return the line of a function's ``def``: Python's own number is that of its decorator."""
    lines = linecache.getlines(code.co_filename)[code.co_firstlineno - 1 :]
    numbers = (
        k for k, line in enumerate(lines) if line.lstrip().startswith(f"def {code.co_name}(")
    )
    return code.co_firstlineno + (0 if code.co_name == "<lambda>" else next(numbers, 0))


@contextmanager
def telling_the_file(path: Path | None) -> Iterator[None]:
    """Put what a user's own file raises in terms of that file (None: it is not a user's)."""
    if path is None:
        yield
        return
    try:
        yield
    except (Exception, SystemExit) as error:  # an exit would end the command without a result
        raise user_traceback(error, path) from error


@contextmanager
def telling_the_method(cls: type) -> Iterator[None]:
    """Add to an error that blames a method of a class by its name where that method stands.

    The method is the first one of the class that the remedy names ("mend gradient, or objective").
    """
    try:
        yield
    except DriftproofError as error:
        for word in re.findall(r"\w+", error.remedy):
            member = inspect.getattr_static(cls, word, None)
            function = getattr(member, "fget", None) or getattr(member, "func", None) or member
            code = getattr(function, "__code__", None)
            if code is not None and is_users(code.co_filename):
                lead = f"{place_of(function)} of {cls.__name__}"
                raise type(error)(f"{lead}: {error.got}", error.wanted, error.remedy) from error
        raise


def _mended(error: BaseException, frame: FrameType | None) -> tuple[str, str]:
    """Return what an error of Python's means: what was wanted, and what to do."""
    said = str(error)
    if isinstance(error, TypeError) and ("expression to float" in said or "loop of ufunc" in said):
        return (
            "sympy's functions of letters, which stand for all numbers",
            "write sympy.sqrt(…) in place of math.sqrt(…) or numpy.sqrt(…), say",
        )
    if isinstance(error, TypeError) and "operand type(s) for ^" in said:
        return "a power", "write ** in place of ^"
    if isinstance(error, RuntimeError) and "does not require grad" in said:
        return (
            "what torch can differentiate, which no answer of a client's is",
            "ask for the gradient: w.grad = clients[i].grad(w), not clients[i].loss(w).backward()",
        )
    name, known = _asked_for(error, frame)
    line = linecache.getline(frame.f_code.co_filename, frame.f_lineno) if frame else ""
    if isinstance(error, NameError) and re.search(r"\bright=(?! *lambda)", line):
        return "a function of the letters", f"write right=lambda c: …, with c.{name} for {name}"
    home = _home_of(name) if isinstance(error, ImportError | NameError) else None
    if home is not None:
        return f"{name}, which {home} has", f"write from {home} import {name}"
    visible = [word for word in known if not word.startswith("_")]
    meant = suggestions(name, visible)
    if meant:
        return "a name that there is", f"did you mean {' or '.join(meant)}?"
    if isinstance(error, NameError) and frame is not None and "view" in frame.f_locals:
        return "a name that there is", f'write it in quotes, "{name}", if a field is meant'
    if isinstance(error, ModuleNotFoundError):
        return "a module that is installed, or a file beside yours", "install it, or rename it"
    holder = getattr(error, "obj", None)
    ours = hasattr(holder, "_fields") or is_shipped(holder)
    closed = isinstance(error, TypeError) or ours
    if name and closed and 0 < len(visible) <= NAMES_LISTED:
        return f"one of {', '.join(visible)}", "take one of them"
    return "a file that runs", "mend the line; --debug shows the whole traceback"


def suggestions(name: str, known: Iterable[str]) -> list[str]:
    """Return the nearest names to one that there is not.

    >>> suggestions("norm_sq", ["sq", "average"]), suggestions("swep", ["sq", "sweep"])
    (['sq'], ['sweep'])
    """
    visible = list(known)
    meant = [here for word, here in MEANT.items() if word in name.lower() and here in visible]
    return meant[:1] or difflib.get_close_matches(name, visible, n=3, cutoff=0.6)


def _home_of(name: str) -> str | None:
    """Return the module that a user imports a name from, if driftproof has it."""
    for module in ("driftproof", "driftproof.problems", "driftproof.algorithms"):
        if name and name in _offered(module):
            return module
    return None


def _offered(module: str) -> Iterable[str]:
    """Return what one of the modules for users offers."""
    package, _, part = module.partition(".")
    loaded = sys.modules.get(package)
    loaded = getattr(loaded, part, None) if part else loaded
    return getattr(loaded, "__all__", None) or (dir(loaded) if loaded is not None else ())


def _asked_for(error: BaseException, frame: FrameType | None) -> tuple[str, Iterable[str]]:
    """Return a name that was not there, and those that were."""
    if isinstance(error, ModuleNotFoundError):
        beside = Path(frame.f_code.co_filename).parent.glob("*.py") if frame is not None else ()
        return error.name or "", {*sys.stdlib_module_names, *sys.modules, *(p.stem for p in beside)}
    if isinstance(error, ImportError):
        match = re.search(r"cannot import name '(\w+)'", str(error))
        return (match[1], dir(sys.modules.get(error.name or ""))) if match else ("", ())
    if isinstance(error, AttributeError) and error.obj is not None:
        fields = getattr(error.obj, "_fields", None)
        return error.name or "", dir(error.obj) if fields is None else fields
    if frame is None:
        return "", ()
    if isinstance(error, NameError):
        here = {*frame.f_locals, *frame.f_globals, *dir(builtins)}
        return error.name or "", {*here, *_offered("driftproof")}
    keyword = re.search(
        r"(\w+)\.__init__\(\) got an unexpected keyword argument '(\w+)'", str(error)
    )
    called = frame.f_globals.get(keyword[1]) if keyword else None
    if keyword and dataclasses.is_dataclass(called):
        return keyword[2], [field.name for field in dataclasses.fields(called)]
    return "", ()
