"""What is watched while a job runs, alike on every engine: cancel, deadline, disk, processes."""

import os
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from packets.limits import Limits
from packets.outcome import StopReason
from sandbox import descendants
from sandbox.protocol import Job, Mount

TICK = 0.05
"""Seconds between two looks."""

_DISK_EVERY = 0.5  # seconds between two walks, when a walk is cheap
_DISK_SHARE = 20  # a walk may cost a twentieth of the time
_ENTRY = 1024  # what an empty file costs: many of them fill a disk too
_PIDS_PATIENCE = 3.0  # seconds at the limit without a longer pause after which it is a fork bomb
_PIDS_PAUSE = 3.0
_MEMORY_EVERY = 0.2
_OWN = 2  # bubblewrap's own processes
_LAST_WORDS = 65536  # bytes of output in which a refused process is looked for
_REFUSED = (
    b"Cannot fork",
    b"fork: retry: Resource temporarily unavailable",
    b"fork: Resource temporarily unavailable",
    b"BlockingIOError: [Errno 11]",
    b"can't start new thread",
    b"pthread_create failed: Resource temporarily unavailable",
)
"""What shells, Python and others print when they are refused a process."""


class Watch:
    """Tells when a job must be stopped, and why. `began` is on the monotonic clock.

    `disk_before` is what the writable mounts held when the job was started; only growth counts. `pids_hits` reads how
    often the engine refused a process, and None where it cannot be known; `engine_limit` is for what else an engine
    has to watch itself.
    """

    def __init__(
        self,
        job: Job,
        *,
        began: float,
        disk_before: int,
        cancelled: Callable[[], bool],
        pids_hits: Callable[[], int | None] = lambda: None,
        engine_limit: Callable[[], StopReason | None] = lambda: None,
    ) -> None:
        self._job = job
        self._began = began
        self._disk_before = disk_before
        self._cancelled = cancelled
        self._pids_hits = pids_hits
        self._engine_limit = engine_limit
        self._next_walk = began + _DISK_EVERY
        self._hits = 0
        self._rising_since: float | None = None
        self._last_rise = 0.0

    def tripped(self) -> StopReason | None:
        """Look once; None while all is well."""
        now = time.monotonic()
        if self._cancelled():
            return StopReason.CANCELLED
        if now - self._began >= self._job.deadline:
            return StopReason.PIDS if self._rising_since is not None else StopReason.DEADLINE
        if self._bombed(now):
            return StopReason.PIDS
        if now >= self._next_walk and self.disk_full():
            return StopReason.DISK
        return self._engine_limit()

    def disk_full(self) -> bool:
        """Measure the writable mounts now."""
        started = time.monotonic()
        full = usage(self._job.mounts) - self._disk_before >= self._job.limits.disk
        ended = time.monotonic()
        self._next_walk = ended + max(_DISK_EVERY, _DISK_SHARE * (ended - started))
        return full

    def ended_by(self, exit_code: int) -> StopReason:
        """Name the limit behind an end the job came to itself; a job that coped and exited 0 is no victim."""
        self._bombed(time.monotonic())
        if self.disk_full():
            return StopReason.DISK
        if exit_code != 0 and (self._hits or says_refused(self._job.log)):
            return StopReason.PIDS
        return StopReason.EXITED

    @property
    def pids_hit(self) -> int:
        """How often a process was refused, as far as seen."""
        return self._hits

    def _bombed(self, now: float) -> bool:
        hits = self._pids_hits()
        if hits is not None and hits > self._hits:
            self._hits = hits
            self._last_rise = now
            if self._rising_since is None:
                self._rising_since = now
        if self._rising_since is not None and now - self._last_rise > _PIDS_PAUSE:
            self._rising_since = None
        return self._rising_since is not None and now - self._rising_since >= _PIDS_PATIENCE


def says_refused(log: Path) -> bool:
    """Find a refused process in what a job said last: one that dies of it at once is gone before anybody counts."""
    try:
        with log.open("rb") as file:
            file.seek(max(0, log.stat().st_size - _LAST_WORDS))
            words = file.read()
    except OSError:
        return False
    return any(sign in words for sign in _REFUSED)


class Resident:
    """Adds up the memory of a process and its descendants, and counts their threads, where no control group does it.

    More threads than the limit end the job at once; as many as the limit, for some seconds, mean that a limit of the
    kernel holds back a fork bomb.
    """

    def __init__(self, pid: int, limits: Limits) -> None:
        self._pid = pid
        self._limits = limits
        self._next = 0.0
        self._full_since: float | None = None

    def __call__(self) -> StopReason | None:
        """Look, five times a second at most."""
        now = time.monotonic()
        if now < self._next:
            return None
        self._next = now + _MEMORY_EVERY
        pids = tuple(descendants.below(self._pid))
        if descendants.resident(pids, self._limits.memory) > self._limits.memory:
            return StopReason.MEMORY
        return self._crowded(descendants.tasks(pids), now)

    def _crowded(self, tasks: int, now: float) -> StopReason | None:
        if tasks > self._limits.pids + _OWN:
            return StopReason.PIDS
        if tasks < self._limits.pids - _OWN:
            self._full_since = None
        elif self._full_since is None:
            self._full_since = now
        full = self._full_since is not None and now - self._full_since >= _PIDS_PATIENCE
        return StopReason.PIDS if full else None


def usage(mounts: Iterable[Mount]) -> int:
    """Bytes on disk below the writable mounts; links are not followed, what vanishes meanwhile counts nothing."""
    return sum(_tree(mount.source) for mount in mounts if mount.writable)


def _tree(root: Path) -> int:
    total = 0
    folders = [os.fspath(root)]
    while folders:
        try:
            with os.scandir(folders.pop()) as entries:
                for entry in entries:
                    total += _ENTRY + entry.stat(follow_symlinks=False).st_blocks * 512
                    if entry.is_dir(follow_symlinks=False):
                        folders.append(entry.path)
        except OSError:
            continue
    return total
