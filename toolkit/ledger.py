"""The ledger: finished units of work and judged rows, in one file that survives interruption.

Every unit is committed when it is done (WAL journal), so a run that was killed continues where it
was; a unit's key names everything its result depends on, so a stale one is never used. Beside each
unit and each finished run is a digest: SQLite would not notice a bit that changed on the disk.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any, Self, TextIO

from toolkit.errors import DriftproofError, after_system_error
from toolkit.write_ahead_log import loses_commits

SCHEMA = 2
_TABLES = {
    "meta": "name TEXT PRIMARY KEY, value TEXT NOT NULL",
    "units": "key TEXT PRIMARY KEY, seconds REAL NOT NULL, blob BLOB NOT NULL, digest BLOB",
    "names": "key TEXT PRIMARY KEY, name TEXT NOT NULL",
    "runs": "id INTEGER PRIMARY KEY, head TEXT NOT NULL, done INTEGER NOT NULL, digest BLOB",
    "rows": "run INTEGER NOT NULL, position INTEGER NOT NULL, row TEXT NOT NULL, "
    "PRIMARY KEY (run, position)",
}
_UNIT = "CAST(blob AS BLOB), CAST(seconds AS REAL)"
"""What a unit came to; SQLite would give text or a number of a column that has bytes."""
_ADDED = {"units": ", digest BLOB", "runs": ", digest BLOB"}
"""What a table has since version 2."""


def unit_digest(key: str, blob: bytes, seconds: float) -> bytes:
    """Return what tells a unit that is as it was written from one that is not."""
    return blake2b(f"{key}\0{float(seconds)!r}\0".encode() + blob, digest_size=16).digest()


def run_digest(head: str, rows: Sequence[str]) -> bytes:
    """Return the same of a finished run, from its texts."""
    return blake2b("\0".join((head, *rows)).encode(), digest_size=16).digest()


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
            try:
                if path.exists():
                    # as a copy, or unchanged: SQLite writes to a file that it opens after a kill
                    with _as_it_is(path) as self._db:
                        self._check()
                # autocommit: each statement is its own transaction unless one is begun
                self._db = sqlite3.connect(path, isolation_level=None, timeout=30)
                self._db.execute("PRAGMA journal_mode=WAL")
                self._db.execute("PRAGMA synchronous=NORMAL")
                if self._version() != SCHEMA:
                    self._make()
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
                self._db = opened.enter_context(_as_it_is(path))
                self._check()
            yield self

    def _version(self) -> int | None:
        """Return the version of the tables (None: there are none yet)."""
        known = self._db.execute("SELECT 1 FROM sqlite_master WHERE name = 'meta'").fetchone()
        version = self.meta("schema") if known else None
        if version is not None and not version.isdigit():
            raise sqlite3.DatabaseError(f"version {version!r}")
        return None if version is None else int(version)

    def _make(self) -> None:
        """Make the tables that are missing, and give older ones what they lack."""
        with self._at_once():
            for name, columns in _TABLES.items():
                self._db.execute(f"CREATE TABLE IF NOT EXISTS {name} ({columns})")
            for name, column in _ADDED.items():
                if _digests(self._db, name) == "NULL":
                    self._db.execute(f"ALTER TABLE {name} ADD COLUMN {column.removeprefix(', ')}")
            version = ("schema", str(SCHEMA))
            self._db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", version)

    def _check(self) -> None:
        """Raise unless this is a ledger, whole, that this driftproof can read, or nothing yet."""
        tables = "SELECT name, sql FROM sqlite_master WHERE type = 'table'"
        made = dict(self._db.execute(tables).fetchall())
        if made and "meta" not in made:
            raise sqlite3.DatabaseError("a SQLite file, but not a ledger")
        version = self._version()
        if version is not None and version > SCHEMA:
            raise DriftproofError(
                f"{self.path} was written by a newer driftproof (ledger version {version})",
                f"version {SCHEMA} or older",
                "upgrade driftproof, or name another --out; the ledger was not touched",
            )
        for name, sql in made.items():
            columns = _TABLES.get(name, "")
            if version in (None, 1):
                columns = columns.removesuffix(_ADDED.get(name, ""))
            if re.sub(r"\s+", " ", sql) != f"CREATE TABLE {name} ({columns})":
                raise sqlite3.DatabaseError(f"its table {name} is not as it was made")
        damage = self._db.execute("PRAGMA integrity_check(1)").fetchone()[0]
        if damage != "ok":
            raise sqlite3.DatabaseError(damage)

    def meta(self, name: str) -> str | None:
        """Return a value kept about the ledger itself."""
        entry = self._db.execute("SELECT value FROM meta WHERE name = ?", (name,)).fetchone()
        return entry[0] if entry else None

    def unit(self, key: str) -> tuple[bytes, float] | None:
        """Return a finished unit and its seconds, or None.

        Raises:
            DriftproofError: it is not as it was written.
        """
        with self._guard():
            columns = f"{_UNIT}, {_digests(self._db, 'units')}"
            query = f"SELECT {columns} FROM units WHERE key = ?"
            entry = self._db.execute(query, (key,)).fetchone()
            if entry is None:
                return None
            blob, seconds, digest = entry
            _as_written(digest, unit_digest(key, blob, seconds), f"its unit {key}")
            return blob, seconds

    def units(self) -> Iterator[Finished]:
        """Yield every finished unit.

        Raises:
            DriftproofError: one is not as it was written.
        """
        with self._guard():
            named = self._db.execute("SELECT 1 FROM sqlite_master WHERE name = 'names'").fetchone()
            query = f"SELECT key, {_UNIT}, {_digests(self._db, 'units')}, " + (
                "coalesce(name, '') FROM units LEFT JOIN names USING (key)"
                if named
                else "'' FROM units"
            )
            for key, blob, seconds, digest, name in self._db.execute(query):
                _as_written(digest, unit_digest(key, blob, seconds), f"its unit {key}")
                yield Finished(key, blob, seconds, name)

    def keep(self, key: str, blob: bytes, seconds: float, name: str = "") -> None:
        """Commit a finished unit.

        Args:
            name: in words, for messages.
        """
        with self._guard(), self._at_once():
            entry = key, seconds, blob, unit_digest(key, blob, seconds)
            self._db.execute("INSERT OR REPLACE INTO units VALUES (?, ?, ?, ?)", entry)
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
        texts, text = [json.dumps(row) for row in rows], json.dumps(head)
        with self._guard(), self._at_once():
            self._db.executemany(
                "INSERT OR REPLACE INTO rows VALUES (?, ?, ?)",
                [(run, k, row) for k, row in enumerate(texts)],
            )
            self._db.execute(
                "UPDATE runs SET done = 1, head = ?, digest = ? WHERE id = ?",
                (text, run_digest(text, texts), run),
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
            runs = f"SELECT id, head, done, {_digests(self._db, 'runs')} AS digest FROM runs"
            newest = self._db.execute(
                f"{runs} WHERE done = 1 OR digest IS NOT NULL ORDER BY id DESC LIMIT 1"
            ).fetchone()
            if newest is None:
                raise DriftproofError(
                    f"{self.path} has no finished run",
                    "at least one",
                    "finish it: driftproof verify --resume with the same --out",
                )
            run, text, done, digest = newest
            query = "SELECT row FROM rows WHERE run = ? ORDER BY position"
            texts = [row for (row,) in self._db.execute(query, (run,))]
            _as_written(digest, run_digest(text, texts) if done == 1 else b"", f"its run {run}")
            try:
                head, judged = json.loads(text), [json.loads(row) for row in texts]
                if not isinstance(head, dict):
                    raise ValueError(f"a head that is {type(head).__name__}")
            except ValueError as error:
                raise sqlite3.DatabaseError(f"a row that is no JSON ({error})") from error
            return head, judged

    def close(self) -> None:
        """Close the file, and let other runs write here."""
        if hasattr(self, "_db"):
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
            "a ledger as driftproof wrote it (it was not changed)",
            f"driftproof salvage {self.path.parent} --out NEW takes all that is whole to a new "
            "folder, where --resume --out NEW goes on",
        )


def _missing(path: Path) -> DriftproofError:
    return DriftproofError(
        f"no ledger at {path}",
        "a folder that driftproof verify or run has written",
        "check the path, or run driftproof verify --out DIR first",
    )


def _digests(ledger: sqlite3.Connection, table: str) -> str:
    """Return the column of a table's digests, as a query can have it: empty in older ledgers."""
    columns = [column for _, column, *_ in ledger.execute(f"PRAGMA table_info({table})")]
    return "digest" if "digest" in columns else "NULL"


def _as_written(kept: bytes | None, computed: bytes, what: str) -> None:
    """Raise if a digest is not the one that was kept (None: of an older driftproof, kept none)."""
    if kept is not None and kept != computed:
        raise sqlite3.DatabaseError(f"{what} is not as it was written")


@contextmanager
def _as_it_is(path: Path) -> Iterator[sqlite3.Connection]:
    """Open a ledger to be read so that no file of its folder changes."""
    log = path.with_name(f"{path.name}-wal")
    with ExitStack() as opened:
        where = f"{path.resolve().as_uri()}?immutable=1"
        # after a kill it has units that are not in the file yet; SQLite moves them
        if log.exists():
            if log.stat().st_size and not path.stat().st_size:
                raise sqlite3.DatabaseError("it is empty, and its log is not")
            copies = Path(opened.enter_context(tempfile.TemporaryDirectory()))
            for file in (path, log):
                shutil.copy(file, copies)
            where = (copies / path.name).as_uri()
        ledger = opened.enter_context(closing(sqlite3.connect(where, uri=True)))
        if log.exists():
            (size,) = ledger.execute("PRAGMA page_size").fetchone()
            _, read, _ = ledger.execute("PRAGMA wal_checkpoint").fetchone()  # of the copy
            if loses_commits(log.read_bytes(), size, max(read, 0)):
                raise sqlite3.DatabaseError(f"{log.name} cannot be read to its end")
        yield ledger


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
