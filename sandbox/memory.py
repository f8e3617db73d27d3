"""The in-memory engine: starts no foreign process. It ships, for rehearsals and for tests.

    def fix(mounts: Mapping[str, Path], job: Job) -> int:
        (mounts["/repo"] / "app.py").write_text("…")
        return 0

    MemorySandbox({"fix": fix, "pytest -q": lambda mounts, job: 0})

A script is found by the whole command line, by the text after `sh -c`, or by the program's name. Known without one:
`true`, `false`, `sh -c true`, `git apply … FILE` (which goes through our own git, on the workspace's copy). Everything
else ends with 127, as a shell would say it.
"""

import os
import shlex
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType

from packets.outcome import StopReason
from sandbox.effect import effect
from sandbox.host import translate
from sandbox.output import BoundedLog
from sandbox.protocol import REPO, Ending, Job, Sandbox, never

Script = Callable[[Mapping[str, Path], Job], int]

_MISSING = 127
_FAILED = 1
_NOTHING: Mapping[str, Script] = MappingProxyType({})


class MemorySandbox(Sandbox):
    """Scripts in place of programs. They run inside `wait`; a deadline is noticed only after one returns."""

    name = "memory"
    owner: int | None = None
    gaps: tuple[str, ...] = ()

    def __init__(self, scripts: Mapping[str, Script] = _NOTHING) -> None:
        self._scripts = dict(scripts)
        self._jobs: dict[str, Job] = {}
        self._endings: dict[str, Ending] = {}

    def start(self, job: Job) -> None:
        """Note the job."""
        with effect("job.start"):
            self._jobs.setdefault(job.name, job)

    def wait(self, job: Job, cancelled: Callable[[], bool] = never) -> Ending:
        """Run the job's script, once."""
        if job.name not in self._endings:
            self.start(job)
            self._endings[job.name] = Ending(None, StopReason.CANCELLED, 0.0) if cancelled() else self._run(job)
        return self._endings[job.name]

    def remove(self, name: str) -> None:
        """Forget the job."""
        with effect("job.remove"):
            self._jobs.pop(name, None)
            self._endings.pop(name, None)

    def remaining(self, run_id: str) -> tuple[str, ...]:
        """Name the run's jobs that were not removed."""
        return tuple(sorted(name for name, job in self._jobs.items() if job.run_id == run_id))

    def _run(self, job: Job) -> Ending:
        began = time.monotonic()
        mounts = {mount.target: mount.source for mount in job.mounts}
        script = self._script(job)
        if script:
            code, said = script(mounts, job), ""
        else:
            code, said = _builtin(job)
        if said or not job.log.exists():
            with BoundedLog(job.log) as log:
                log.write(said.encode())
        duration = time.monotonic() - began
        if duration > job.deadline:
            return Ending(None, StopReason.DEADLINE, duration)
        return Ending(code, StopReason.EXITED, duration)

    def _script(self, job: Job) -> Script | None:
        names = [shlex.join(job.argv), " ".join(job.argv), job.argv[0]]
        if job.argv[:2] == ("sh", "-c"):
            names.insert(0, job.argv[2])
        return next((self._scripts[name] for name in names if name in self._scripts), None)


def _builtin(job: Job) -> tuple[int, str]:
    argv = job.argv[2:] if job.argv[:2] == ("sh", "-c") else job.argv
    if argv in {("true",), (":",)}:
        return 0, ""
    if argv == ("false",):
        return _FAILED, ""
    if argv[:2] == ("git", "apply"):
        return _git_apply(job)
    return _MISSING, f"grace: the memory engine has no script for {shlex.join(job.argv)[:200]!r}\n"


def _git_apply(job: Job) -> tuple[int, str]:
    """Apply a patch to the copy at /repo as if it were no repository: the worker's git configuration takes no part."""
    from sandbox.git import process

    folder = Path(translate(job.cwd, job.mounts))
    if job.cwd == translate(job.cwd, job.mounts):
        return _FAILED, f"grace: nothing is mounted at {REPO}\n"
    words = [translate(word, job.mounts) for word in job.argv[1:]]
    done = process.start(tuple(words), folder, {**process.scrubbed(), "GIT_DIR": os.devnull})
    return done.code, (done.out + done.err).decode(errors="replace")
