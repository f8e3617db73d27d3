"""Processes as the kernel shows them: who descends from whom, what they use, which are ours."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

_PAGE = os.sysconf("SC_PAGE_SIZE")


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


def resident(pids: Iterator[int]) -> tuple[int, int]:
    """Return how many processes live, and the bytes of memory that are theirs alone (shared pages left out)."""
    count = total = 0
    for pid in pids:
        try:
            fields = Path(f"/proc/{pid}/statm").read_text().split()
        except OSError:
            continue
        count += 1
        total += (int(fields[1]) - int(fields[2])) * _PAGE
    return count, total


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
