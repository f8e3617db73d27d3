"""One SQLite file, opened with care: write-ahead log, full sync, a lock that readers never feel."""

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from controller.store.schema import APPLICATION, TABLES, VERSION
from packets.errors import Damaged, GraceError, MachineLacks, UsageError
from sandbox.effect import effect


class NoRuns(UsageError):  # noqa: N818 - reads as what it says
    """There is no database yet, or one that is being made at this moment."""

    def __init__(self) -> None:
        super().__init__("this repository has no grace runs yet", "start one with: grace run plan.yaml")


class Lost(NoRuns):
    """There were runs here, and what is remembered of them is gone: deleted, moved away, emptied."""

    exit_code = 3

    def __init__(self, path: Path) -> None:
        GraceError.__init__(
            self,
            f"{path} is {'empty' if path.exists() else 'gone'}, and runs left folders beside it",
            "put the file back if you can; `grace doctor` names what is left and says how to go on",
        )


def no_runs(path: Path) -> NoRuns:
    """Return why there is no run: none was ever begun, or the file is gone."""
    return Lost(path) if any(path.parent.glob("runs/*/lock")) else NoRuns()


class Database:
    """A connection that threads share under a lock. Writers take turns; readers see the last committed state."""

    def __init__(self, path: Path, *, create: bool = False) -> None:
        self.path = path
        self._lock = threading.RLock()
        self._mute: MachineLacks | None = None  # why nothing can be written, known from the beginning
        if not create and not path.exists():
            raise no_runs(path)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._open(path, create=create)
        except (sqlite3.Error, OSError) as fault:
            self._mute = _unusable(path, fault)
            if create or isinstance(self._mute, Damaged) or not _is_whole(path):
                raise self._mute from fault
            self._open_mute(path)

    def _open(self, path: Path, *, create: bool, how: str = "") -> None:
        name, uri = (f"{path.absolute().as_uri()}?{how}", True) if how else (str(path), False)
        self._db = sqlite3.connect(name, uri=uri, isolation_level=None, check_same_thread=False, timeout=30)
        try:
            self._prepare(create=create)
        except BaseException:
            self._db.close()
            raise

    def _open_mute(self, path: Path) -> None:
        """Read where SQLite cannot make its side files: on a full disk, a read-only medium, in another's folder."""
        try:
            self._open(path, create=False, how="immutable=1")
        except sqlite3.Error as fault:
            raise self._mute or _unusable(path, fault) from fault

    def _prepare(self, *, create: bool) -> None:
        self._db.row_factory = sqlite3.Row
        self._db.execute("PRAGMA busy_timeout=30000")
        version, application = self._pragma("user_version"), self._pragma("application_id")
        tables = self._db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        if application != APPLICATION and (tables or version or application):
            raise UsageError(f"{self.path} is a database, but not grace's", "move the file away")
        if version > VERSION:
            raise MachineLacks(f"{self.path} was written by a newer grace (format {version})", "upgrade grace")
        if create and version < VERSION:
            with effect("state.create"):
                self._db.execute(
                    f"PRAGMA application_id={APPLICATION}"
                )  # first: a crash in the middle is told from a foreign file
                self._db.execute("PRAGMA journal_mode=WAL")
                self._db.executescript(TABLES)
                self._db.execute(f"PRAGMA user_version={VERSION}")
        elif version == 0:
            raise no_runs(self.path)
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
            with suppress(sqlite3.Error):  # SQLite rolls back by itself what a disk cut off
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


def _is_whole(path: Path) -> bool:
    """Say whether all that was committed is in the file itself, and none of it in a log beside it."""
    try:
        return path.with_name(f"{path.name}-wal").stat().st_size == 0
    except FileNotFoundError:
        return True
    except OSError:
        return False


def _unusable(path: Path, fault: Exception) -> MachineLacks:
    """Say what is wrong with the file: no room, no permission, damaged, held by another for very long."""
    from sandbox.faults import machine  # only who is in trouble pays for it

    hint = "refs under refs/grace and the packets in .grace stay usable; `grace doctor` says how to recover"
    return machine(fault, path) or Damaged(f"cannot use {path}: {fault}", hint)
