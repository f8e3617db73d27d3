"""One controller a run: a lock that the kernel releases when its holder dies, and a lease that says who holds it.

The lock (`flock`) decides; the lease is only read. It lies in the locked file, its heartbeat is the file's time of
change, so that a beat takes no room on a full disk. A lease that is empty, half-written, from before a reboot, or
whose process number belongs to somebody else by now says nothing; the lock still holds.
"""

import fcntl
import json
import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple, TextIO

from packets.errors import UsageError
from sandbox.effect import effect

CARRIER = "lock"
"""The lock of the process that carries a run."""
SUPERVISOR = "supervisor.lock"
"""The lock of the process that starts a carrier again when it died."""
BEAT = 2.0  # seconds between two heartbeats
_OLD = 15.0  # seconds; a heartbeat older than this is said, with what to do
_PATIENCE = 2.0  # seconds; who only looks whether the run is held blocks it for a moment
_START_FIELD = 19  # of /proc/PID/stat, counted behind the name: clock ticks from boot to the process's start
_COMMAND = 200  # characters of the command line that are kept


class Held(UsageError):  # noqa: N818 - reads as what it says
    """Another process carries this run."""


class Lease(NamedTuple):
    """Who holds a run, as the file says it; a `pid` of 0 is a holder whose lease cannot be read or is somebody else's.

    `since` and `heartbeat` are UTC; `process` is the process's state in /proc (T: stopped), empty where unknown.
    """

    pid: int
    host: str
    command: str
    since: str
    heartbeat: str
    age: float
    process: str

    def words(self) -> str:
        """Say it in a line, and what to do about a holder that does not answer."""
        if not self.pid:
            return "another process"
        said = f"process {self.pid} on {self.host} since {self.since}"
        if self.process in {"T", "t"}:
            return f"{said}; it is stopped: `kill -CONT {self.pid}` lets it go on, `kill -9 {self.pid}` ends it"
        if self.age > _OLD:
            return (
                f"{said}, last heartbeat {self.age:.0f} s ago; it hangs: `kill {self.pid}` stops it,"
                f" `kill -9 {self.pid}` if it does not hear"
            )
        return f"{said}, last heartbeat {self.age:.0f} s ago"

    def body(self) -> dict[str, Any]:
        """Return it as docs/json.md describes it."""
        known = bool(self.pid)
        return {
            "pid": self.pid or None,
            "host": self.host if known else None,
            "command": self.command if known else None,
            "since": self.since if known else None,
            "heartbeat": self.heartbeat if known else None,
            "stopped": self.process in {"T", "t"},
            "words": self.words(),
        }


@contextmanager
def held(folder: Path, run_id: str, name: str = CARRIER) -> Iterator[None]:
    """Hold the run; raises Held, which says who holds it."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / name).open("a+", encoding="utf-8") as file:
        with effect("lock.take"):
            _take(file, folder, run_id, name)
            _write(file, json.dumps(_ours()))
        ended = threading.Event()
        beats = threading.Thread(target=_beat, args=(file.fileno(), ended), daemon=True, name="heartbeat")
        beats.start()
        try:
            yield
        finally:
            ended.set()
            beats.join()
            _write(file, "")


def _take(file: TextIO, folder: Path, run_id: str, name: str) -> None:
    patience = time.monotonic() + _PATIENCE
    while True:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as fault:
            who = lease(folder, name)
            if (who is None or not who.pid) and time.monotonic() < patience:
                time.sleep(0.01)
                continue
            hint = f"watch it: grace watch {run_id}"
            words = who.words() if who else "another process"
            raise Held(f"run {run_id} is held by {words}", hint) from fault
        return


def _write(file: TextIO, text: str) -> None:
    """Write the lease; a full disk loses only the words, the lock is held all the same."""
    with suppress(OSError):
        os.ftruncate(file.fileno(), 0)
        os.pwrite(file.fileno(), text.encode(), 0)


def _beat(descriptor: int, ended: threading.Event) -> None:
    while not ended.wait(BEAT):
        with suppress(OSError):
            os.utime(descriptor)


def _ours() -> dict[str, Any]:
    return {
        "pid": os.getpid(),
        "host": os.uname().nodename,
        "boot": _boot(),
        "start": _process(os.getpid())[1],
        "command": " ".join(sys.orig_argv)[:_COMMAND],
        "since": _utc(time.time()),
    }


def _utc(moment: float) -> str:
    return datetime.fromtimestamp(moment, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def _boot() -> str:
    """Return what names this boot of the machine; empty where the system has no name for it."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        return ""


def _process(pid: int) -> tuple[str, str]:
    """Return the state and the start of a process, both empty where there is none, or no /proc."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
        return fields[0], fields[_START_FIELD]
    except (OSError, IndexError):
        return "", ""


def lease(folder: Path, name: str = CARRIER) -> Lease | None:
    """Say which live process holds the run, or None."""
    try:
        with (folder / name).open("rb") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except OSError:
                return _said(file.read(), os.fstat(file.fileno()).st_mtime)
            return None
    except OSError:
        return None


def _said(text: bytes, beaten: float) -> Lease:
    """Read the lease of a lock that is held; what is not the holder's own word counts as nothing."""
    nobody = Lease(0, "", "", "", "", 0.0, "")
    try:
        said = json.loads(text)
        pid, host, boot, start = int(said["pid"]), str(said["host"]), said.get("boot"), said.get("start")
    except (ValueError, KeyError, TypeError, AttributeError):
        return nobody
    state = ""
    if host == os.uname().nodename:
        state, began = _process(pid)
        if (boot, start) != (_boot(), began):
            return nobody  # written before a reboot, or by a process whose number another one has now
    age = max(0.0, time.time() - beaten)
    return Lease(pid, host, str(said.get("command", "")), str(said.get("since", "?")), _utc(beaten), age, state)


def holder(folder: Path) -> str | None:
    """Say in words which live process carries the run, or None."""
    found = lease(folder)
    return found.words() if found else None
