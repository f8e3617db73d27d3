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
        places = (os.path.join(entry or os.curdir, room) for entry in sys.path)  # noqa: PTH118
        found = next((p for p in places if os.path.isdir(p) or os.path.isfile(p + ".py")), "nothing")  # noqa: PTH112, PTH113
        wanted = os.path.join(_HERE, room)  # noqa: PTH118
        if os.path.realpath(found) != os.path.realpath(wanted):
            raise ImportError(f"grace's package {room!r} is shadowed: expected {wanted}, found {found}")


_guard_siblings()
