"""A landing hook: a command of the plan, run as the user after a person said yes to this very command."""

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, NamedTuple

from packets.errors import GraceError
from sandbox import descendants
from sandbox.errand import carried
from sandbox.faults import machine

DEADLINE = 3600.0
"""Seconds for one hook."""

_KEY = "GRACE_IDEMPOTENCY_KEY"
_LAST_WORDS = 4096  # bytes of the log in which its last line is looked for


class Ended(NamedTuple):
    """How a hook ended: exit code (killed by a signal is negative), why it was stopped, the last line it printed."""

    code: int
    stopped: str
    last: str


def run_hook(
    command: str, *, main: Path, variables: Mapping[str, str], log: Path, unwanted: Callable[[], bool]
) -> Ended:
    """Run the command by `sh -c` at the root of the main worktree, with the user's environment and `variables`.

    All that it prints goes to `log`, which only its owner may read. Raises MachineLacks, GraceError.
    """
    with _private(log) as file:
        code, stopped = carried(
            ["sh", "-c", command],
            env={**os.environ, **variables},
            cwd=main,
            log=file,
            deadline=DEADLINE,
            unwanted=unwanted,
        )
    return Ended(code, stopped, last_line(log))


def _private(log: Path) -> IO[bytes]:
    try:
        log.parent.mkdir(parents=True, exist_ok=True)
        return os.fdopen(os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb")
    except OSError as fault:
        raise (machine(fault, log) or GraceError(f"cannot write {log}: {fault}")) from fault


def last_line(log: Path) -> str:
    """Return the last line of the log that says something, shortened."""
    try:
        with log.open("rb") as file:
            file.seek(max(0, log.stat().st_size - _LAST_WORDS))
            lines = file.read().decode("utf-8", "replace").splitlines()
    except OSError:
        return ""
    return next((line.strip()[:200] for line in reversed(lines) if line.strip()), "")


def still_running(key: str) -> tuple[int, ...]:
    """Return the processes that carry this idempotency key: a hook that outlived the grace that started it."""
    return tuple(descendants.marked(f"{_KEY}={key}").get(f"{_KEY}={key}", ()))
