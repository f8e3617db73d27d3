"""In no wheel: `GRACE_CRASH_AT=<point>[:n]` kills this process with SIGKILL at a fault point, for tests.

The n-th time (default: the first) that the point is reached in this process. `none` is a point that is never reached.
Where `GRACE_CRASH_TRACE` names a file, each point that is reached becomes a line of it.
"""

import os
import signal
import threading
from collections import Counter
from functools import cache
from typing import NamedTuple

from packets.effects import EFFECTS
from packets.errors import UsageError

NEVER = "none"
_AT, _TRACE = "GRACE_CRASH_AT", "GRACE_CRASH_TRACE"
_lock = threading.Lock()
_seen: Counter[str] = Counter()


class Wanted(NamedTuple):
    """Where to die: the point, and at which time that it is reached."""

    point: str
    time: int


def points() -> tuple[str, ...]:
    """Name every fault point, in the table's order."""
    return tuple(f"{name}.{side}" for name in EFFECTS for side in ("before", "after"))


def wanted() -> Wanted:
    """Return where the environment wants us to die; raises UsageError, which lists the points."""
    return _parsed(os.environ[_AT])


@cache
def _parsed(text: str) -> Wanted:
    point, _, number = text.partition(":")
    known = points()
    if point not in {*known, NEVER} or (number and not (number.isdecimal() and int(number))):
        raise UsageError(f"{_AT}={text!r} names no fault point", f"POINT or POINT:N, of: {' '.join(known)}")
    return Wanted(point, int(number or 1))


def reached(point: str) -> None:
    """Die here if this is the place."""
    with _lock:
        _seen[point] += 1
        if path := os.environ.get(_TRACE):
            with open(path, "a", encoding="utf-8") as file:  # noqa: PTH123 - once an effect: the quick way
                file.write(point + "\n")
        if wanted() == (point, _seen[point]):
            os.kill(os.getpid(), signal.SIGKILL)
