"""One controller a run: a lock on a file that the kernel releases when its holder dies."""

import fcntl
import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from packets.errors import UsageError

_PATIENCE = 2.0  # seconds; who only looks whether the run is held blocks it for a moment


class Held(UsageError):  # noqa: N818 - reads as what it says
    """Another process carries this run."""


@contextmanager
def held(folder: Path, run_id: str) -> Iterator[None]:
    """Hold the run; raises Held, which says who holds it."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("a+", encoding="utf-8") as file:
        _take(file, folder, run_id)
        file.seek(0)
        file.truncate()
        file.write(json.dumps({"pid": os.getpid(), "host": os.uname().nodename}))
        file.flush()
        yield
        file.seek(0)
        file.truncate()


def _take(file: TextIO, folder: Path, run_id: str) -> None:
    patience = time.monotonic() + _PATIENCE
    while True:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as fault:
            who = holder(folder)
            if who is None and time.monotonic() < patience:
                time.sleep(0.01)
                continue
            hint = f"watch it: grace events {run_id} --follow"
            raise Held(f"run {run_id} is held by {who or 'another process'}", hint) from fault
        return


def holder(folder: Path) -> str | None:
    """Say which live process holds the run, or None."""
    try:
        with (folder / "lock").open("r", encoding="utf-8") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except OSError:
                text = file.read()
                said = json.loads(text) if text else {}
                return f"process {said.get('pid', '?')} on {said.get('host', '?')}"
            return None
    except (OSError, ValueError):
        return None
