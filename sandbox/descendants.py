"""Processes as the kernel shows them: who descends from whom, what they use, which are ours."""

import os
from collections.abc import Iterator
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
    found: dict[str, list[int]] = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                title = (folder / "cmdline").read_bytes().split(b"\0")[0].decode(errors="replace")
            except OSError:
                continue
            if title.startswith(start):
                found.setdefault(title, []).append(int(folder.name))
    return found
