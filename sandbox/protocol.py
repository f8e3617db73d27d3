"""The Sandbox protocol: how a process of foreign code is started, waited for and removed, on any engine.

1. `start(job)` creates and starts; a job of that name that exists already is adopted, never doubled.
2. `wait(name, …)` blocks until the end, the deadline or `cancelled()`; past those it kills, and the outcome says why.
3. The output (stdout and stderr, bounded) is in `job.log` on our side when `wait` returns.
4. `remove(name)` kills what lives and removes all of it; doing it twice is fine.
5. `remaining(run_id)` names what carries the run's id; after any end it is empty.

Engine trouble raises `packets.errors.EngineLost` (went away) or `MachineLacks` (never was there).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from packets.limits import Limits
from packets.outcome import StopReason

REPO = "/repo"
GRACE = "/grace"


@dataclass(frozen=True)
class Mount:
    """A host folder or file shown inside; a later mount may lie inside an earlier one."""

    source: Path
    target: str
    writable: bool = False


@dataclass(frozen=True)
class Job:
    """One process in one fresh sandbox.

    `argv` runs without a shell at `cwd`. `mounts` are sorted by target. `env` is all of the environment besides PATH,
    HOME and LANG, which the engine sets; values may contain `/repo` and `/grace` paths only as `$GRACE_*` variables do.
    `deadline` is in seconds from the start, on the monotonic clock.
    """

    run_id: str
    name: str
    argv: tuple[str, ...]
    log: Path
    mounts: tuple[Mount, ...] = ()
    cwd: str = REPO
    env: Mapping[str, str] = field(default_factory=dict)
    labels: Mapping[str, str] = field(default_factory=dict)
    limits: Limits = field(default_factory=Limits)
    deadline: float = 3600.0
    image: str = ""


@dataclass(frozen=True)
class Ending:
    """How the process ended: facts of the engine. `exit_code` is None when it was killed by us. Seconds."""

    exit_code: int | None
    reason: StopReason
    duration: float


def never() -> bool:
    """Tell `wait` that nobody cancels."""
    return False


class Sandbox(Protocol):
    """An engine: see the module's docstring for the protocol.

    `name` is docker, bubblewrap, host or memory. `owner` is the uid that must own writable mounts, or None when the
    caller's own files are fine. `gaps` names the limits that this engine cannot enforce here.
    """

    name: str
    owner: int | None
    gaps: tuple[str, ...]

    def start(self, job: Job) -> None:
        """Start the job, or adopt the one of that name."""

    def wait(self, job: Job, cancelled: Callable[[], bool] = never) -> Ending:
        """Block until the job's end and return how it ended."""

    def remove(self, name: str) -> None:
        """Kill and remove; idempotent."""

    def remaining(self, run_id: str) -> tuple[str, ...]:
        """Name everything of the run that exists on this engine, in any status."""
