"""The bubblewrap engine: the same walls as docker's without a daemon, for root and for ordinary users.

Namespaces of every kind, no capability, the image's root filesystem read-only. It brings no limits of its own: control
groups where they can be written, else rlimits and a watchdog; what stays open is in `gaps` and in docs/security.md.
A job is a child of ours and dies with us, so nothing is adopted after a crash: it runs anew.
"""

import contextlib
import os
import resource
import time
import weakref
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from packets.errors import EngineLost, MachineLacks
from packets.outcome import StopReason
from sandbox import bubblewrap_argv, bubblewrap_probe, descendants, image_store, process, watch
from sandbox.bubblewrap_status import Status
from sandbox.cgroup import Cgroups, Group
from sandbox.effect import effect
from sandbox.output import BoundedLog
from sandbox.protocol import Ending, Job, Sandbox, never

_TITLE = "grace-sandbox"
_FILES = 16384
_SIGKILL = 9
_EXEC_FAILED = b"bwrap: execvp "
_NOT_FOUND = 127
_END = 30.0


@dataclass
class _Running:
    child: process.Child
    status: Status
    log: BoundedLog
    pump: process.Pump
    began: float
    disk_before: int
    first: descendants.Process | None = None
    held: IO[bytes] | None = None
    group: Group | None = None
    ending: Ending | None = None

    @property
    def inner(self) -> int:
        """Process 1 of the sandbox, by its number outside; 0 when there never was one."""
        return self.status.inner


class BubblewrapSandbox(Sandbox):
    """One `bwrap` a job. Safe to share between threads; `close` ends its launching thread and with it every job."""

    name = "bubblewrap"

    def __init__(self, binary: Path, *, disable_userns: bool, cgroups: Cgroups, version: str) -> None:
        self.binary = binary
        self.version = version
        self.disable_userns = disable_userns
        self.owner: int | None = None
        self._cgroups = cgroups
        self._launcher = process.Launcher()
        self._jobs: dict[str, _Running] = {}
        self._closing = weakref.finalize(self, self._launcher.close)
        self.gaps = tuple(self._gaps())

    @classmethod
    def connect(cls) -> "BubblewrapSandbox":
        """Find a bubblewrap that really works here; raises MachineLacks with its own words."""
        found = bubblewrap_probe.find()
        cgroups = bubblewrap_probe.working_cgroups()
        return cls(found.binary, disable_userns=found.disable_userns, cgroups=cgroups, version=found.version)

    def close(self) -> None:
        """Kill every job and end the launching thread."""
        for name in list(self._jobs):
            self.remove(name)
        self._closing()

    def start(self, job: Job) -> None:
        """Start the job; one of that name that this process started is kept, what a dead one left is cleared away."""
        if job.name in self._jobs:
            return
        if not (Path(job.image) / "usr").is_dir():
            raise MachineLacks(f"there is no root filesystem at {job.image!r}", "run `grace sandbox build`")
        flags = [*bubblewrap_argv.walls(disable_userns=self.disable_userns), *bubblewrap_argv.inside(job)]
        before = watch.usage(job.mounts)
        with effect("job.start"):
            self._jobs[job.name] = self._launch(job, flags, before)

    def wait(self, job: Job, cancelled: Callable[[], bool] = never) -> Ending:
        """Block until the end; kill the whole process namespace when the deadline, a limit or `cancelled` says so."""
        running = self._jobs.get(job.name)
        if running is None:
            raise EngineLost(
                f"the sandbox of {job.name} is gone", "it died with the process that started it; start anew"
            )
        if running.ending:
            return running.ending
        looks = watch.Watch(
            job,
            began=running.began,
            disk_before=running.disk_before,
            cancelled=cancelled,
            pids_hits=running.group.pids_hits if running.group else lambda: None,
            engine_limit=watch.Resident(running.inner, job.limits) if self._watches_memory else lambda: None,
        )
        reason = None
        while running.child.wait(watch.TICK) is None and not reason:
            reason = looks.tripped()
        duration = time.monotonic() - running.began
        running.ending = _end(job, running, looks, reason, duration)
        return running.ending

    def remove(self, name: str) -> None:
        """Kill what lives of the job, also of a dead controller's, and remove its control group."""
        with effect("job.remove"):
            self._remove(name)

    def _remove(self, name: str) -> None:
        running = self._jobs.pop(name, None)
        if running:
            _fence(running, name)
            _finish(running)
            return
        titles = descendants.titled(f"{_TITLE}:").items()
        pids = [pid for title, found in titles if title.rsplit(":", 1)[-1] == name for pid in found]
        processes = [process for pid in pids if (process := descendants.Process.of(pid))]
        for one in processes:
            with contextlib.suppress(ProcessLookupError):
                os.kill(one.pid, _SIGKILL)
        if not descendants.dead(processes, _END):
            raise _undead(name)
        self._cgroups.discard(name)

    def remaining(self, run_id: str) -> tuple[str, ...]:
        """Name what lives of the run, and control groups that were left."""
        titles = descendants.titled(f"{_TITLE}:{run_id}:")
        return tuple(sorted({title.rsplit(":", 1)[-1] for title in titles} | set(self._cgroups.names(run_id))))

    @property
    def _watches_memory(self) -> bool:
        return "memory" not in self._cgroups.controllers

    def _launch(self, job: Job, flags: list[str], before: int) -> _Running:
        held = image_store.hold(Path(job.image))
        arguments = os.memfd_create("arguments")
        status = Status()
        gate_inside, gate = os.pipe()
        passed = (arguments, status.inside, gate_inside)
        try:
            # By descriptor: a command line shows host paths and tokens to everybody, inside too.
            os.write(arguments, b"".join(os.fsencode(flag) + b"\0" for flag in flags))
            os.lseek(arguments, 0, os.SEEK_SET)
            title = f"{_TITLE}:{job.run_id}:{job.name}"
            argv = [
                title,
                "--args",
                str(arguments),
                "--json-status-fd",
                str(status.inside),
                "--block-fd",
                str(gate_inside),
            ]
            child = self._launcher.start([*argv, "--", *job.argv], executable=str(self.binary), env={}, pass_fds=passed)
            status.begin()
        except OSError as error:
            os.close(gate)
            status.abandon()
            if held:
                held.close()
            raise EngineLost(f"bubblewrap could not be started: {error}") from error
        finally:
            os.close(arguments)
            os.close(gate_inside)
        log = BoundedLog(job.log)
        first = descendants.Process.of(status.inner) if status.inner else None
        running = _Running(child, status, log, process.Pump(child, log.write), time.monotonic(), before, first, held)
        try:
            self._set_off(job, running, gate)
        finally:
            os.close(gate)
        return running

    def _set_off(self, job: Job, running: _Running, gate: int) -> None:
        """Put the blocked process under its limits, then let it go; it may have failed already: `wait` says why."""
        try:
            with contextlib.suppress(ProcessLookupError, BrokenPipeError):
                if running.inner:
                    self._limit(job, running)
                    running.began = time.monotonic()
                    os.write(gate, b"1")
        except OSError as error:
            _fence(running, job.name)
            _finish(running)
            raise EngineLost(f"the limits of {job.name} could not be set: {error}") from error

    def _limit(self, job: Job, running: _Running) -> None:
        limits, pid = job.limits, running.inner
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (limits.disk, limits.disk))
        resource.prlimit(pid, resource.RLIMIT_CORE, (0, 0))
        _, hard = resource.prlimit(pid, resource.RLIMIT_NOFILE)
        files = min(_FILES, hard) if hard != resource.RLIM_INFINITY else _FILES
        resource.prlimit(pid, resource.RLIMIT_NOFILE, (files, files))
        if "pids" not in self._cgroups.controllers and bubblewrap_probe.counts_per_namespace():
            resource.prlimit(pid, resource.RLIMIT_NPROC, (limits.pids, limits.pids))
        if self._cgroups.controllers:
            running.group = self._cgroups.make(job.run_id, job.name, limits)
            running.group.add(pid)

    def _gaps(self) -> Iterator[str]:
        yield "disk (watched twice a second, not a quota)"
        if "memory" not in self._cgroups.controllers:
            yield "memory (watched five times a second, not a quota)"
        if "cpu" not in self._cgroups.controllers:
            yield "cpus"
        if "pids" not in self._cgroups.controllers and not bubblewrap_probe.counts_per_namespace():
            yield "pids"
        if not self.disable_userns:
            yield "nested user namespaces"


def _end(job: Job, running: _Running, looks: watch.Watch, reason: StopReason | None, duration: float) -> Ending:
    _fence(running, job.name)
    if reason:
        _finish(running)
        return Ending(None, reason, duration)
    starved = bool(running.group and running.group.oom_kills())
    limit = looks.ended_by(running.child.wait(0) or 0)
    status = running.status
    _finish(running)
    exit_code = _exit_code(status, job)
    return Ending(exit_code, StopReason.MEMORY if exit_code and starved else limit, duration)


def _fence(running: _Running, name: str) -> None:
    """Return when no process of the sandbox lives. Raises EngineLost when that cannot be brought about.

    bubblewrap tells the end of the job's first process, while others may still write. Process 1 of the namespace, once
    killed, takes all of them with it, and it is not dead before the last of them is.
    """
    first = running.first
    if first and first.lives:
        with contextlib.suppress(ProcessLookupError):
            os.kill(first.pid, _SIGKILL)
    if first and not descendants.dead([first], _END):
        raise _undead(name)
    running.child.wait(_END)


def _undead(name: str) -> EngineLost:
    return EngineLost(f"a process of {name} cannot be killed", "look for a device or a network disk that hangs")


def _finish(running: _Running) -> None:
    running.child.kill()
    running.pump.wait(_END)
    running.child.close()
    running.log.close()
    running.status.close()
    if running.held:
        running.held.close()
    if running.group:
        running.group.close()


def _exit_code(status: Status, job: Job) -> int:
    """Return the job's own exit code; bubblewrap's failure before it is ours, not the worker's."""
    if status.exit_code is not None:
        return status.exit_code
    with job.log.open("rb") as log:
        said = log.read(4096)
    if said.startswith(_EXEC_FAILED):
        return _NOT_FOUND
    why = said.decode(errors="replace").strip()[:300]
    raise EngineLost(f"bubblewrap could not make the sandbox of {job.name}: {why or 'it was killed'}")
