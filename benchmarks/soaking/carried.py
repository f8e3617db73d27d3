"""The command as a process on one engine: started, killed, listened to; and what it must not have left there."""

import contextlib
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
import uuid
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from soaking import audit, job
from soaking.daemon import Daemon

from controller.lock import CARRIER, SUPERVISOR, lease

GRACE = Path(sys.executable).with_name("grace")
DRIVER = Path(__file__).with_name("driver.py")
_WORDS = 300  # characters
_MOMENT = 3.0  # seconds
_NOBODY = 4  # what `grace run` says where it sees that a controller is gone


class Carried:
    """One run at a time. `engines`: how often the engine is struck, beside 5 for the controller."""

    name = ""
    engines = 0.0
    command: Sequence[str] = ()
    flags: Sequence[str] = ()

    def __init__(self, scratch: Path) -> None:
        self.scratch = scratch
        self.process: subprocess.Popen[bytes] | None = None
        self.notes: list[str] = []

    def begin(self, seed: int, listed: Sequence[job.Module]) -> None:
        """Make the user's repository for the next run."""
        self.folder = self.scratch / f"{self.name}-{seed}"
        self.repo = self.folder / "repo"
        self.words = self.folder / "words"
        self.mark = f"SOAK_MARK={uuid.uuid4().hex}"
        self.notes = []
        job.repository(self.repo, list(listed))

    def environment(self) -> dict[str, str]:
        """Return the environment of the command; the mark shows which processes are its."""
        name, _, value = self.mark.partition("=")
        return job.environment(**{name: value})

    def start(self, *, resume: bool) -> None:
        """Start the command: `run` finds the run that this plan has already, `resume` takes it up."""
        resume = resume and self.events() > 0
        args = ["resume"] if resume else ["run", "plan.yaml", "--yes", "--max-workers", "4", *self.flags]
        with self.words.open("ab") as out:
            out.write(f"--- {' '.join(args)}\n".encode())
            out.flush()
            self.process = subprocess.Popen(
                [*self.command, *args], cwd=self.repo, env=self.environment(), stdin=subprocess.DEVNULL,
                stdout=out, stderr=out, start_new_session=True,
            )  # fmt: skip

    def kill(self, *, group: bool) -> bool:
        """Kill -9 the controller; with `group` everything that it started in its process group, at the same moment.

        Returns whether somebody has to start it again.
        """
        if self.process is not None:
            if self.process.poll() is None:
                (os.killpg if group else os.kill)(self.process.pid, signal.SIGKILL)
            self.process.wait()
        return True

    def ended(self, seconds: float) -> int | None:
        """Return the exit code, or None while it runs."""
        assert self.process is not None
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            return None

    def events(self) -> int:
        """Return how far the run's journal is; 0 before there is one."""
        path = self.repo / ".git" / "grace" / "state.db"
        try:
            with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=5)) as db:
                return int(db.execute("SELECT coalesce(max(seq), 0) FROM events").fetchone()[0])
        except sqlite3.Error:
            return 0

    def last_words(self) -> str:
        """Return the end of what the command said."""
        return " | ".join(self.words.read_text(errors="replace").strip().splitlines()[-3:])[-_WORDS:]

    def strike_container(self, dice: random.Random) -> bool:
        """Kill a worker or a check from outside; False when there was none."""
        raise NotImplementedError

    def strike_engine(self, dice: random.Random) -> bool:
        """Kill the engine."""
        raise NotImplementedError

    def left_over(self) -> list[str]:
        """Return what lies on the engine, and who ran twice."""
        faults = audit.processes(self.mark)
        said = self.words.read_text(errors="replace")
        return faults + (["lost: a traceback was shown"] if "Traceback" in said else [])


class Memory(Carried):
    """The in-memory engine: scripts inside the controller's own process."""

    name = "memory"
    command = (sys.executable, "-P", str(DRIVER))
    flags = ("--sandbox", "memory")

    def environment(self) -> dict[str, str]:
        """Add where the scripts look for a strike, and where they say what they do."""
        return {**super().environment(), "SOAK_LOG": str(self.log), "SOAK_STRIKE": str(self.folder / "strike")}

    @property
    def log(self) -> Path:
        """What the scripts did."""
        return self.folder / "log"

    def strike_container(self, dice: random.Random) -> bool:
        """Have one script lost."""
        del dice
        (self.folder / "strike").touch()
        return True

    def left_over(self) -> list[str]:
        """Add what the scripts said."""
        again = [line.split() for line in self.log.read_text().splitlines() if line.startswith("again ")]
        return super().left_over() + [f"doubled: {w[1]} attempt {w[2]} was worked again after its end" for w in again]


class Docker(Carried):
    """Containers on the bench's own engine."""

    name = "docker"
    engines = 1.0
    command = (str(GRACE),)

    def __init__(self, scratch: Path, daemon: Daemon) -> None:
        super().__init__(scratch)
        self.daemon = daemon
        self.struck: set[str] = set()

    def environment(self) -> dict[str, str]:
        """Add which engine."""
        return {**super().environment(), "GRACE_DOCKER_HOST": self.daemon.host}

    def strike_container(self, dice: random.Random) -> bool:
        """Kill or remove one that runs; wait a moment for one."""
        until = time.monotonic() + _MOMENT
        while not (names := sorted(self.daemon.docker("ps", "--filter", "label=grace.run", "--format", "{{.Names}}"))):
            if time.monotonic() > until:
                return False
        name = dice.choice(names)
        self.daemon.docker(*dice.choice((("kill",), ("rm", "-f"))), name)
        self.struck.add(name)
        return True

    def strike_engine(self, dice: random.Random) -> bool:
        """Kill -9 the engine; it comes back soon."""
        return self.daemon.kill(dice.uniform(0, 4))

    def left_over(self) -> list[str]:
        """Add what lies on the engine, and what the engine itself says of containers that ran."""
        there = [f"left over: {kind} {name}" for kind, names in self.daemon.there().items() for name in names]
        return super().left_over() + there + audit.ran_twice(self.daemon.events.workers(self._runs()), self._spared())

    def _spared(self) -> set[tuple[str, int]]:
        """Return the attempts of which the bench itself destroyed a worker."""
        about = [event["Actor"]["Attributes"] for event in self.daemon.events.told()]
        hit = [a for a in about if a.get("name") in self.struck and a.get("grace.kind") == "work"]
        return {(a["grace.module"], int(a["grace.attempt"])) for a in hit}

    def _runs(self) -> set[str]:
        return {path.name for path in (self.repo / ".git" / "grace" / "runs").iterdir()}


class Detached(Docker):
    """The same in the background: a supervisor starts a controller that died again; nobody else does."""

    folder_of_run: Path | None = None

    def begin(self, seed: int, listed: Sequence[job.Module]) -> None:
        """Note that nobody is there yet."""
        super().begin(seed, listed)
        self.folder_of_run = None

    def start(self, *, resume: bool) -> None:
        """Have the run carried in the background."""
        args = ["resume"] if resume and self.events() else ["run", "plan.yaml", "--yes", "--max-workers", "4"]
        with self.words.open("ab") as out:
            done = subprocess.run(
                [*self.command, *args, "--detach"], cwd=self.repo, env=self.environment(), stdin=subprocess.DEVNULL,
                stdout=out, stderr=out, timeout=120, check=False,
            )  # fmt: skip
        if done.returncode:
            self.notes.append(f"--detach ended with exit {done.returncode}: {self.last_words()}")
        self.folder_of_run = next((self.repo / ".git" / "grace" / "runs").iterdir())

    def kill(self, *, group: bool) -> bool:
        """Kill -9 the controller, with `group` its supervisor too: then alone somebody has to start them again."""
        for name in (SUPERVISOR, CARRIER) if group else (CARRIER,):
            holder = lease(self.folder_of_run, name) if self.folder_of_run else None
            if holder and holder.pid:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(holder.pid, signal.SIGKILL)
        return group

    def ended(self, seconds: float) -> int | None:
        """Return the run's exit code once it stands still and nobody is there who would go on with it."""
        time.sleep(seconds)
        assert self.folder_of_run is not None
        if any(lease(self.folder_of_run, name) for name in (SUPERVISOR, CARRIER)):
            return None
        with closing(sqlite3.connect(self.repo / ".git" / "grace" / "state.db", timeout=30)) as db:
            state, code = db.execute("SELECT state, exit FROM runs").fetchone()
        return _NOBODY if state == "running" else int(code)
