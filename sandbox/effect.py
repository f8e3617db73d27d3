"""Every effect of grace passes here by its name in the table of effects, and can be made the last thing it does.

    with effect("ref.attempt"):
        git.update_ref(…)

The table (`packets/effects.py`) says how the effect is undone; an irreversible one is impossible without the permit of
a stored approval. Each has two fault points, `<name>.before` and `<name>.after` (without an error): where
`GRACE_CRASH_AT` names one, the process dies there (`sandbox/crash.py`, which is in no wheel).
"""

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager

from packets.effects import EFFECTS, Reversal
from packets.errors import NotPermitted
from packets.permit import Permit

CRASH_AT = "GRACE_CRASH_AT"


def effect(name: str, permit: Permit | None = None) -> AbstractContextManager[None]:
    """Stand around one effect. Raises KeyError for a name that the table does not hold, NotPermitted.

    The permit of an irreversible effect is one of its own kind: the subject that was approved begins with the first
    part of the effect's name and a colon (`push:origin`, `hook:…`); a yes to a landing is no yes to a push.
    """
    if EFFECTS[name].reversal is Reversal.IRREVERSIBLE:
        kind = name.partition(".")[0]
        if not isinstance(permit, Permit) or not permit.subject.startswith(f"{kind}:"):
            raise NotPermitted(f"{name} cannot be undone, and nobody approved it", "it needs a granted approval")
    return _between(name)


@contextmanager
def _between(name: str) -> Iterator[None]:
    _reached(f"{name}.before")
    yield
    _reached(f"{name}.after")


def _reached(point: str) -> None:
    if CRASH_AT in os.environ:
        try:
            from sandbox import crash
        except ImportError:  # an installed grace: tests and their builds alone can crash
            return
        crash.reached(point)


def check_crash_point() -> None:
    """Raise UsageError when GRACE_CRASH_AT names no fault point."""
    if CRASH_AT in os.environ:
        try:
            from sandbox import crash
        except ImportError:
            return
        crash.wanted()
