"""Folders for a moment, outside the repository: gone with their use, and swept when their maker was killed.

A maker holds a lock on its folder; the kernel lets go of it when the maker dies. One that is being made is not locked
yet, so makers and sweepers take turns by a lock on the folder that holds them all. Where a file system knows no locks,
nothing is swept.
"""

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from sandbox.effect import effect

_PREFIX = "grace-scratch-"


@contextmanager
def scratch(what: str) -> Iterator[Path]:
    """Give an empty folder for the body, and remove it with whatever was put into it."""
    folder, lock = make(what)
    try:
        yield folder
    finally:
        remove(folder, lock)


def make(what: str) -> tuple[Path, int]:
    """Return an empty folder and the lock that says that we live; hand both to `remove`.

    The lock is on the folder above it: who makes something in the folder that is given may take turns there.
    """
    with effect("scratch.make"), turn(Path(tempfile.gettempdir()), fcntl.LOCK_SH):
        held = Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{what}-"))
        lock = live(held)
    folder = held / what
    folder.mkdir()
    return folder, lock


def live(folder: Path) -> int:
    """Return the lock on a folder that says, until it is closed or we die, that its maker lives."""
    lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    with suppress(OSError):
        fcntl.flock(lock, fcntl.LOCK_EX)
    return lock


def remove(folder: Path, lock: int) -> None:
    """Remove the folder and let go of it."""
    try:
        _remove(folder.parent)
    finally:
        os.close(lock)


def sweep() -> tuple[Path, ...]:
    """Remove the folders of ours whose makers are gone, and return them; one that cannot be removed stays."""
    with suppress(OSError), turn(Path(tempfile.gettempdir()), fcntl.LOCK_EX):
        left = tuple(folder for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*") if is_left(folder))
        for folder in left:
            with suppress(OSError):
                _remove(folder)
        return left
    return ()


def is_left(folder: Path) -> bool:
    """Say whether the folder is ours and nobody holds it."""
    try:
        lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:
        return False
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return os.fstat(lock).st_uid == os.getuid()
    except OSError:
        return False
    finally:
        os.close(lock)


def _remove(folder: Path) -> None:
    try:
        shutil.rmtree(folder)
    except OSError:  # a job took permissions away, or went very deep
        from sandbox.checkout import discard

        discard(folder)


@contextmanager
def turn(above: Path, kind: int) -> Iterator[None]:
    """Let makers (LOCK_SH) and sweepers (LOCK_EX) of folders in `above` take turns."""
    here = os.open(above, os.O_RDONLY | os.O_DIRECTORY)
    try:
        with suppress(OSError):
            fcntl.flock(here, kind)
        yield
    finally:
        os.close(here)
