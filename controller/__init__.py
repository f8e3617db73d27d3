"""The room that decides, remembers and merges.

The five rooms have generic import names. If another folder of the same name shadows one of them, stop here with both
paths rather than run somebody else's code.
"""

import importlib.util
import os

_HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))  # noqa: PTH100, PTH120 - pathlib costs start-up time


def _guard_siblings() -> None:
    for room in ("worker", "reviewer", "sandbox", "packets"):
        spec = importlib.util.find_spec(room)
        origin = spec.origin if spec else None
        wanted = os.path.join(_HERE, room, "__init__.py")  # noqa: PTH118
        if origin is None or os.path.realpath(origin) != os.path.realpath(wanted):
            raise ImportError(f"grace's package {room!r} is shadowed: expected {wanted}, found {origin}")


_guard_siblings()
