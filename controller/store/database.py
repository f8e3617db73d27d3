"""One SQLite file, opened with care: write-ahead log, full sync, a lock that readers never feel."""

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from controller.store.schema import APPLICATION, TABLES, VERSION
from packets.errors import MachineLacks, UsageError
from sandbox.effect import effect


class NoRuns(UsageError):  # noqa: N818 - reads as what it says
    """There is no database yet, or one that is being made at this moment."""

    def __init__(self) -> None:
        super().__init__("this repository has no grace runs yet", "start one with: grace run plan.yaml")


class Database:
    """A connection that threads share under a lock. Writers take turns; readers see the last committed state."""

    def __init__(self, path: Path, *, create: bool = False) -> None:
        self.path = path
        self._lock = threading.RLock()
        if not create and not path.exists():
            raise NoRuns
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._db = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=30)
        except (sqlite3.Error, OSError) as fault:
            raise _unusable(path, fault) from fault
        try:
            self._prepare(create=create)
        except sqlite3.Error as fault:
            self._db.close()
            raise _unusable(path, fault) from fault
        except BaseException:
            self._db.close()
            raise

    def _prepare(self, *, create: bool) -> None:
        self._db.row_factory = sqlite3.Row
        self._db.execute("PRAGMA busy_timeout=30000")
        version, application = self._pragma("user_version"), self._pragma("application_id")
        tables = self._db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        if application != APPLICATION and (tables or version or application):
            raise UsageError(f"{self.path} is a database, but not grace's", "move the file away")
        if version > VERSION:
            raise UsageError(f"{self.path} was written by a newer grace (format {version})", "upgrade grace")
        if create and version < VERSION:
            with effect("state.create"):
                self._db.execute(
                    f"PRAGMA application_id={APPLICATION}"
                )  # first: a crash in the middle is told from a foreign file
                self._db.execute("PRAGMA journal_mode=WAL")
                self._db.executescript(TABLES)
                self._db.execute(f"PRAGMA user_version={VERSION}")
        elif version == 0:
            raise NoRuns
        self._db.execute("PRAGMA synchronous=FULL")  # of this connection, not of the file

    def _pragma(self, name: str) -> int:
        return int(self._db.execute(f"PRAGMA {name}").fetchone()[0])

    def close(self) -> None:
        """Close the connection."""
        with self._lock:
            self._db.close()

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """All of it or nothing; raises MachineLacks where the disk says no."""
        with self._lock, effect("state.write"):
            try:
                self._db.execute("BEGIN IMMEDIATE")
            except sqlite3.Error as fault:
                raise _unusable(self.path, fault) from fault
            try:
                yield self._db
                self._db.execute("COMMIT")
            except sqlite3.DatabaseError as fault:
                self._rollback()
                raise _unusable(self.path, fault) from fault
            except BaseException:
                self._rollback()
                raise

    def _rollback(self) -> None:
        if self._db.in_transaction:
            self._db.execute("ROLLBACK")

    def rows(self, sql: str, *args: Any) -> list[sqlite3.Row]:
        """Return the rows of a reading statement."""
        with self._lock:
            try:
                return self._db.execute(sql, args).fetchall()
            except sqlite3.DatabaseError as fault:
                raise _unusable(self.path, fault) from fault

    def row(self, sql: str, *args: Any) -> sqlite3.Row | None:
        """Return the first row or None."""
        found = self.rows(sql, *args)
        return found[0] if found else None


def _unusable(path: Path, fault: Exception) -> MachineLacks:
    return MachineLacks(
        f"cannot use {path}: {fault}",
        "refs under refs/grace and the packets in .grace stay usable; free disk space or move the file away",
    )
