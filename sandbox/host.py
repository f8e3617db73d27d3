"""The host engine: no isolation at all, only when a plan says `sandbox: host` in so many words.

The job runs as the caller, in the workspace's own copy of the tree. There is no /repo and no /grace: words of `argv`,
values of `env` and `cwd` that start with the target of a mount become the path of its source. Its environment is fresh
(rule 10), which keeps secrets out of variables, not out of reach: it can read all that its user can.
"""

import contextlib
import os
import signal
import sys
import time
import weakref
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from packets.errors import EngineLost
from sandbox import descendants, host_child, process, scratch, watch
from sandbox.effect import effect
from sandbox.output import BoundedLog
from sandbox.protocol import Ending, Job, Mount, Sandbox, never

_MARK = "GRACE_SANDBOX"
_END = 30.0
_PATIENCE = 1.0


@dataclass
class _Running:
    child: process.Child
    control: int | None
    log: BoundedLog
    pump: process.Pump
    home: Path
    lock: int
    began: float
    disk_before: int
    ending: Ending | None = None


class HostSandbox(Sandbox):
    """Plain child processes, each below one of ours (`host_child.py`) that answers for the end of all it started.

    Only a job that kills that process, which its user can, and drops the environment too, leaves something alive.
    """

    name = "host"
    owner: int | None = None
    gaps: tuple[str, ...] = (
        "files (everything its user can read and write)",
        "network",
        "write scope (only the diff is checked)",
        "memory (watched)",
        "cpus",
        "pids (watched)",
        "disk (watched)",
    )

    def __init__(self) -> None:
        self._launcher = process.Launcher()
        self._jobs: dict[str, _Running] = {}
        self._closing = weakref.finalize(self, self._launcher.close)

    def close(self) -> None:
        """Kill every job and end the launching thread."""
        for name in list(self._jobs):
            self.remove(name)
        self._closing()

    def start(self, job: Job) -> None:
        """Start the job; one of that name that this process started is kept."""
        if job.name in self._jobs:
            return
        before = watch.usage(job.mounts)
        home, lock = scratch.make("home")
        argv = [translate(word, job.mounts) for word in job.argv]
        inside, control = os.pipe()
        try:
            with effect("job.start"):
                child = self._launcher.start(
                    [sys.executable, "-I", "-S", host_child.__file__, str(job.limits.disk), str(inside), *argv],
                    env=_environment(job, home),
                    cwd=translate(job.cwd, job.mounts),
                    pass_fds=(inside,),
                )
        except OSError as error:
            os.close(control)
            scratch.remove(home, lock)
            raise EngineLost(f"{job.name} could not be started: {error}") from error
        finally:
            os.close(inside)
        log = BoundedLog(job.log)
        pump = process.Pump(child, log.write)
        self._jobs[job.name] = _Running(child, control, log, pump, home, lock, time.monotonic(), before)

    def wait(self, job: Job, cancelled: Callable[[], bool] = never) -> Ending:
        """Block until the end; kill when the deadline, a watched limit or `cancelled` says so."""
        running = self._jobs.get(job.name)
        if running is None:
            raise EngineLost(
                f"the process of {job.name} is gone", "it died with the process that started it; start anew"
            )
        if running.ending:
            return running.ending
        looks = watch.Watch(
            job,
            began=running.began,
            disk_before=running.disk_before,
            cancelled=cancelled,
            engine_limit=watch.Resident(running.child.pid, job.limits),
        )
        reason = None
        while running.child.wait(watch.TICK) is None and not reason:
            reason = looks.tripped()
        duration = time.monotonic() - running.began
        code = running.child.poll() or 0
        _finish(running, job.name)
        if reason:
            running.ending = Ending(None, reason, duration)
        else:
            exit_code = _exit_code(code)
            running.ending = Ending(exit_code, looks.ended_by(exit_code), duration)
        return running.ending

    def remove(self, name: str) -> None:
        """Kill what lives of the job, also of a dead controller's."""
        with effect("job.remove"):
            running = self._jobs.pop(name, None)
            if running:
                if running.ending is None:
                    _finish(running, name)
                scratch.remove(running.home, running.lock)
            else:
                _kill_marked(name, signal.SIGTERM)

    def remaining(self, run_id: str) -> tuple[str, ...]:
        """Name the jobs of the run that have a process."""
        marks = descendants.marked(f"{_MARK}={run_id}:")
        return tuple(sorted({mark.rsplit(":", 1)[-1] for mark in marks}))


def translate(text: str, mounts: tuple[Mount, ...]) -> str:
    """Return the host's path for a word that starts with a mount's target; the innermost mount counts."""
    for mount in sorted(mounts, key=lambda one: len(one.target), reverse=True):
        if text == mount.target or text.startswith(f"{mount.target}/"):
            return f"{mount.source}{text[len(mount.target) :]}"
    return text


def _environment(job: Job, home: Path) -> Mapping[str, str]:
    own = {name: translate(value, job.mounts) for name, value in job.env.items()}
    path = os.environ.get("PATH", os.defpath)
    fixed = {"HOME": str(home), "TMPDIR": str(home), "LANG": "C.UTF-8", _MARK: f"{job.run_id}:{job.name}"}
    return {"PATH": path, **own, **fixed}


def _finish(running: _Running, name: str) -> None:
    """Return when nothing that the job started lives, so that none can write any more. Raises EngineLost."""
    if running.control is not None:
        os.close(running.control)
        running.control = None
    ended = running.child.wait(_END)
    running.child.kill()
    try:
        _kill_marked(name, signal.SIGKILL)
    finally:
        running.pump.wait(_END)
        running.child.close()
        running.log.close()
    if ended is None:
        raise _undead(name)


def _kill_marked(name: str, first: signal.Signals) -> None:
    """End what carries the job's mark: with `first`, which lets our own process end the others, then by force."""
    late, over = time.monotonic() + _END, time.monotonic() + 2 * _END
    while found := _marked(name):
        if time.monotonic() > over:
            raise _undead(name)
        for one in found:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(one.pid, first if time.monotonic() < late else signal.SIGKILL)
        descendants.dead(found, _PATIENCE)


def _marked(name: str) -> list[descendants.Process]:
    marks = descendants.marked(f"{_MARK}=").items()
    pids = [pid for mark, found in marks if mark.rsplit(":", 1)[-1] == name for pid in found]
    return [process for pid in pids if (process := descendants.Process.of(pid))]


def _undead(name: str) -> EngineLost:
    return EngineLost(f"a process of {name} cannot be killed", "look for a device or a network disk that hangs")


def _exit_code(code: int) -> int:
    """Return what a shell would: 128 + signal for one that was killed."""
    return code if code >= 0 else 128 - code
