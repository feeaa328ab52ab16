"""The ledger: finished tasks and judged rows, in one SQLite file that survives interruption.

Every task is committed when it is done, so a run that was killed continues where it was; a task's
key names everything that its result depends on, so a stale one is never used. A digest beside each
shows what changed on the disk, which SQLite would not notice. A ledger that is damaged is refused.
"""

import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from hashlib import blake2b
from pathlib import Path
from typing import Any, Self, TextIO

from driftproof.toolkit.errors import DriftproofError, after_system_error

SCHEMA = 3
_TABLES = f"""
BEGIN;
CREATE TABLE tasks (key TEXT PRIMARY KEY, blob BLOB, seconds REAL, digest BLOB);
CREATE TABLE runs (id INTEGER PRIMARY KEY, head TEXT, rows TEXT, digest BLOB);
PRAGMA user_version = {SCHEMA};
COMMIT;
"""


def digest_of(*parts: Any) -> bytes:
    """Return what tells that the parts of an entry are as they were written."""
    return blake2b(repr(parts).encode(errors="surrogatepass"), digest_size=16).digest()


class Ledger:
    """An open ledger.

    Args:
        path: the file.
        create: whether it is to be written: a missing one is made, with its folder, and no other
            run may write to the folder meanwhile.
    """

    def __init__(self, path: Path, *, create: bool = True) -> None:
        self.path = path
        self._lock: TextIO | None = None
        if not create and not path.is_file():
            raise DriftproofError(
                f"no ledger at {path}",
                "a folder that driftproof verify or run has written",
                "check the path, or run driftproof verify --out DIR first",
            )
        with self._guard():
            try:
                if create:
                    path.parent.mkdir(parents=True, exist_ok=True)
                    self._lock = _locked(path)
                # autocommit: each statement is its own transaction unless one is begun
                self._db = sqlite3.connect(path, isolation_level=None, timeout=30)
                self._check(create)
                if create:
                    self._db.execute("PRAGMA journal_mode = WAL")
                    self._db.execute("PRAGMA synchronous = NORMAL")
            except BaseException:
                self.close()
                raise

    def _check(self, create: bool) -> None:
        """Raise unless the file is whole and a ledger of this version; make its tables if new."""
        (version,) = self._db.execute("PRAGMA user_version").fetchone()
        (tables,) = self._db.execute("SELECT count(*) FROM sqlite_master").fetchone()
        if create and version == tables == 0:
            self._db.executescript(_TABLES)
        elif version != SCHEMA:
            raise sqlite3.DatabaseError(f"of version {version}, where {SCHEMA} is read")
        (damage,) = self._db.execute("PRAGMA integrity_check(1)").fetchone()
        if damage != "ok":
            raise sqlite3.DatabaseError(damage)

    def task(self, key: str) -> tuple[bytes, float] | None:
        """Return a finished task's result and its seconds, or None.

        Raises:
            DriftproofError: it is not as it was written.
        """
        with self._guard():
            query = "SELECT blob, seconds, digest FROM tasks WHERE key = ?"
            entry = self._db.execute(query, (key,)).fetchone()
            if entry is None:
                return None
            blob, seconds, digest = entry
            if digest != digest_of(key, blob, seconds):
                raise sqlite3.DatabaseError(f"its task {key} is not as it was written")
            return blob, seconds

    def keep(self, key: str, blob: bytes, seconds: float) -> None:
        """Commit a finished task."""
        with self._guard():
            entry = key, blob, float(seconds), digest_of(key, blob, float(seconds))
            self._db.execute("INSERT OR REPLACE INTO tasks VALUES (?, ?, ?, ?)", entry)

    def finish(self, head: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]) -> None:
        """Commit a finished run: what describes it, and its rows."""
        texts = json.dumps(head), json.dumps(rows)
        with self._guard():
            query = "INSERT INTO runs (head, rows, digest) VALUES (?, ?, ?)"
            self._db.execute(query, (*texts, digest_of(*texts)))

    def latest(self) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        """Return the head and the rows of the last finished run."""
        with self._guard():
            query = "SELECT head, rows, digest FROM runs ORDER BY id DESC LIMIT 1"
            newest = self._db.execute(query).fetchone()
            if newest is None:
                raise DriftproofError(
                    f"{self.path} has no finished run",
                    "at least one",
                    "finish it: driftproof verify --resume with the same --out",
                )
            head, rows, digest = newest
            if digest != digest_of(head, rows):
                raise sqlite3.DatabaseError("its last run is not as it was written")
            return json.loads(head), json.loads(rows)

    def close(self) -> None:
        """Close the file, and let other runs write here."""
        if hasattr(self, "_db"):
            if self._lock is not None:
                with suppress(sqlite3.Error):  # so that it can be read in a read-only folder
                    self._db.execute("PRAGMA journal_mode = DELETE")
            self._db.close()
        if self._lock is not None:
            self._lock.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *unused: object) -> None:
        self.close()

    @contextmanager
    def _guard(self) -> Iterator[None]:
        """Say what is wrong with the disk or the file, and what to do."""
        try:
            yield
        except OSError as error:
            raise DriftproofError(
                f"{self.path}: {error.strerror or error}",
                "a folder that can be written to, with room",
                after_system_error(error),
            ) from error
        except sqlite3.Error as error:
            text = str(error)
            if any(word in text for word in ("full", "readonly", "unable to open", "I/O")):
                raise DriftproofError(
                    f"{self.path}: {text}",
                    "a folder that can be written to, with room",
                    "name another --out, or free some space; finished tasks are kept",
                ) from error
            raise DriftproofError(
                f"{self.path} is damaged, or of another driftproof: {text}",
                f"a ledger as this driftproof wrote it (version {SCHEMA}); it was not changed",
                "run the command again with another --out: the results will be the same",
            ) from error


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
    return lock
