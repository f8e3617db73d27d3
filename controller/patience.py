"""Patience with an engine that went away for a moment: the step is done again, later and later."""

import time
from collections.abc import Callable
from typing import TypeVar

from controller.engine import Steps
from packets.errors import EngineLost

T = TypeVar("T")

PAUSES = (1.0, 2.0, 4.0, 8.0, 16.0)
"""Seconds before each further try; after the last one it is a matter for a person."""
_LOOK = 0.1  # seconds between two looks whether the step is still wanted


def patient(step: Steps, unwanted: Callable[[], bool]) -> Steps:
    """Return `step` with its work tried again after EngineLost; every step can be cut off and done again."""

    def tried(name: str, work: Callable[[], T]) -> T:
        return step(name, lambda: _tried(work, unwanted))

    return tried


def _tried(work: Callable[[], T], unwanted: Callable[[], bool]) -> T:
    for pause in PAUSES:
        try:
            return work()
        except EngineLost:
            if not _waited(pause, unwanted):
                raise
    return work()


def _waited(pause: float, unwanted: Callable[[], bool]) -> bool:
    until = time.monotonic() + pause
    while time.monotonic() < until:
        if unwanted():
            return False
        time.sleep(_LOOK)
    return True
