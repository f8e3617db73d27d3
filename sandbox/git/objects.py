"""Objects of the repository's own store: read through a few living `cat-file --batch` processes, written unfiltered."""

import contextlib
import re
import subprocess
import threading
import weakref
from collections.abc import Iterator, Sequence
from pathlib import Path

from packets.errors import GraceError, Transient
from sandbox.faults import transient
from sandbox.git.process import Runner

_OBJECT_ID = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_IDLE = 2
# A request must fit the smallest pipe Linux gives out, else we and git could wait for each other.
_REQUEST = 4000


def checked(sha: str) -> str:
    """Return `sha` when it is a full object id; raises GraceError, since anything else would be read as a command."""
    if not _OBJECT_ID.fullmatch(sha):
        raise GraceError(f"not an object id: {sha[:80]!r}")
    return sha


class Reader:
    """Blobs by id, from any thread: each caller has a `cat-file` of its own while it reads."""

    def __init__(self, runner: Runner) -> None:
        self._runner = runner
        self._idle: list[subprocess.Popen[bytes]] = []
        self._lock = threading.Lock()
        self._finalizer = weakref.finalize(self, _stop, self._idle)

    def close(self) -> None:
        """End the idle processes; a later read starts a new one."""
        with self._lock:
            idle, self._idle[:] = list(self._idle), []
        _stop(idle)

    def blobs(self, shas: Sequence[str]) -> Iterator[tuple[str, bytes]]:
        """Give each blob in the order asked; raises GraceError for an object that is missing or no blob."""
        size = _REQUEST // (len(shas[0]) + 1) if shas else 1
        for first in range(0, len(shas), size):
            yield from self._some([checked(sha) for sha in shas[first : first + size]])

    def _some(self, shas: list[str]) -> list[tuple[str, bytes]]:
        process = self._take()
        try:
            found = _exchange(process, shas)
        except BaseException:
            _stop([process])
            raise
        with self._lock:
            keep = len(self._idle) < _IDLE
            if keep:
                self._idle.append(process)
        if not keep:
            _stop([process])
        return found

    def _take(self) -> "subprocess.Popen[bytes]":
        with self._lock:
            while self._idle:
                process = self._idle.pop()
                if process.poll() is None:
                    return process
                _stop([process])
        return _reading(self._runner)


def _reading(runner: Runner) -> "subprocess.Popen[bytes]":
    try:
        return subprocess.Popen(
            ["git", "--bare", "cat-file", "--batch"],
            cwd=runner.common,
            env=runner.environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # Ctrl-C is for us; the child ends when its stdin does
        )
    except OSError as fault:
        if known := transient(fault):
            raise known from fault
        raise


def _exchange(process: "subprocess.Popen[bytes]", shas: list[str]) -> list[tuple[str, bytes]]:
    if process.stdin is None or process.stdout is None:
        raise GraceError("git cat-file has no pipes")
    try:
        process.stdin.write("".join(f"{sha}\n" for sha in shas).encode())
        process.stdin.flush()
    except BrokenPipeError as gone:
        raise Transient("git cat-file ended while it was asked", "then: grace resume") from gone
    found = []
    for sha in shas:
        header = process.stdout.readline().split()
        if not header:  # for an object that is missing it says so
            raise Transient("git cat-file ended while it was asked", "then: grace resume")
        if len(header) != 3:  # noqa: PLR2004 - id, type, size
            raise GraceError(
                f"object {sha} is not in the repository", "a shallow or partial clone? git fetch --unshallow"
            )
        data = process.stdout.read(int(header[2]) + 1)
        found.append((sha, data[:-1], header[1]))
    if wrong := next((sha for sha, _, kind in found if kind != b"blob"), None):
        raise GraceError(f"object {wrong} is not a file's content")
    return [(sha, data) for sha, data, _ in found]


def _stop(processes: "list[subprocess.Popen[bytes]]") -> None:
    for process in processes:
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):  # it may have died with a request in the pipe
                    pipe.close()
        process.wait()


def write_blob(runner: Runner, data: bytes) -> str:
    """Write one blob and return its id."""
    return runner.line("hash-object", "-w", "--no-filters", "--stdin", stdin=data)


def write_blobs(runner: Runner, sources: Sequence[bytes | Path]) -> list[str]:
    """Write many blobs in one process and return their ids, in order. Files must be ours: they are read by name."""
    if not sources:
        return []
    from sandbox.scratch import scratch  # only who writes pays for it

    with scratch("blobs") as spool:
        names = [_spooled(spool, number, source) for number, source in enumerate(sources)]
        asked = "".join(f"{name}\n" for name in names).encode("utf-8", "surrogateescape")
        ids = runner.run("hash-object", "-w", "--no-filters", "--stdin-paths", stdin=asked).decode().split()
    if len(ids) != len(sources):
        raise GraceError(f"git hash-object wrote {len(ids)} of {len(sources)} files")
    return ids


def _spooled(spool: Path, number: int, source: bytes | Path) -> Path:
    # hash-object reads names line by line: a path that it could misread is reached through a link of a plain name.
    spot = spool / str(number)
    if isinstance(source, bytes):
        spot.write_bytes(source)
        return spot
    spot.symlink_to(source.absolute())
    return spot
