"""The working time of a run: on the monotonic clock, over all its lives. A wall clock that jumps moves no deadline."""

import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from sandbox.effect import effect

_EVERY = 2.0
"""Seconds between two times that it is written down: what a kill can make us forget."""


class WorkingTime:
    """Seconds that a run's controllers worked, kept in a file of the run; without what they waited for a person."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._before = 0.0
        self._began = self._kept = time.monotonic()

    def begin(self, otherwise: Callable[[], float]) -> None:
        """Take up what earlier lives worked: from the file, or as `otherwise` reckons where there is none."""
        try:
            self._before = float(self._path.read_text(encoding="ascii"))
        except (OSError, ValueError):
            self._before = otherwise()
        self._began = self._kept = time.monotonic()

    @property
    def total(self) -> float:
        """Return the seconds so far."""
        return self._before + time.monotonic() - self._began

    def waited(self, seconds: float) -> None:
        """Take out what was spent waiting for a person."""
        self._began += seconds

    def keep(self, *, now: bool = False) -> None:
        """Write it down, every now and then or now; a disk that is full is no reason to stop."""
        if not now and time.monotonic() - self._kept < _EVERY:
            return
        self._kept = time.monotonic()
        fresh = self._path.with_suffix(".new")
        with suppress(OSError), effect("clock.keep"):
            fresh.write_text(f"{self.total:.3f}", encoding="ascii")
            fresh.replace(self._path)
