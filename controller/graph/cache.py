"""Facts on disk, by blob sha and extractor version. Losing them costs time, never an answer."""

import contextlib
import sqlite3
from collections.abc import Mapping, Sequence
from pathlib import Path

from controller.graph.facts import FileFacts, pack, unpack

_CHUNK = 500
"""Keys of one question: SQLite bounds the number of parameters."""

_PATIENCE = 0.5
"""Seconds to wait for another process; then we do without."""


class FactsCache:
    """A table in SQLite, opened for each use. Broken, locked, read-only or absent: it holds nothing."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def get(self, blobs: Sequence[str], version: str) -> dict[str, FileFacts]:
        """Return the facts that are known."""
        found: dict[str, FileFacts] = {}
        try:
            with contextlib.closing(self._connect()) as table:
                for start in range(0, len(blobs), _CHUNK):
                    self._some(table, blobs[start : start + _CHUNK], version, found)
        except (sqlite3.Error, OSError) as fault:
            self._forget(fault)
        return found

    def put(self, new: Mapping[str, FileFacts], version: str) -> None:
        """Keep facts; another process may have kept the same."""
        rows = [(blob, version, pack(found)) for blob, found in new.items()]
        try:
            with contextlib.closing(self._connect()) as table, table:
                table.executemany("INSERT OR IGNORE INTO facts VALUES (?, ?, ?)", rows)
        except (sqlite3.Error, OSError) as fault:
            self._forget(fault)

    def _some(self, table: sqlite3.Connection, blobs: Sequence[str], version: str, into: dict[str, FileFacts]) -> None:
        marks = ",".join("?" * len(blobs))
        rows = table.execute(
            f"SELECT blob, data FROM facts WHERE version = ? AND blob IN ({marks})",  # noqa: S608 - question marks only
            (version, *blobs),
        )
        for blob, data in rows:
            with contextlib.suppress(ValueError, TypeError, KeyError, AttributeError):
                into[blob] = unpack(data)

    def _connect(self) -> sqlite3.Connection:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        table = sqlite3.connect(self.path, timeout=_PATIENCE)
        try:
            table.execute("PRAGMA journal_mode = WAL")
            table.execute("PRAGMA synchronous = OFF")
            table.execute(
                "CREATE TABLE IF NOT EXISTS facts"
                " (blob TEXT, version TEXT, data TEXT, PRIMARY KEY (blob, version)) WITHOUT ROWID"
            )
        except BaseException:
            table.close()
            raise
        return table

    def _forget(self, fault: Exception) -> None:
        """Drop a file that is no database, so that the next use starts anew; a lock is left alone."""
        if isinstance(fault, sqlite3.DatabaseError) and not isinstance(fault, sqlite3.OperationalError):
            with contextlib.suppress(OSError):
                self.path.unlink()
