"""What cannot be removed at a run's end: tried again, then named with the commands that finish it; the rest goes on."""

import errno
import os
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from controller.patience import insist
from packets.errors import GraceError, Transient

_LOCK = re.compile(r"'(/[^'\n]+\.lock)': File exists")


class Leftover(NamedTuple):
    """One thing that stays, `kind` sandbox, folder or ref: its name, why, and the exact commands that remove it."""

    kind: str
    what: str
    why: str
    commands: tuple[str, ...]

    def lines(self) -> list[str]:
        """Say it to people."""
        return [f"left over: {self.what}: {self.why}; by hand:", *(f"  {command}" for command in self.commands)]


class Tidying:
    """Removes one thing after the other, each with patience; a kind that outlasted it once gets none again."""

    def __init__(self, tell: Callable[[str], object]) -> None:
        self.left: list[Leftover] = []
        self._tell = tell
        self._hopeless: set[str] = set()

    def remove(
        self, kind: str, what: str, work: Callable[[], object], by_hand: Callable[[Exception], tuple[str, ...]]
    ) -> bool:  # fmt: skip
        """Do it, or note what stays and why; says whether it is done."""
        try:
            insist(work, lambda: kind in self._hopeless, self._tell)
        except (GraceError, OSError) as fault:
            if isinstance(fault, Transient):
                self._hopeless.add(kind)
            self.left.append(Leftover(kind, what, str(fault), by_hand(fault)))
            return False
        return True


def unlocking(fault: Exception) -> tuple[str, ...]:
    """Return the command that takes a lock away which no git holds any more, where the fault names one."""
    lock = _LOCK.search(str(fault))
    return (f"rm -f {shlex.quote(lock[1])}",) if lock else ()


def removing(folder: Path) -> Callable[[Exception], tuple[str, ...]]:
    """Return what says the commands that remove a folder, after the fault that kept it."""
    quoted = shlex.quote(str(folder))

    def commands(fault: Exception) -> tuple[str, ...]:
        number = getattr(fault, "errno", None) or getattr(fault.__cause__, "errno", None)
        if number == errno.EBUSY:
            return (*(f"umount {shlex.quote(spot)}" for spot in _mounted(folder)), f"rm -rf {quoted}")
        if number in {errno.EPERM, errno.EACCES}:
            return (f"chattr -R -i {quoted}", f"rm -rf {quoted}") if os.geteuid() == 0 else (f"sudo rm -rf {quoted}",)
        return (f"rm -rf {quoted}",)

    return commands


def _mounted(folder: Path) -> list[str]:
    """Return what is mounted below the folder, the innermost first."""
    try:
        lines = Path("/proc/self/mounts").read_text("utf-8", "surrogateescape").splitlines()
    except OSError:
        return []
    spots = [line.split(" ")[1].replace("\\040", " ") for line in lines]
    return sorted((spot for spot in spots if Path(spot).is_relative_to(folder)), key=len, reverse=True)
