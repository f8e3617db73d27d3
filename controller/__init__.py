"""The room that decides, remembers and merges.

The five rooms have generic import names. If another folder of the same name shadows one of them, stop here with both
paths rather than run somebody else's code.
"""

import os
import sys

_HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))  # noqa: PTH100, PTH120 - pathlib costs start-up time


def _guard_siblings() -> None:
    """Look where `import` would look first; importlib.util would answer the same, 5 ms later."""
    for room in ("worker", "reviewer", "sandbox", "packets"):
        found = next(filter(None, (_package(entry or os.curdir, room) for entry in sys.path)), "nothing")
        wanted = os.path.join(_HERE, room)  # noqa: PTH118
        if os.path.realpath(found) != os.path.realpath(wanted):
            raise ImportError(f"grace's package {room!r} is shadowed: expected {wanted}, found {found}")


def _package(folder: str, room: str) -> str | None:
    """Return what `import room` would take from this folder; one without `__init__.py` waits behind real packages."""
    path = os.path.join(os.path.abspath(folder), room)  # noqa: PTH100, PTH118
    is_there = os.path.isfile(os.path.join(path, "__init__.py")) or os.path.isfile(path + ".py")  # noqa: PTH113, PTH118
    return path if is_there else None


_guard_siblings()
