"""Processes as the kernel shows them: who descends from whom, what they use, which are ours."""

import os
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

_PAGE = os.sysconf("SC_PAGE_SIZE")
_DEAD = frozenset("ZXx")
_BORN = 19  # the field of /proc/PID/stat, counted from the state
_LOOK = 0.005


class Process(NamedTuple):
    """One process for certain: a number is given again, a number and a birth (in the kernel's ticks) is not."""

    pid: int
    born: int

    @classmethod
    def of(cls, pid: int) -> "Process | None":
        """Return the process that has the number now, unless it is dead."""
        found = _stat(pid)
        return cls(pid, found[1]) if found and found[0] not in _DEAD else None

    @property
    def lives(self) -> bool:
        """Whether it can still do anything. Process 1 of a namespace lives until all others in it are dead."""
        return Process.of(self.pid) == self


def dead(processes: Iterable[Process], seconds: float) -> bool:
    """Wait up to `seconds` until none of them lives; whether that is so."""
    until = time.monotonic() + seconds
    left = [one for one in processes if one.lives]
    while left and time.monotonic() < until:
        time.sleep(_LOOK)
        left = [one for one in left if one.lives]
    return not left


def _stat(pid: int) -> tuple[str, int] | None:
    """Return state and birth."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
    except OSError:
        return None
    return fields[0].decode(), int(fields[_BORN])


def below(pid: int) -> Iterator[int]:
    """Yield the process and all that descend from it."""
    waiting = [pid]
    while waiting:
        one = waiting.pop()
        yield one
        try:
            for task in Path(f"/proc/{one}/task").iterdir():
                waiting += [int(child) for child in (task / "children").read_text().split()]
        except OSError:
            continue


def tasks(pids: Iterable[int]) -> int:
    """Count the threads of the processes, as the kernel's limits do."""
    return sum(len(_listed(f"/proc/{pid}/task")) for pid in pids)


def resident(pids: Iterable[int], limit: int) -> int:
    """Return the bytes of memory that the processes hold; exact only when the quick sum is above `limit`.

    The quick sum counts a page that a fork shares once for each; the exact one (PSS) is slower to read.
    """
    pids = tuple(pids)
    quick = sum(_quick(pid) for pid in pids)
    return quick if quick <= limit else sum(_exact(pid) for pid in pids)


def _quick(pid: int) -> int:
    try:
        fields = Path(f"/proc/{pid}/statm").read_text().split()
    except OSError:
        return 0
    return (int(fields[1]) - int(fields[2])) * _PAGE if len(fields) > 2 else 0  # noqa: PLR2004 - resident, shared


def _exact(pid: int) -> int:
    try:
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024
    except OSError:
        return _quick(pid)
    return 0


def _listed(folder: str) -> list[str]:
    try:
        return os.listdir(folder)  # noqa: PTH208 - names are enough, and this is asked often
    except OSError:
        return []


def titled(start: str) -> dict[str, list[int]]:
    """Return title to processes, of those whose first argument starts with `start`."""
    return _found("cmdline", lambda words: words[0] if words[0].startswith(start) else None)


def marked(start: str) -> dict[str, list[int]]:
    """Return the variable to processes, of those whose environment has one that starts with `start`."""
    return _found("environ", lambda words: next((word for word in words if word.startswith(start)), None))


def _found(file: str, pick: Callable[[list[str]], str | None]) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    folders = Path("/proc").iterdir() if Path("/proc/self").exists() else ()
    for folder in folders:
        if folder.name.isdigit():
            try:
                words = (folder / file).read_bytes().decode(errors="replace").split("\0")
            except OSError:
                continue
            if (match := pick(words)) is not None:
                found.setdefault(match, []).append(int(folder.name))
    return found
