"""The ledger: finished units of work and judged rows, in one file that survives interruption.

Every unit is committed when it is done (WAL journal), so a run that was killed continues where it
was; a unit's key names everything its result depends on, so a stale one is never used.
"""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self, TextIO

from toolkit.errors import DriftproofError, after_system_error

SCHEMA = 1
_TABLES = """
CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS units (key TEXT PRIMARY KEY, seconds REAL NOT NULL, blob BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS names (key TEXT PRIMARY KEY, name TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS runs (id INTEGER PRIMARY KEY, head TEXT NOT NULL, done INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS rows (run INTEGER NOT NULL, position INTEGER NOT NULL, row TEXT NOT NULL,
                                 PRIMARY KEY (run, position));
"""


@dataclass(frozen=True)
class Finished:
    """A finished unit as a ledger keeps it.

    Attributes:
        key: names everything that the result depends on.
        blob: the result.
        seconds: how long it took.
        name: in words; empty if an older driftproof kept it.
    """

    key: str
    blob: bytes
    seconds: float
    name: str


class Ledger:
    """An open ledger.

    Args:
        path: the file; made if missing, with its folder.
        create: whether a missing file may be made.
    """

    def __init__(self, path: Path, *, create: bool = True) -> None:
        self.path = path
        if not create and not path.is_file():
            raise _missing(path)
        with self._guard():
            path.parent.mkdir(parents=True, exist_ok=True)
            self._lock = _locked(path) if create else None
            # autocommit: every statement below is its own transaction unless one is begun
            self._db = sqlite3.connect(path, isolation_level=None, timeout=30)
            try:
                self._check()
                self._db.execute("PRAGMA journal_mode=WAL")
                self._db.execute("PRAGMA synchronous=NORMAL")
                self._db.executescript(_TABLES)
                version = ("schema", str(SCHEMA))
                self._db.execute("INSERT OR IGNORE INTO meta VALUES (?, ?)", version)
            except BaseException:
                self.close()
                raise

    @classmethod
    @contextmanager
    def untouched(cls, path: Path) -> Iterator[Self]:
        """Open a ledger to be read, and change no file of its folder.

        Raises:
            DriftproofError: there is none, it is damaged, or a run is writing it.
        """
        self = cls.__new__(cls)
        self.path, self._lock = path, None
        if not path.is_file():
            raise _missing(path)
        with ExitStack() as opened:
            with self._guard():
                opened.enter_context(_unwritten(path))
                where = f"{path.resolve().as_uri()}?immutable=1"
                log = path.with_name(f"{path.name}-wal")
                # after a kill it has units that are not in the file yet; SQLite moves them
                if log.exists():
                    copies = Path(opened.enter_context(tempfile.TemporaryDirectory()))
                    for file in (path, log):
                        shutil.copy(file, copies)
                    where = (copies / path.name).as_uri()
                self._db = opened.enter_context(closing(sqlite3.connect(where, uri=True)))
                self._check()
            yield self

    def _check(self) -> None:
        """Raise unless this is a ledger, whole, that this driftproof can read, or nothing yet."""
        tables = {name for (name,) in self._db.execute("SELECT name FROM sqlite_master")}
        if tables and "meta" not in tables:
            raise sqlite3.DatabaseError("a SQLite file, but not a ledger")
        version = self.meta("schema") if tables else None
        if version is not None and not version.isdigit():
            raise sqlite3.DatabaseError(f"version {version!r}")
        if version is not None and int(version) > SCHEMA:
            raise DriftproofError(
                f"{self.path} was written by a newer driftproof (ledger version {version})",
                f"version {SCHEMA} or older",
                "upgrade driftproof, or name another --out; the ledger was not touched",
            )
        damage = self._db.execute("PRAGMA quick_check(1)").fetchone()[0]
        if damage != "ok":
            raise sqlite3.DatabaseError(damage)

    def meta(self, name: str) -> str | None:
        """Return a value kept about the ledger itself."""
        entry = self._db.execute("SELECT value FROM meta WHERE name = ?", (name,)).fetchone()
        return entry[0] if entry else None

    def unit(self, key: str) -> tuple[bytes, float] | None:
        """Return a finished unit and its seconds, or None."""
        with self._guard():
            query = "SELECT CAST(blob AS BLOB), CAST(seconds AS REAL) FROM units WHERE key = ?"
            entry: tuple[bytes, float] | None = self._db.execute(query, (key,)).fetchone()
            return entry

    def units(self) -> Iterator[Finished]:
        """Yield every finished unit."""
        with self._guard():
            named = self._db.execute("SELECT 1 FROM sqlite_master WHERE name = 'names'").fetchone()
            query = "SELECT key, CAST(blob AS BLOB), CAST(seconds AS REAL), " + (
                "coalesce(name, '') FROM units LEFT JOIN names USING (key)"
                if named
                else "'' FROM units"
            )
            for entry in self._db.execute(query):
                yield Finished(*entry)

    def keep(self, key: str, blob: bytes, seconds: float, name: str = "") -> None:
        """Commit a finished unit.

        Args:
            name: in words, for messages.
        """
        with self._guard(), self._at_once():
            self._db.execute("INSERT OR REPLACE INTO units VALUES (?, ?, ?)", (key, seconds, blob))
            self._db.execute("INSERT OR REPLACE INTO names VALUES (?, ?)", (key, name))

    def begin(self, head: Mapping[str, Any]) -> int:
        """Open a run and return its number."""
        with self._guard():
            cursor = self._db.execute(
                "INSERT INTO runs (head, done) VALUES (?, 0)", (json.dumps(head),)
            )
            return int(cursor.lastrowid or 0)

    def finish(self, run: int, rows: list[dict[str, Any]], head: Mapping[str, Any]) -> None:
        """Commit a run's rows and mark it done, all or nothing."""
        with self._guard(), self._at_once():
            self._db.executemany(
                "INSERT OR REPLACE INTO rows VALUES (?, ?, ?)",
                [(run, k, json.dumps(row)) for k, row in enumerate(rows)],
            )
            self._db.execute(
                "UPDATE runs SET done = 1, head = ? WHERE id = ?", (json.dumps(head), run)
            )

    @contextmanager
    def _at_once(self) -> Iterator[None]:
        """Commit all that is written inside, or nothing."""
        self._db.execute("BEGIN")
        try:
            yield
            self._db.execute("COMMIT")
        except BaseException:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            raise

    def latest(self) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        """Return the head and the rows of the last finished run."""
        with self._guard():
            newest = self._db.execute(
                "SELECT id, head FROM runs WHERE done = 1 ORDER BY id DESC LIMIT 1"
            ).fetchone()
            if newest is None:
                raise DriftproofError(
                    f"{self.path} has no finished run",
                    "at least one",
                    "finish it: driftproof verify --resume with the same --out",
                )
            rows = self._db.execute(
                "SELECT row FROM rows WHERE run = ? ORDER BY position", newest[:1]
            )
            try:
                head, judged = json.loads(newest[1]), [json.loads(row) for (row,) in rows]
                if not isinstance(head, dict):
                    raise ValueError(f"a head that is {type(head).__name__}")
            except ValueError as error:
                raise sqlite3.DatabaseError(f"a row that is no JSON ({error})") from error
            return head, judged

    def close(self) -> None:
        """Close the file, and let other runs write here."""
        self._db.close()
        if self._lock is not None:
            self._lock.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *unused: object) -> None:
        self.close()

    @contextmanager
    def _guard(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.DatabaseError, OSError) as error:
            raise self._explained(error) from error

    def _explained(self, error: sqlite3.DatabaseError | OSError) -> DriftproofError:
        text = error.strerror or str(error) if isinstance(error, OSError) else str(error)
        if isinstance(error, OSError) or any(
            word in text for word in ("full", "readonly", "unable to open", "I/O")
        ):
            usual = "name another --out, or free some space; finished units are kept"
            return DriftproofError(
                f"{self.path}: {text}",
                "a folder that can be written to, with room",
                after_system_error(error) if isinstance(error, OSError) else usual,
            )
        if "locked" in text:
            return DriftproofError(
                f"{self.path}: {text}",
                "a ledger that no other run is writing",
                "wait for the other run, or name another --out",
            )
        return DriftproofError(
            f"{self.path} is damaged: {text}",
            "a ledger that driftproof wrote",
            "move it away (it was not changed) and run without --resume",
        )


def _missing(path: Path) -> DriftproofError:
    return DriftproofError(
        f"no ledger at {path}",
        "a folder that driftproof verify or run has written",
        "check the path, or run driftproof verify --out DIR first",
    )


@contextmanager
def _unwritten(path: Path) -> Iterator[None]:
    """Hold a ledger as it is: no run begins to write it, and none is writing it."""
    lock = path.with_name(".lock")
    try:
        import fcntl
    except ImportError:  # not on Windows
        yield
        return
    if not lock.exists():  # the ledger was copied here
        yield
        return
    with lock.open() as held:
        try:
            fcntl.flock(held, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise DriftproofError(
                f"a run is writing to {path.parent}",
                "a ledger that no run is writing",
                "wait for it to end, or end it",
            ) from error
        yield


def _locked(path: Path) -> TextIO | None:
    """Return a lock on a ledger's folder: two runs would overwrite each other's page."""
    try:
        import fcntl
    except ImportError:  # not on Windows
        return None
    lock = path.with_name(".lock").open("w")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        lock.close()
        raise DriftproofError(
            f"another run is writing to {path.parent}",
            "a folder for each run",
            "wait for it to end, or name another --out",
        ) from error
    # a worker that outlives a killed run by a moment must not hold its lock
    os.register_at_fork(after_in_child=lock.close)
    return lock
