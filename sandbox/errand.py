"""A program of the user's own, run to its end for the user: no sandbox, no terminal, a process group of its own."""

import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO, NamedTuple

from packets.errors import GraceError, MachineLacks
from sandbox.faults import machine
from sandbox.process import Child

LOOK = 0.05
"""Seconds between two looks whether it is still wanted."""


class Errand(NamedTuple):
    """How it ended: its exit code (killed by a signal is negative), both outputs joined, or why it was stopped."""

    code: int
    output: str
    stopped: str = ""

    @property
    def ok(self) -> bool:
        """Tell whether it came to a good end by itself."""
        return not self.code and not self.stopped


def run(
    argv: Sequence[str], *, env: Mapping[str, str], cwd: Path, deadline: float, unwanted: Callable[[], bool]
) -> Errand:
    """Run to the end, or until nobody wants it; the output is kept in memory. Raises as `carried` does."""
    with tempfile.TemporaryFile() as log:
        code, stopped = carried(argv, env=env, cwd=cwd, log=log, deadline=deadline, unwanted=unwanted)
        log.seek(0)
        return Errand(code, log.read().decode("utf-8", "replace"), stopped)


def carried(
    argv: Sequence[str],
    *,
    env: Mapping[str, str],
    cwd: Path,
    log: IO[bytes],
    deadline: float,
    unwanted: Callable[[], bool],
) -> tuple[int, str]:
    """Run with its output in `log`, and return its exit code and why it was stopped, if it was.

    It does not die with grace: what it began, it may end. Stopped, its whole process group is killed; after its own
    end, what it left running is left alone. `deadline` is in seconds. Raises MachineLacks, GraceError for a lost `cwd`.
    """
    child = _started(argv, env, cwd, log)
    until = time.monotonic() + deadline
    stopped = ""
    try:
        while not stopped and child.wait(LOOK) is None:
            if unwanted():
                stopped = "stopped in the middle, because the run was"
            elif time.monotonic() >= until:
                stopped = f"stopped: it did not end within {deadline:g} s"
    except BaseException:
        child.close()
        raise
    if stopped:
        child.close()
    return child.poll() or 0, stopped


def _started(argv: Sequence[str], env: Mapping[str, str], cwd: Path, log: IO[bytes]) -> Child:
    try:
        return Child(
            subprocess.Popen(
                argv,
                env=dict(env),
                cwd=cwd,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        )
    except FileNotFoundError as gone:
        if not cwd.is_dir():
            raise GraceError(f"the folder {cwd} is gone") from gone
        raise MachineLacks(f"this machine has no {argv[0]!r}", "install it") from gone
    except OSError as fault:
        raise (machine(fault) or MachineLacks(f"{argv[0]!r} cannot be started: {fault}")) from fault
