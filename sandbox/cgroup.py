"""Memory, processor and process limits by control groups, where this user may write them (both versions)."""

import contextlib
import os
import time
from collections.abc import Mapping
from pathlib import Path

from packets.limits import Limits

CONTROLLERS = ("memory", "pids", "cpu")
_PREFIX = "grace."
_PERIOD = 100_000  # microseconds: the kernel's own default for a share of a processor
_ROOT = Path("/sys/fs/cgroup")
_PATIENCE = 5.0


class Cgroups:
    """Where groups can be made: controller to folder. `unified` is version 2, where all are one folder."""

    def __init__(self, parents: Mapping[str, Path], *, unified: bool) -> None:
        self._parents = parents
        self._unified = unified

    @classmethod
    def find(cls) -> "Cgroups":
        """Look for folders that can be written; has no controllers when there are none."""
        if (_ROOT / "cgroup.controllers").exists():
            for parent in _unified_candidates():
                found = _unified(parent)
                if found:
                    return cls(dict.fromkeys(found, parent), unified=True)
            return cls({}, unified=True)
        return cls({name: folder for name in CONTROLLERS if (folder := _legacy(name))}, unified=False)

    @property
    def controllers(self) -> frozenset[str]:
        """What can be enforced."""
        return frozenset(self._parents)

    def make(self, run_id: str, name: str, limits: Limits) -> "Group":
        """Make a job's group with its limits. Raises OSError."""
        folders = {key: parent / f"{_PREFIX}{run_id}~{name}" for key, parent in self._parents.items()}
        group = Group(folders)
        group.close()
        for folder in set(folders.values()):
            folder.mkdir()
        try:
            self._limit(folders, limits)
        except OSError:
            group.close()
            raise
        return group

    def _limit(self, folders: Mapping[str, Path], limits: Limits) -> None:
        quota = max(1000, int(limits.cpus * _PERIOD))
        if self._unified:
            wanted: dict[str, list[tuple[str, object]]] = {
                "memory": [("memory.max", limits.memory), ("memory.swap.max", 0), ("memory.oom.group", 1)],
                "pids": [("pids.max", limits.pids)],
                "cpu": [("cpu.max", f"{quota} {_PERIOD}")],
            }
        else:
            wanted = {
                "memory": [("memory.limit_in_bytes", limits.memory), ("memory.memsw.limit_in_bytes", limits.memory)],
                "pids": [("pids.max", limits.pids)],
                "cpu": [("cpu.cfs_period_us", _PERIOD), ("cpu.cfs_quota_us", quota)],
            }
        for key, folder in folders.items():
            for file, value in wanted[key]:
                path = folder / file
                # swap accounting and group kills are options of the kernel; the limit itself is not
                if path.exists() or file in {"memory.max", "memory.limit_in_bytes", "pids.max"}:
                    path.write_text(str(value))

    def names(self, run_id: str) -> tuple[str, ...]:
        """Name the jobs of the run that still have a group."""
        start = f"{_PREFIX}{run_id}~"
        found = {path.name[len(start) :] for parent in set(self._parents.values()) for path in parent.glob(f"{start}*")}
        return tuple(sorted(found))

    def discard(self, name: str) -> None:
        """Kill and remove every group of that job's name."""
        found: dict[str, Path] = {}
        for parent in set(self._parents.values()):
            found |= {str(path): path for path in parent.glob(f"{_PREFIX}*~{name}")}
        Group(found).close()


class Group:
    """One job's group: `add` the first process, read what happened, `close` when done."""

    def __init__(self, folders: Mapping[str, Path]) -> None:
        self._folders = folders

    def add(self, pid: int) -> None:
        """Move a process in; its children are born inside. Raises OSError."""
        for folder in set(self._folders.values()):
            (folder / "cgroup.procs").write_text(str(pid))

    def pids_hits(self) -> int | None:
        """How often a process was refused."""
        return self._counter("pids", "pids.events", "max")

    def oom_kills(self) -> int | None:
        """How many processes were killed for want of memory."""
        found = self._counter("memory", "memory.events", "oom_kill")
        return found if found is not None else self._counter("memory", "memory.oom_control", "oom_kill")

    def close(self) -> None:
        """Kill what is inside and remove the folders; fine when they are gone."""
        for folder in set(self._folders.values()):
            until = time.monotonic() + _PATIENCE
            while folder.exists():
                self._kill(folder)
                try:
                    folder.rmdir()
                except FileNotFoundError:
                    break
                except OSError:
                    if time.monotonic() > until:
                        break
                    time.sleep(0.01)

    @staticmethod
    def _kill(folder: Path) -> None:
        with contextlib.suppress(OSError):
            for pid in (folder / "cgroup.procs").read_text().split():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(int(pid), 9)

    def _counter(self, controller: str, file: str, key: str) -> int | None:
        folder = self._folders.get(controller)
        if folder is None:
            return None
        try:
            lines = (folder / file).read_text().splitlines()
        except OSError:
            return None
        return next((int(line.split()[1]) for line in lines if line.split()[:1] == [key]), None)


def _own(controller: str) -> str:
    """Return the path of our own group; empty string for version 2's line."""
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        if controller in controllers.split(","):
            return path.lstrip("/")
    return ""


def _unified_candidates() -> tuple[Path, ...]:
    own = _ROOT / _own("")
    uid = os.getuid()
    delegated = _ROOT / f"user.slice/user-{uid}.slice/user@{uid}.service"
    return (_ROOT, delegated) if uid == 0 else (delegated, own)


def _unified(parent: Path) -> frozenset[str]:
    """Enable the controllers for children of `parent`; returns those that are."""
    for name in CONTROLLERS:
        with contextlib.suppress(OSError):
            (parent / "cgroup.subtree_control").write_text(f"+{name}")
    try:
        enabled = (parent / "cgroup.subtree_control").read_text().split()
    except OSError:
        return frozenset()
    writable = os.access(parent, os.W_OK) and os.access(parent / "cgroup.procs", os.W_OK)
    return frozenset(enabled) & frozenset(CONTROLLERS) if writable else frozenset()


def _legacy(controller: str) -> Path | None:
    """Return the top of the hierarchy, where every later process finds what a dead one left; else our own group."""
    for folder in (_ROOT / controller, _ROOT / controller / _own(controller)):
        if folder.is_dir() and os.access(folder, os.W_OK):
            return folder
    return None
