"""Stopping workers at once, also while the state is locked by somebody who writes.

A pause and a cancel are stored before they count, and storing can take as long as others write. So who says one holds a
mark beside the run meanwhile, and workers that see it stop; what the stop means, the stored word says. The mark is a
lock, which the kernel takes away when its holder dies: a command that was killed half way stops nobody for longer.
"""

import fcntl
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from controller.lock import lease
from controller.store.store import Store
from packets.events import Event

_MARK = "stop"
_LOOK = 0.02  # seconds between two looks whether the word was taken in
_PATIENCE = 2.0  # seconds to wait for that


def told_to_stop(folder: Path) -> bool:
    """Say whether somebody holds the mark."""
    try:
        with (folder / _MARK).open("rb") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)  # shared: many look at once
            except BlockingIOError:
                return True
            return False
    except OSError:
        return False


def stop(folder: Path, store: Store, run_id: str, word: Event) -> None:
    """Have what runs stopped, and leave the word that says why for the run's controller."""
    with _marked(folder):
        row = store.post(run_id, word)
        until = time.monotonic() + _PATIENCE
        while time.monotonic() < until and lease(folder) and row in {r for r, _ in store.unread(run_id)}:
            time.sleep(_LOOK)


@contextmanager
def _marked(folder: Path) -> Iterator[None]:
    """Hold the mark, where the disk lets us: it only makes haste."""
    try:
        file = (folder / _MARK).open("wb")
    except OSError:
        yield
        return
    with file:
        until = time.monotonic() + _PATIENCE
        while not _taken(file) and time.monotonic() < until:  # who looks is in the way for a moment
            time.sleep(_LOOK / 10)
        yield


def _taken(file: BinaryIO) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
