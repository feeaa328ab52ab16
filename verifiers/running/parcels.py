"""What goes to a worker that this command did not start: a unit, and what it rests on.

Such a worker may be another machine, with other versions, and without the user's file. So a parcel
says which code the unit is meant for, and a worker that has another refuses it, by its name. A
user's file travels as text, with the files of the user's that it imports from its own folder.
"""

from __future__ import annotations

import io
import os
import pickle
import socket
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path, PurePath
from threading import RLock
from typing import Any

from toolkit.discover import import_path
from toolkit.errors import DriftproofError, MissingError
from toolkit.located import is_users
from toolkit.workers import may_have_children
from verifiers.running.fingerprint import SOURCES, code_of, fingerprint, users_modules
from verifiers.running.scheduler import Result, Unit, on_one_thread, perform


@dataclass(frozen=True)
class UsersFile:
    """A user's file, as text.

    Attributes:
        path: where it is on the machine of the command.
        beside: its bytes, and those of what it imports from its folder, by path from there.
        digest: of every file of the user's that the command has loaded.
    """

    path: Path
    beside: Mapping[str, bytes]
    digest: str


@dataclass(frozen=True)
class Parcel:
    """A unit on its way.

    Attributes:
        fingerprint: of the code that the unit is meant for.
        file: the user's file that its code is in, if any.
        name: of the unit.
        unit: pickled, with another word in the place of the file's path.
    """

    fingerprint: Mapping[str, str]
    file: UsersFile | None
    name: str
    unit: bytes

    def done(self) -> Result:
        """Do the unit on this worker, on one thread.

        Raises:
            DriftproofError: this worker has other code, cannot import the user's file, or reads
                other data than the command did.
        """
        refuse_other_code(self.fingerprint, this_worker())
        path = None if self.file is None else _laid_out(self.file)
        with _told_of_home(self.file, path):
            item: Unit = _Unpacked(io.BytesIO(self.unit), path).load()
            if item.name != self.name:
                raise DriftproofError(
                    f"{this_worker()} has other data: {_differing(self.name, item.name)}",
                    "the same data, under the same path, on every machine",
                    "copy the folder there, or share it; --resume keeps what is done",
                )
            may_have_children()  # some units run a federation of processes
            with on_one_thread():
                return perform(item)


def done(parcel: Parcel) -> Result:
    """Do the unit of a parcel."""
    return parcel.done()


def parcel_of(item: Unit) -> Parcel:
    """Return a unit as it travels."""
    text = io.BytesIO()
    _Packed(text, item.path).dump(item)
    file = None if item.path is None else _file(item.path)
    return Parcel(fingerprint(), file, item.name, text.getvalue())


@cache
def _file(path: Path) -> UsersFile:
    """Read a user's file and what is loaded of its folder: once, as the unit's key has it."""
    inside = {file for file in users_modules() if file.is_relative_to(path.parent)}
    every = {path, *inside}
    texts = {file.relative_to(path.parent).as_posix(): file.read_bytes() for file in every}
    return UsersFile(path, texts, code_of(path))


class _Packed(pickle.Pickler):
    """Writes a unit with a word in the place of its file's path, which is another elsewhere."""

    def __init__(self, to: io.BytesIO, path: Path | None) -> None:
        super().__init__(to, protocol=pickle.HIGHEST_PROTOCOL)
        self._path = path

    def persistent_id(self, part: Any) -> str | None:
        is_it = self._path is not None and isinstance(part, PurePath) and part == self._path
        return "file" if is_it else None


class _Unpacked(pickle.Unpickler):
    """Reads what ``_Packed`` wrote: it comes from the command, over the cluster's own wires."""

    def __init__(self, text: io.BytesIO, path: Path | None) -> None:
        super().__init__(text)
        self._path = path

    def persistent_load(self, word: str) -> Path | None:
        return self._path


class Elsewhere:
    """Units go to an executor of any kind (``units_at``).

    Args:
        executor: runs functions on its workers; they need driftproof, and what the command has.
        units: how many it has at a time.
    """

    def __init__(self, executor: Executor, units: int) -> None:
        self._executor, self._units = executor, units

    def submit(self, item: Unit) -> Future[Result]:
        """Send a unit."""
        return self._executor.submit(done, parcel_of(item))

    def at_once(self) -> int:
        """Return how many units it has at a time."""
        return self._units

    def look(self) -> None:
        """Nothing is known of workers of an unknown kind."""

    def explained(self, error: Exception, at_work: Sequence[Unit]) -> Exception:
        """Return the error as it is."""
        return error


def this_worker() -> str:
    """Return the name of this process in a message."""
    return f"the worker {socket.gethostname()}, process {os.getpid()},"


def differences(wanted: Mapping[str, str], got: Mapping[str, str]) -> list[str]:
    """Say in what the code of a worker differs from the command's.

    >>> differences({"torch": "2.13.0", "numba": "0.68"}, {"torch": "2.12.0", "numba": "0.68"})
    ['torch 2.12.0 (the command has 2.13.0)']
    """
    return [
        "other sources of driftproof"
        if name == SOURCES
        else f"{name} {got.get(name, 'absent')} (the command has {value})"
        for name, value in wanted.items()
        if got.get(name) != value
    ]


def refuse_other_code(wanted: Mapping[str, str], worker: str) -> None:
    """Raise if the code of this process is not the command's."""
    differ = differences(wanted, fingerprint())
    if differ:
        raise refused([f"{worker} has {', '.join(differ)}"])


def refused(workers: Sequence[str]) -> DriftproofError:
    """Return the error for workers whose results could have other bits.

    Args:
        workers: what each of them has, in words.
    """
    return DriftproofError(
        "; ".join(workers),
        "the command's sources and versions on every worker: else bits may differ",
        "install there what the command has and start the worker again, or take it out of the "
        "cluster; --resume keeps what is done",
    )


_lock = RLock()
_present: dict[Path, Path] = {}
"""Where the users' files that are loaded lie on this worker, by their paths at home."""
_digests: set[str] = set()
"""The digest of what is loaded: one, or none yet."""
_folders: list[tempfile.TemporaryDirectory[str]] = []


def _laid_out(file: UsersFile) -> Path:
    """Return where a user's file is on this worker, imported.

    A worker may serve many commands: of a file that was changed since, or of another one with
    imports of the same names, nothing that is loaded stays.
    """
    with _lock:
        if file.digest not in _digests:
            _forget()
            _digests.add(file.digest)
        if file.path not in _present:
            path = file.path if _is_here(file) else _written(file)
            try:
                import_path(path)
            except DriftproofError as error:
                here = _at_home(error, file, path)
                raise MissingError(
                    f"{this_worker()} cannot import {file.path}: {here.got}",
                    "workers that have whatever the file imports",
                    "install it there, or keep what the file imports beside it",
                ) from error
            _present[file.path] = path
        return _present[file.path]


def _forget() -> None:
    """Leave what is loaded of users' files, and look for nothing in their folders."""
    folders = [path.resolve().parent for path in _present.values()]
    for name, module in list(sys.modules.items()):
        origin = getattr(module, "__file__", None)
        if origin and is_users(origin) and any(map(Path(origin).is_relative_to, folders)):
            del sys.modules[name]
    sys.path[:] = [entry for entry in sys.path if entry not in map(str, folders)]
    import_path.cache_clear()
    _present.clear()
    _digests.clear()


def _is_here(file: UsersFile) -> bool:
    """Say whether the file, and what it imports, is on this machine as it was sent."""
    try:
        return all(
            (file.path.parent / name).read_bytes() == text for name, text in file.beside.items()
        )
    except OSError:
        return False


def _written(file: UsersFile) -> Path:
    _folders.append(tempfile.TemporaryDirectory(prefix="driftproof-"))
    folder = Path(_folders[-1].name).resolve()
    for name, text in file.beside.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(text)
    return folder / file.path.name


@contextmanager
def _told_of_home(file: UsersFile | None, path: Path | None) -> Iterator[None]:
    """Tell an error as the machine of the command would, or name the worker that lacks a thing."""
    try:
        yield
    except MissingError as error:
        got = f"{this_worker()} lacks something: {error.got}"
        raise MissingError(got, error.wanted, error.remedy) from error
    except DriftproofError as error:
        if file is None or path is None:
            raise
        raise _at_home(error, file, path) from error


def _at_home(error: DriftproofError, file: UsersFile, path: Path) -> DriftproofError:
    """Return an error with the file's path at home in the place of the one on this worker."""
    here, home = str(path.parent), str(file.path.parent)
    texts = (text.replace(here, home) for text in (error.got, error.wanted, error.remedy))
    return type(error)(*texts)


def _differing(wanted: str, got: str) -> str:
    """Return the part of a unit's name that is another here.

    >>> _differing("run a data1", "run a data2")
    'data2, and not data1'
    """
    pairs = zip(wanted.split(), got.split(), strict=False)
    return next((f"{b}, and not {a}" for a, b in pairs if a != b), f"{got}, and not {wanted}")
