"""A job's output on our side: bounded on disk and in memory, whatever is printed; the tail is what is kept."""

import shutil
from pathlib import Path
from types import TracebackType
from typing import IO, Self

from sandbox.effect import effect

LIMIT = 16 << 20
"""Bytes of output that are kept of one job."""

_CHUNK = 1 << 20


class BoundedLog:
    """Write to `path`, keeping the last `limit` bytes; a first line says so when something went.

    Holds two halves on disk (`NAME.part`, `NAME.old`) and joins them on close, so memory stays constant.
    """

    def __init__(self, path: Path, limit: int = LIMIT) -> None:
        self._path = path
        self._limit = limit
        self._part = path.with_name(path.name + ".part")
        self._old = path.with_name(path.name + ".old")
        path.parent.mkdir(parents=True, exist_ok=True)
        self._old.unlink(missing_ok=True)
        self._file: IO[bytes] = self._part.open("wb")
        self._size = 0
        self._dropped = 0
        self.cut_before = False
        """Set it when the source had lost its beginning already."""

    def write(self, data: bytes) -> None:
        """Append."""
        if self._size + len(data) > self._limit:
            self._turn()
        if len(data) > self._limit:
            self._dropped += len(data) - self._limit
            data = data[-self._limit :]
        self._file.write(data)
        self._size += len(data)

    def close(self) -> None:
        """Put the file in place; doing it twice is fine."""
        if self._file.closed:
            return
        self._file.close()
        with effect("log.keep"):
            if self._old.exists() or self.cut_before:
                self._join()
            self._part.replace(self._path)
            self._old.unlink(missing_ok=True)

    def _turn(self) -> None:
        self._file.close()
        if self._old.exists():
            self._dropped += self._old.stat().st_size
        self._part.replace(self._old)
        self._file = self._part.open("wb")
        self._size = 0

    def _join(self) -> None:
        self._old.touch()
        skip = max(0, self._old.stat().st_size + self._size - self._limit)
        joined = self._path.with_name(self._path.name + ".joined")
        with joined.open("wb") as out, self._old.open("rb") as first, self._part.open("rb") as second:
            if self._dropped + skip or self.cut_before:
                least = "at least " if self.cut_before else ""
                out.write(f"grace: {least}the first {self._dropped + skip} bytes of output were dropped\n".encode())
            first.seek(skip)
            shutil.copyfileobj(first, out, _CHUNK)
            shutil.copyfileobj(second, out, _CHUNK)
        joined.replace(self._part)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
