"""What is known of a repository, in one SQLite file: facts by blob, and graphs by tree.

Broken, locked, read-only, of another version, or gone: it holds nothing, and that costs time, never an answer. Whoever
writes first wins; what is stored never changes, so two processes that write the same do no harm.
"""

import contextlib
import os
import sqlite3
import threading
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from controller.graph.facts import FileFacts, pack, unpack

_SCHEMA = 3
"""Raised when the tables change: a file with other tables is emptied."""

_TABLES = (
    "CREATE TABLE facts (blob TEXT, version TEXT, surface TEXT, rest TEXT, PRIMARY KEY (blob, version)) WITHOUT ROWID",
    "CREATE TABLE chunk (key BLOB PRIMARY KEY, data TEXT) WITHOUT ROWID",
    "CREATE TABLE tree (sha TEXT, version TEXT, used INTEGER, data BLOB, PRIMARY KEY (sha, version))",
)

_CHUNK = 500
"""Keys of one question: SQLite bounds the number of parameters."""

_PATIENCE = 0.5
"""Seconds to wait for another process; then we do without."""

_T = TypeVar("_T")


class Bounds(NamedTuple):
    """How much is kept: trees, and bytes of the file. What was used longest ago goes first."""

    trees: int = 48
    size: int = 1 << 30


class Cache:
    """The file. One connection, opened at first use and again when another file took its place. Safe for threads."""

    def __init__(self, path: Path, bounds: Bounds = Bounds()) -> None:  # noqa: B008 - a frozen value
        self.path = path
        self.bounds = bounds
        self._lock = threading.RLock()
        self._open: list[sqlite3.Connection] = []
        self._inode = 0
        self._finalizer = weakref.finalize(self, _close, self._open)

    def close(self) -> None:
        """Close the file; a later question opens it again."""
        with self._lock:
            _close(self._open)

    # --- facts

    def facts(self, blobs: Sequence[str], version: str, *, whole: bool = True) -> dict[str, FileFacts]:
        """Return the facts that are known. Without `whole` the only references are those to bases of classes."""
        select = "SELECT blob, surface, rest FROM facts" if whole else "SELECT blob, surface, '' FROM facts"
        found: dict[str, FileFacts] = {}
        for blob, surface, rest in self._rows(f"{select} WHERE version = ?", "blob", blobs, version):
            with contextlib.suppress(ValueError, TypeError, KeyError, AttributeError):
                found[blob] = unpack(surface, rest)
        return found

    def put_facts(self, new: Mapping[str, FileFacts], version: str) -> None:
        """Keep facts; another process may have kept the same."""
        self.put_packed(((blob, *pack(found)) for blob, found in new.items()), version)

    def put_packed(self, new: Iterable[tuple[str, str, str]], version: str) -> None:
        """Keep facts as `pack` wrote them: (blob, surface, rest)."""
        rows = [(blob, version, surface, rest) for blob, surface, rest in new]

        def write(table: sqlite3.Connection) -> None:
            table.executemany("INSERT OR REPLACE INTO facts VALUES (?, ?, ?, ?)", rows)

        if rows:
            self._try(write)

    # --- graphs

    def chunks(self, keys: Sequence[bytes]) -> dict[bytes, str]:
        """Return the pieces that are there."""
        rows = self._rows("SELECT key, data FROM chunk WHERE 1 = ?", "key", keys, 1)
        return {bytes(row[0]): str(row[1]) for row in rows}

    def put_chunks(self, pieces: Mapping[bytes, str]) -> bool:
        """Keep pieces; tell whether they lie there now."""

        def write(table: sqlite3.Connection) -> bool:
            table.executemany("INSERT OR IGNORE INTO chunk VALUES (?, ?)", pieces.items())
            return True

        return bool(self._try(write))

    def tree(self, sha: str, version: str) -> bytes | None:
        """Return what was kept of a tree."""

        def read(table: sqlite3.Connection) -> bytes | None:
            row = table.execute("SELECT data FROM tree WHERE sha = ? AND version = ?", (sha, version)).fetchone()
            return row[0] if row and isinstance(row[0], bytes) else None

        return self._try(read)

    def trees(self, version: str) -> list[str]:
        """Return the trees that are kept, the one used last first."""

        def read(table: sqlite3.Connection) -> list[str]:
            rows = table.execute("SELECT sha FROM tree WHERE version = ? ORDER BY used DESC", (version,))
            return [str(row[0]) for row in rows]

        return self._try(read) or []

    def keep(self, sha: str, version: str, data: bytes, pieces: Mapping[bytes, str]) -> bool:
        """Keep a tree and its pieces; tell whether they lie there now."""

        def write(table: sqlite3.Connection) -> bool:
            table.executemany("INSERT OR IGNORE INTO chunk VALUES (?, ?)", pieces.items())
            last = "(SELECT coalesce(max(used), 0) + 1 FROM tree)"
            table.execute(f"INSERT OR REPLACE INTO tree VALUES (?, ?, {last}, ?)", (sha, version, data))  # noqa: S608
            return True

        return bool(self._try(write))

    def crowded(self) -> bool:
        """Tell whether it is time to drop trees."""

        def read(table: sqlite3.Connection) -> bool:
            (count,) = table.execute("SELECT count(*) FROM tree").fetchone()
            return count >= 2 * self.bounds.trees or _size(table) > self.bounds.size

        return bool(self._try(read))

    def drop(self, reach: Callable[[bytes], Iterable[bytes]], blobs: Callable[[], Iterable[str]]) -> None:
        """Drop the trees used longest ago and what only they needed.

        `reach` gives the pieces of a tree by its data; facts go where the file is still too large without them, but
        for those of `blobs`. What goes is decided and done in one transaction.
        """

        def write(table: sqlite3.Connection) -> None:
            table.execute("BEGIN IMMEDIATE")
            rows = table.execute("SELECT rowid, data FROM tree ORDER BY used DESC").fetchall()
            kept = rows[: self.bounds.trees if _size(table) <= self.bounds.size else 1]
            table.executemany("DELETE FROM tree WHERE rowid = ?", [(row[0],) for row in rows[len(kept) :]])
            reached = {key for row in kept for key in reach(row[1])}
            gone = [(key,) for (key,) in table.execute("SELECT key FROM chunk") if key not in reached]
            table.executemany("DELETE FROM chunk WHERE key = ?", gone)
            if _size(table) > self.bounds.size:
                used = set(blobs())
                old = [(blob,) for (blob,) in table.execute("SELECT DISTINCT blob FROM facts") if blob not in used]
                table.executemany("DELETE FROM facts WHERE blob = ?", old)

        self._try(write)
        with self._lock, contextlib.suppress(sqlite3.Error, OSError):
            table = self._connected()
            if _pages(table) > self.bounds.size:  # below that, free pages are used again
                table.execute("VACUUM")

    # --- the connection

    def _rows(self, select: str, column: str, keys: Sequence[object], first: object) -> Iterator[tuple[Any, ...]]:
        def read(table: sqlite3.Connection) -> list[tuple[Any, ...]]:
            found: list[tuple[Any, ...]] = []
            for start in range(0, len(keys), _CHUNK):
                some = keys[start : start + _CHUNK]
                marks = ",".join("?" * len(some))
                found += table.execute(f"{select} AND {column} IN ({marks})", (first, *some)).fetchall()
            return found

        return iter(self._try(read) or [] if keys else [])

    def _try(self, use: Callable[[sqlite3.Connection], _T]) -> _T | None:
        """Use the file in one transaction; None where that is not possible."""
        with self._lock:
            try:
                table = self._connected()
                with table:
                    return use(table)
            except (sqlite3.Error, OSError) as fault:
                self._forget(fault)
                return None

    def _connected(self) -> sqlite3.Connection:
        try:
            inode = os.stat(self.path).st_ino  # noqa: PTH116 - asked for with every question
        except FileNotFoundError:
            inode = 0
        if self._open and inode == self._inode and inode:
            return self._open[0]
        _close(self._open)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        table = sqlite3.connect(self.path, timeout=_PATIENCE, check_same_thread=False)
        self._open.append(table)
        table.execute("PRAGMA journal_mode = WAL")
        table.execute("PRAGMA synchronous = OFF")
        if table.execute("PRAGMA user_version").fetchone()[0] != _SCHEMA:
            self._create(table)
        self._inode = os.stat(self.path).st_ino  # noqa: PTH116
        return table

    def _create(self, table: sqlite3.Connection) -> None:
        table.execute("BEGIN IMMEDIATE")
        with table:
            if table.execute("PRAGMA user_version").fetchone()[0] == _SCHEMA:
                return  # another process was faster
            names = table.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
            for (name,) in names:
                quoted = str(name).replace('"', '""')
                table.execute(f'DROP TABLE "{quoted}"')
            for statement in _TABLES:
                table.execute(statement)
            table.execute(f"PRAGMA user_version = {_SCHEMA}")

    def _forget(self, fault: Exception) -> None:
        """Drop a file that is no database, so that the next use starts anew; a lock is left alone."""
        _close(self._open)
        if isinstance(fault, sqlite3.DatabaseError) and not isinstance(fault, sqlite3.OperationalError):
            for suffix in ("", "-wal", "-shm"):
                with contextlib.suppress(OSError):
                    os.unlink(f"{self.path}{suffix}")  # noqa: PTH108 - beside the path, not below it


def _size(table: sqlite3.Connection) -> int:
    """Return the bytes in use."""
    free = table.execute("PRAGMA freelist_count").fetchone()[0]
    return _pages(table) - int(free) * int(table.execute("PRAGMA page_size").fetchone()[0])


def _pages(table: sqlite3.Connection) -> int:
    """Return the bytes of the file."""
    return int(table.execute("PRAGMA page_count").fetchone()[0]) * int(table.execute("PRAGMA page_size").fetchone()[0])


def _close(connections: list[sqlite3.Connection]) -> None:
    while connections:
        with contextlib.suppress(sqlite3.Error):
            connections.pop().close()
